"""Poses and transforms of a bag: the ground truth, and the static transforms between the robot's frames.

A pose that cannot be decoded, is not finite or has a zero quaternion is left out and named in the log once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry.se3 import invert, make_transform
from prnet_core.io.bags import POSE_TYPES, TRANSFORMS, Bag, BagError
from prnet_core.io.pointcloud2 import seconds
from prnet_core.io.trajectories import Trajectory

STATIC_TOPIC = "/tf_static"
_LONGEST = 1e9  # m, of a translation; the diameter of the earth is 1.3e7
_GROUND_TRUTH_NAMES = ("ground_truth", "groundtruth")


class StampedTransform(NamedTuple):
    """`T_parent_child` (4, 4) takes points of `child` into `parent` at `stamp` (seconds).

    `child` is empty where the message does not name it (PoseStamped).
    """

    stamp: float
    parent: str
    child: str
    T_parent_child: np.ndarray


@dataclass(frozen=True)
class Poses(Trajectory):
    """A trajectory with increasing stamps whose poses take points of the moving frame into the frame `parent`."""

    parent: str


def read_transforms(bag: Bag, topic: str) -> Iterator[StampedTransform]:
    """Transforms of a topic: TFMessage, TransformStamped, PoseStamped, PoseWithCovarianceStamped or Odometry.

    Raises BagError, which lists the topics with poses, when the topic is absent or of another type.
    """
    if topic not in bag.topics or bag.topics[topic].msgtype not in POSE_TYPES:
        listed = ", ".join(bag.pose_topics()) or "none"
        raise BagError(f"{bag.path}: no poses on {topic}. Topics with poses in this bag: {listed}")
    for message in bag.raw_messages([topic]):
        try:
            decoded = bag.decode(message)
        except BagError as error:
            bag.log_once(f"{topic} not decodable", f"poses are left out: {error}")
            continue
        for stamped in decoded.transforms if message.msgtype == TRANSFORMS else [decoded]:
            transform = _stamped_transform(stamped)
            if transform is None:
                text = f"poses of {topic} are left out: a value is not finite, or the quaternion is zero"
                bag.log_once(f"{topic} not finite", text)
            else:
                yield transform


def static_transforms(bag: Bag) -> dict[str, StampedTransform]:
    """The last transform of each child frame on /tf_static; empty when the bag has none."""
    if STATIC_TOPIC not in bag.topics:
        return {}
    return {transform.child: transform for transform in read_transforms(bag, STATIC_TOPIC)}


def root_frame(statics: dict[str, StampedTransform], frame: str) -> str:
    """The frame at the top of the static chain above `frame` (the robot's base), or `frame` itself."""
    return _chain_to_root(statics, frame)[0]


def static_transform(statics: dict[str, StampedTransform], target: str, source: str) -> np.ndarray | None:
    """T_target_source (4, 4) through static transforms alone, or None when they do not connect the two."""
    target_root, T_root_target = _chain_to_root(statics, target)
    source_root, T_root_source = _chain_to_root(statics, source)
    if target_root != source_root:
        return None
    return invert(T_root_target) @ T_root_source


def ground_truth(bag: Bag, frame: str) -> Poses | None:
    """The recorded ground truth poses of `frame`, by header stamp.

    From the first topic with ground_truth in its name that has poses of `frame`; None when there is no such topic.
    Poses of another frame of the robot are converted by static transforms. Raises BagError when no such topic has poses
    of a frame that static transforms connect with `frame`.
    """
    problem = None
    for name in bag.pose_topics():
        if any(part in name for part in _GROUND_TRUTH_NAMES):
            try:
                return _poses_of(bag, frame, name)
            except BagError as error:
                problem = problem or error
    if problem is not None:
        raise problem
    return None


def ground_truth_if_usable(bag: Bag, frame: str) -> Poses | None:
    """`ground_truth`, or None with a warning in the log where it raises: for a comparison."""
    try:
        return ground_truth(bag, frame)
    except BagError as error:
        bag.log_once("no ground truth", f"no ground truth is used: {error}")
        return None


def _poses_of(bag: Bag, frame: str, topic: str) -> Poses:
    statics = static_transforms(bag)
    stamps, poses, parent, others = [], [], "", set()
    for transform in read_transforms(bag, topic):
        T_child_frame = static_transform(statics, transform.child or frame, frame)
        if T_child_frame is None:
            others.add(transform.child)
            continue
        stamps.append(transform.stamp)
        poses.append(transform.T_parent_child @ T_child_frame)
        parent = transform.parent
    if not stamps:
        found = f"poses of {sorted(others)}; no static transform connects them with {frame}" if others else "no pose"
        raise BagError(f"{bag.path}: {topic} has {found}")
    stamps, first = np.unique(stamps, return_index=True)
    return Poses(stamps, np.stack(poses)[first], parent)


def _chain_to_root(statics: dict[str, StampedTransform], frame: str) -> tuple[str, np.ndarray]:
    T_root_frame, seen = np.eye(4), {frame}
    root = frame
    while root in statics and statics[root].parent not in seen:
        T_root_frame = statics[root].T_parent_child @ T_root_frame
        root = statics[root].parent
        seen.add(root)
    return root, T_root_frame


def _stamped_transform(message: Any) -> StampedTransform | None:
    """The transform in a message of POSE_TYPES; None when a value is not finite or the quaternion is zero."""
    if hasattr(message, "transform"):
        position, quaternion = message.transform.translation, message.transform.rotation
    else:
        pose = message.pose.pose if hasattr(message.pose, "pose") else message.pose
        position, quaternion = pose.position, pose.orientation
    header, child = message.header, getattr(message, "child_frame_id", "")
    try:
        transform = rigid_matrix(position, quaternion)
    except ValueError:
        return None
    return StampedTransform(seconds(header.stamp), header.frame_id.lstrip("/"), child.lstrip("/"), transform)


def rigid_matrix(position: Any, orientation: Any) -> np.ndarray:
    """(4, 4) of a message with x, y, z (metres) and one with the quaternion x, y, z, w, which is normalised.

    Raises ValueError for a quaternion of length zero, for numbers that are not finite, and for 1e9 m and more.
    """
    t, q = position, orientation
    translation, quaternion = np.array([t.x, t.y, t.z]), np.array([q.x, q.y, q.z, q.w])
    length = np.linalg.norm(quaternion)
    if not ((np.abs(translation) < _LONGEST).all() and np.isfinite(length) and length > 1e-6):
        raise ValueError(f"not a rigid transform: translation {translation}, quaternion {quaternion}")
    return make_transform(Rotation.from_quat(quaternion).as_matrix(), translation)
