"""Between 4x4 matrices and geometry_msgs."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3

_LONGEST = 1e9  # m, of a translation; the earth has 1.3e7


def transform_matrix(transform: Transform) -> np.ndarray:
    """(4, 4) of a Transform message; as `rigid_matrix`."""
    return rigid_matrix(transform.translation, transform.rotation)


def rigid_matrix(position: Point | Vector3, orientation: Quaternion) -> np.ndarray:
    """(4, 4) of a position and an orientation, whose quaternion is normalised.

    Raises ValueError for a quaternion of length zero, for numbers that are not finite, and for 1e9 m and more.
    """
    t, q = position, orientation
    quaternion = np.array([q.x, q.y, q.z, q.w])
    length = np.linalg.norm(quaternion)
    translation = np.array([t.x, t.y, t.z])
    if not ((np.abs(translation) < _LONGEST).all() and np.isfinite(length) and length > 1e-6):
        raise ValueError(f"not a rigid transform: translation {translation}, quaternion {quaternion}")
    return se3.make_transform(Rotation.from_quat(quaternion).as_matrix(), translation)


def transform_message(matrix: np.ndarray) -> Transform:
    """Transform message of a rigid (4, 4) matrix."""
    x, y, z = matrix[:3, 3].tolist()
    return Transform(translation=Vector3(x=x, y=y, z=z), rotation=_quaternion_message(matrix))


def pose_message(matrix: np.ndarray) -> Pose:
    """Pose message of a rigid (4, 4) matrix."""
    x, y, z = matrix[:3, 3].tolist()
    return Pose(position=Point(x=x, y=y, z=z), orientation=_quaternion_message(matrix))


def quaternion_of(rotation: np.ndarray) -> np.ndarray:
    """Unit quaternion x y z w, w >= 0, of a 3x3 rotation."""
    quaternion = Rotation.from_matrix(rotation).as_quat()
    return -quaternion if quaternion[3] < 0.0 else quaternion


def _quaternion_message(matrix: np.ndarray) -> Quaternion:
    x, y, z, w = quaternion_of(matrix[:3, :3]).tolist()
    return Quaternion(x=x, y=y, z=z, w=w)
