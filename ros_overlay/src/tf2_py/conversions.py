"""TransformStamped messages to rigid transforms and back."""

from __future__ import annotations

import math

from geometry_msgs.msg import TransformStamped
from rclpy.time import Time

from tf2_py.rigid_transform import RigidTransform, normalized

QUATERNION_TOLERANCE = 1e-2


def transform_from_message(message: TransformStamped) -> tuple[RigidTransform, str | None]:
    """The transform of the message, and the reason why it is invalid (None for a valid one)."""
    t, q = message.transform.translation, message.transform.rotation
    translation, rotation = (t.x, t.y, t.z), (q.x, q.y, q.z, q.w)
    if not all(math.isfinite(value) for value in translation + rotation):
        return RigidTransform(), "TF_NAN_INPUT ignoring a transform with a nan or inf value"
    if abs(sum(value * value for value in rotation) - 1.0) > QUATERNION_TOLERANCE:
        return RigidTransform(), "TF_DENORMALIZED_QUATERNION ignoring a transform with an invalid quaternion"
    return RigidTransform(translation, normalized(rotation)), None


def message_from_transform(target: str, source: str, stamp: int, transform: RigidTransform) -> TransformStamped:
    """`T_target_source` as a message: header.frame_id is the target, child_frame_id the source; stamp in ns."""
    message = TransformStamped()
    message.header.stamp = Time(nanoseconds=stamp).to_msg()
    message.header.frame_id = target
    message.child_frame_id = source
    t, q = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = transform.translation
    q.x, q.y, q.z, q.w = transform.rotation
    return message
