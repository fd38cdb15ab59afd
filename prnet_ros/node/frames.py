"""Between 4x4 matrices and geometry_msgs."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3

from prnet_core.geometry import se3

_LONGEST = 1e9  # m, of a translation; the earth has 1.3e7


def transform_matrix(transform: Transform) -> np.ndarray:
    """(4, 4) of a Transform message; the quaternion is normalised.

    Raises ValueError for a quaternion of length zero, for numbers that are not finite, and for 1e9 m and more.
    """
    t, q = transform.translation, transform.rotation
    quaternion = np.array([q.x, q.y, q.z, q.w])
    length = np.linalg.norm(quaternion)
    translation = np.array([t.x, t.y, t.z])
    if not ((np.abs(translation) < _LONGEST).all() and np.isfinite(length) and length > 1e-6):
        raise ValueError(f"not a rigid transform: translation {translation}, quaternion {quaternion}")
    return se3.make_transform(_rotation_of(quaternion / length), translation)


def transform_message(matrix: np.ndarray) -> Transform:
    """Transform message of a rigid (4, 4) matrix."""
    x, y, z = matrix[:3, 3].tolist()
    return Transform(translation=Vector3(x=x, y=y, z=z), rotation=_quaternion_message(matrix))


def pose_message(matrix: np.ndarray) -> Pose:
    """Pose message of a rigid (4, 4) matrix."""
    x, y, z = matrix[:3, 3].tolist()
    return Pose(position=Point(x=x, y=y, z=z), orientation=_quaternion_message(matrix))


def quaternion_of(rotation: np.ndarray) -> np.ndarray:
    """Unit quaternion x y z w, w >= 0, of a 3x3 rotation (Shepperd: divides by the largest component)."""
    trace = np.trace(rotation)
    squares = np.append(2.0 * np.diag(rotation) - trace, trace)  # 4 x^2 - 1, ..., 4 w^2 - 1
    largest = int(np.argmax(squares))
    r = rotation
    quaternion = {
        0: [1.0 + squares[0], r[1, 0] + r[0, 1], r[0, 2] + r[2, 0], r[2, 1] - r[1, 2]],
        1: [r[1, 0] + r[0, 1], 1.0 + squares[1], r[2, 1] + r[1, 2], r[0, 2] - r[2, 0]],
        2: [r[0, 2] + r[2, 0], r[2, 1] + r[1, 2], 1.0 + squares[2], r[1, 0] - r[0, 1]],
        3: [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], 1.0 + squares[3]],
    }[largest]
    quaternion = np.array(quaternion)
    quaternion /= np.linalg.norm(quaternion)
    return -quaternion if quaternion[3] < 0.0 else quaternion


def _rotation_of(quaternion: np.ndarray) -> np.ndarray:
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _quaternion_message(matrix: np.ndarray) -> Quaternion:
    x, y, z, w = quaternion_of(matrix[:3, :3]).tolist()
    return Quaternion(x=x, y=y, z=z, w=w)
