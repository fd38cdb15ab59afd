"""Play an open bag: one PointCloud2 topic, /tf, /tf_static and, on request, /clock.

Each message is published with the bytes that were recorded.
"""

import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from prnet_core.io.bags import TRANSFORMS, Bag, BagMessage

TF, TF_STATIC = "/tf", "/tf_static"
CLOCK_PERIOD = 0.01
ACKNOWLEDGE_TIMEOUT = 5.0
SETTLE_TIME = 0.5
"""Seconds between the match on this side and the first cloud: a best-effort subscriber has to match on its side too."""
NODE = "prnet"
"""Name of the node that the replay waits for by default."""


class NoSubscriberError(RuntimeError):
    """The expected node or number of nodes did not subscribe to the clouds in time."""


@dataclass(frozen=True)
class ReplayOptions:
    """Options of the replay.

    topic: PointCloud2 topic of the bag; None: the only one.
    to: name to publish it under; None: as recorded.
    rate: 2.0 plays twice as fast.
    loop: start again at the end, until stopped.
    clock: publish /clock, for nodes with use_sim_time.
    wait: seconds to wait for the subscriber `wait_for`; 0: do not wait.
    wait_for: the node that has to subscribe to the clouds before the first one is published: its full name
    ("/robot1/prnet"), its name in any namespace ("prnet"), or a number of subscribers ("2"). Another subscriber, such
    as RViz, does not start the replay.
    first: number of the cloud to start with, from 0; what was recorded before it is not published, except /tf_static.
    """

    topic: str | None = None
    to: str | None = None
    rate: float = 1.0
    loop: bool = False
    clock: bool = False
    wait: float = 30.0
    wait_for: str = NODE
    first: int = 0


class Replay:
    """Plays an open bag through the publishers of a node."""

    def __init__(self, node: Node, bag: Bag, options: ReplayOptions, hold: Callable[[int], None] | None = None) -> None:
        """Create the publishers.

        hold: called before each cloud with the number of clouds published so far; the cloud is published when it
        returns, and everything after it is later by the time that this took. Raises BagError, which lists the
        PointCloud2 topics of the bag, when it has no such topic.
        """
        self._node = node
        self._bag = bag
        self._options = options
        self._hold = hold
        self._start = 0.0
        self._num_clouds = 0
        self._cloud_topic = bag.point_cloud_topic(options.topic)
        # All of them are published before the first cloud, whenever they were recorded.
        self._statics = list(bag.raw_messages([TF_STATIC])) if self._is_transforms(TF_STATIC) else []
        self._publishers = {self._cloud_topic: self._publisher(self._cloud_topic, depth=10)}
        if self._is_transforms(TF):
            self._publishers[TF] = self._publisher(TF, depth=100)
        if self._statics:
            self._static_publisher = self._publisher(TF_STATIC, depth=len(self._statics), keep_for_late=True)
        self._clock = node.create_publisher(Clock, "/clock", 10) if options.clock else None

    @property
    def cloud_publisher(self) -> Publisher:
        return self._publishers[self._cloud_topic]

    def run(self) -> int:
        """Wait for the subscriber, play, wait until everything has arrived; the number of clouds published.

        Raises NoSubscriberError when there was none within `wait` seconds.
        """
        for message in self._statics:
            self._static_publisher.publish(message.cdr)
        self._wait_for_subscriber()
        self._play()
        while self._options.loop and self._num_clouds:
            self._play()
        for publisher in self._publishers.values():
            publisher.wait_for_all_acked(Duration(seconds=ACKNOWLEDGE_TIMEOUT))
        return self._num_clouds

    def _play(self) -> None:
        for message in self._paced(self._messages()):
            if message.topic == self._cloud_topic:
                self._wait_for_hold()
                self._num_clouds += 1
            self._publishers[message.topic].publish(message.cdr)

    def _messages(self) -> Iterator[BagMessage]:
        """The messages, starting with the first cloud to be played."""
        left = self._options.first
        for message in self._bag.raw_messages(list(self._publishers)):
            if left == 0:
                yield message
            elif message.topic == self._cloud_topic:
                left -= 1

    def _wait_for_hold(self) -> None:
        if self._hold:
            began = time.monotonic()
            self._hold(self._num_clouds)
            self._start += time.monotonic() - began

    def _paced(self, messages: Iterator[BagMessage]) -> Iterator[BagMessage]:
        """Yield each message at its time, on the steady clock."""
        self._start = time.monotonic()
        bag_start_ns = None
        for message in messages:
            if bag_start_ns is None:
                bag_start_ns = message.log_time_ns
            since_start = (message.log_time_ns - bag_start_ns) * 1e-9
            while (left := self._start + since_start / self._options.rate - time.monotonic()) > 0.0:
                self._publish_clock(message.log_time_ns - left * self._options.rate * 1e9)
                time.sleep(min(left, CLOCK_PERIOD) if self._clock else left)
            self._publish_clock(message.log_time_ns)
            yield message

    def _publish_clock(self, time_ns: float) -> None:
        if self._clock:
            sec, nanosec = divmod(int(time_ns), 10**9)
            self._clock.publish(Clock(clock=Time(sec=sec, nanosec=nanosec)))

    def _wait_for_subscriber(self) -> None:
        options, topic = self._options, self.cloud_publisher.topic_name
        deadline = time.monotonic() + options.wait
        while options.wait > 0.0 and not self._is_subscribed():
            if time.monotonic() > deadline:
                is_number = options.wait_for.isdigit()
                awaited = f"{options.wait_for} subscribers" if is_number else f"node {options.wait_for}"
                present = ", ".join(self._subscribers()) or "none"
                raise NoSubscriberError(
                    f"waited {options.wait:g} s on {topic} for {awaited}, subscribed: {present} "
                    "(--wait-for names another node or a number of subscribers, --wait 0 plays without one)"
                )
            time.sleep(0.02)
        time.sleep(SETTLE_TIME)

    def _is_subscribed(self) -> bool:
        wait_for, num_matched = self._options.wait_for, self.cloud_publisher.get_subscription_count()
        if wait_for.isdigit():
            return num_matched >= int(wait_for)
        names = self._subscribers()
        is_found = wait_for in names if "/" in wait_for else wait_for in [name.rsplit("/", 1)[1] for name in names]
        return num_matched > 0 and is_found

    def _subscribers(self) -> list[str]:
        """Full names of the nodes that subscribe to the clouds."""
        endpoints = self._node.get_subscriptions_info_by_topic(self.cloud_publisher.topic_name)
        return sorted(f"{end.node_namespace.rstrip('/')}/{end.node_name}" for end in endpoints)

    def _is_transforms(self, topic: str) -> bool:
        return topic in self._bag.topics and self._bag.topics[topic].msgtype == TRANSFORMS

    def _publisher(self, topic: str, depth: int, keep_for_late: bool = False) -> Publisher:
        package, _, name = self._bag.topics[topic].msgtype.split("/")
        message_class = getattr(importlib.import_module(f"{package}.msg"), name)
        qos = QoSProfile(
            depth=depth,
            reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if keep_for_late else DurabilityPolicy.VOLATILE,
        )
        published_as = self._options.to if topic == self._cloud_topic and self._options.to else topic
        return self._node.create_publisher(message_class, published_as, qos)
