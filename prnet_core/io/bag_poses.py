"""Poses and transforms of a bag: the ground truth, and the static transforms between the robot's frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry.se3 import invert, make_transform
from prnet_core.io.bags import POSE_TYPES, TRANSFORMS, Bag, BagError, seconds

STATIC_TOPIC = "/tf_static"
_TRUTH_NAMES = ("ground_truth", "groundtruth")


class StampedTransform(NamedTuple):
    """`T_parent_child` (4, 4) takes points of `child` into `parent` at `stamp` (seconds).

    `child` is empty where the message does not name it (PoseStamped).
    """

    stamp: float
    parent: str
    child: str
    T_parent_child: np.ndarray


class Poses(NamedTuple):
    """Stamps (N,) in seconds, increasing, and poses (N, 4, 4) that take points of the moving frame into `parent`."""

    stamps: np.ndarray
    T_parent_frame: np.ndarray
    parent: str


def read_transforms(bag: Bag, topic: str) -> Iterator[StampedTransform]:
    """Transforms of a topic: TFMessage, TransformStamped, PoseStamped, PoseWithCovarianceStamped or Odometry.

    Raises:
        BagError: the topic is absent or of another type; the text lists the topics with poses.
    """
    if topic not in bag.topics or bag.topics[topic].msgtype not in POSE_TYPES:
        listed = ", ".join(bag.pose_topics()) or "none"
        raise BagError(f"{bag.path}: no poses on {topic}. Topics with poses in this bag: {listed}")
    for message in bag.raw_messages([topic]):
        decoded = bag.decode(message)
        if message.msgtype == TRANSFORMS:
            yield from (_from_transform(transform) for transform in decoded.transforms)
        elif hasattr(decoded, "transform"):
            yield _from_transform(decoded)
        else:
            yield _from_pose(decoded)


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


def ground_truth(bag: Bag, frame: str, topic: str | None = None) -> Poses | None:
    """The recorded true poses of `frame`, by header stamp.

    Without a topic: the one whose name contains ground_truth, or None when there is none. Where the truth is that
    of another frame of the robot, static transforms carry it over.

    Raises:
        BagError: the truth is of a frame that no static transform connects with `frame`.
    """
    if topic is None:
        named = [name for name in bag.pose_topics() if any(part in name for part in _TRUTH_NAMES)]
        if not named:
            return None
        topic = named[0]
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
        raise BagError(
            f"{bag.path}: {topic} has poses of {sorted(others)}; nothing static leads from there to {frame}"
        )
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


def _from_transform(message: Any) -> StampedTransform:
    translation = message.transform.translation
    return _stamped(message, message.child_frame_id, translation, message.transform.rotation)


def _from_pose(message: Any) -> StampedTransform:
    pose = message.pose.pose if hasattr(message.pose, "pose") else message.pose
    return _stamped(message, getattr(message, "child_frame_id", ""), pose.position, pose.orientation)


def _stamped(message: Any, child: str, position: Any, quaternion: Any) -> StampedTransform:
    rotation = Rotation.from_quat([quaternion.x, quaternion.y, quaternion.z, quaternion.w]).as_matrix()
    transform = make_transform(rotation, np.array([position.x, position.y, position.z]))
    header = message.header
    return StampedTransform(seconds(header.stamp), header.frame_id.lstrip("/"), child.lstrip("/"), transform)
