"""The second part of the demo: the node starts again in the map of its drive, at a random scan, and localises."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from prnet_core.geometry import se3
from prnet_core.io.bags import Bag
from prnet_core.io.trajectories import Trajectory
from prnet_ros.demo.drive_map import KEYFRAME_EVERY, pose_index

if TYPE_CHECKING:
    from prnet_ros.demo.listener import Listener
    from prnet_ros.demo.process import NodeProcess

FEWEST_POSES = 8  # of a drive whose map is used
MOST_SCANS = 10  # until the node is localised
FOLLOWED_SCANS = 10  # played after that
LAST_ANSWER_TIMEOUT = 3.0  # s for the answer to the last of them
SETTLE_TIME = 1.0  # s for the answer to the last scan


@dataclass(frozen=True)
class FoundPose:
    """stamp: of the scan. T_map_base: (4, 4) as found. T_expected: (4, 4) in the drive."""

    stamp: float
    T_map_base: np.ndarray
    T_expected: np.ndarray

    @property
    def errors(self) -> tuple[float, float]:
        """Metres and degrees between the two."""
        distance, angle = se3.difference(self.T_expected, self.T_map_base)
        return distance, float(np.degrees(angle))


@dataclass(frozen=True)
class Restart:
    """The result.

    scan: number of the first scan in the bag. num_scans: scans published until the first pose. poses: in the map, the
    first one of a scan that is not deskewed, since the motion is not known yet; empty where the node was not localised.
    seconds: from the first scan to the first pose. problem: why the node was not localised, as text.
    """

    scan: int
    num_scans: int = 0
    poses: list[FoundPose] = field(default_factory=list)
    seconds: float = 0.0
    problem: str = ""


def random_scan(num_scans: int, rng: np.random.Generator) -> int:
    """The number of a scan that is no keyframe of the map, with enough others after it."""
    last = max(KEYFRAME_EVERY, num_scans - MOST_SCANS - FOLLOWED_SCANS)
    return int(rng.choice([number for number in range(last) if number % KEYFRAME_EVERY] or [0]))


class _Ended(Exception):
    """The node is localised, or has received enough scans."""


def start_again(
    bag: Bag, topic: str, first: int, trajectory: Trajectory, listener: Listener, node: NodeProcess
) -> Restart:
    """Play the bag in real time from a scan on until the node is localised, and some more scans.

    trajectory: poses of the drive, in the map's frame. Raises NoSubscriberError and DemoError as the drive does.
    """
    from prnet_ros.player import Replay, ReplayOptions

    began, num_needed = time.monotonic(), 0

    def is_found() -> bool:
        return bool(listener.located)

    def count(num_published: int) -> None:
        """Count the scans until the first pose; end after enough scans."""
        nonlocal began, num_needed
        if num_published == 0:
            began = time.monotonic()
        if num_published == MOST_SCANS:
            node.wait_until(is_found, LAST_ANSWER_TIMEOUT)
        if num_needed == 0 and is_found():
            num_needed = num_published
        if num_published >= (num_needed + FOLLOWED_SCANS if num_needed else MOST_SCANS):
            raise _Ended

    try:
        num_sent = Replay(listener.node, bag, ReplayOptions(topic, to="points", first=first), count).run()
    except _Ended:
        num_sent = MOST_SCANS
    if not node.wait_until(is_found, LAST_ANSWER_TIMEOUT):
        return Restart(first, num_sent, problem=listener.map_message or "no answer")
    time.sleep(SETTLE_TIME)
    found = [
        FoundPose(stamp, pose, trajectory.poses[index])
        for _, stamp, pose in listener.located
        if (index := pose_index(trajectory, stamp)) is not None
    ]
    return Restart(first, num_needed or num_sent, found, listener.located[0][0] - began)
