"""Rigid transforms as 4x4 arrays: from messages, to messages, inverted, interpolated."""

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.time import Time
from scipy.spatial.transform import Rotation, Slerp

QUATERNION_TOLERANCE = 1e-2


def transform_from_message(message: TransformStamped) -> tuple[np.ndarray, str | None]:
    """The (4, 4) of the message, and the reason why it is invalid (None for a valid one)."""
    t, q = message.transform.translation, message.transform.rotation
    translation, quaternion = np.array([t.x, t.y, t.z]), np.array([q.x, q.y, q.z, q.w])
    if not (np.isfinite(translation).all() and np.isfinite(quaternion).all()):
        return np.eye(4), "TF_NAN_INPUT ignoring a transform with a nan or inf value"
    if abs(quaternion @ quaternion - 1.0) > QUATERNION_TOLERANCE:
        return np.eye(4), "TF_DENORMALIZED_QUATERNION ignoring a transform with an invalid quaternion"
    return _rigid(Rotation.from_quat(quaternion).as_matrix(), translation), None


def message_from_transform(target: str, source: str, stamp: int, T_target_source: np.ndarray) -> TransformStamped:
    """A message with the target as header.frame_id and the source as child_frame_id; stamp in nanoseconds."""
    message = TransformStamped()
    message.header.stamp = Time(nanoseconds=stamp).to_msg()
    message.header.frame_id, message.child_frame_id = target, source
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = T_target_source[:3, 3].tolist()
    quaternion = Rotation.from_matrix(T_target_source[:3, :3]).as_quat()
    q.x, q.y, q.z, q.w = (-quaternion if quaternion[3] < 0.0 else quaternion).tolist()
    return message


def inverse(T_a_b: np.ndarray) -> np.ndarray:
    """T_b_a."""
    rotation = T_a_b[:3, :3].T
    return _rigid(rotation, -rotation @ T_a_b[:3, 3])


def interpolate(first: np.ndarray, second: np.ndarray, ratio: float) -> np.ndarray:
    """From `first` (ratio 0) to `second` (ratio 1): linear in translation, spherical in rotation."""
    rotation = Slerp([0.0, 1.0], Rotation.from_matrix([first[:3, :3], second[:3, :3]]))(ratio)
    return _rigid(rotation.as_matrix(), first[:3, 3] + ratio * (second[:3, 3] - first[:3, 3]))


def _rigid(rotation: np.ndarray, translation: np.ndarray) -> np.ndarray:
    transform = np.eye(4)
    transform[:3, :3], transform[:3, 3] = rotation, translation
    return transform
