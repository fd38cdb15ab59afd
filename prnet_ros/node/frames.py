"""Between 4x4 matrices and geometry_msgs."""

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Vector3
from scipy.spatial.transform import Rotation

from prnet_core.io.bag_poses import rigid_matrix


def transform_matrix(transform: Transform) -> np.ndarray:
    """(4, 4) of a Transform message; as `rigid_matrix`."""
    return rigid_matrix(transform.translation, transform.rotation)


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
