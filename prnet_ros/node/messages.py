"""Odometry, TF, pose and cloud messages."""

import sys
from dataclasses import dataclass

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import (
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    TransformStamped,
    Twist,
    TwistWithCovariance,
    Vector3,
)
from nav_msgs.msg import Odometry
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

from prnet_core.geometry import se3
from prnet_core.io.bag_poses import rigid_matrix
from prnet_core.io.pointcloud2 import replace_points
from prnet_core.odometry.extrinsics import BaseMotion
from prnet_core.registration.result import UNKNOWN_VARIANCE
from prnet_ros.node.frames import pose_message, transform_message

_SMALLEST_VARIANCE = 1e-9


def odometry_message(motion: BaseMotion, stamp: Time, odom_frame: str, base_frame: str) -> Odometry:
    """Pose in `odom_frame`, twist in `base_frame`, which is the child frame (REP 105)."""
    vx, vy, vz, wx, wy, wz = motion.twist.tolist()
    return Odometry(
        header=Header(stamp=stamp, frame_id=odom_frame),
        child_frame_id=base_frame,
        pose=PoseWithCovariance(
            pose=pose_message(motion.T_odom_base), covariance=usable_covariance(motion.covariance).ravel()
        ),
        twist=TwistWithCovariance(
            twist=Twist(linear=Vector3(x=vx, y=vy, z=vz), angular=Vector3(x=wx, y=wy, z=wz)),
            covariance=usable_covariance(motion.twist_covariance).ravel(),
        ),
    )


def lost_message(T_odom_base: np.ndarray, stamp: Time, odom_frame: str, base_frame: str) -> Odometry:
    """An odometry message without information: a pose (4, 4), no twist, UNKNOWN_VARIANCE on all diagonals."""
    unknown = np.eye(6) * UNKNOWN_VARIANCE
    motion = BaseMotion(T_odom_base, unknown, np.zeros(6), unknown)
    return odometry_message(motion, stamp, odom_frame, base_frame)


@dataclass(frozen=True)
class InitialPose:
    """Pose of the base at the first scan of a trajectory: T_odom_start (4, 4), covariance (6, 6) as ROS writes it."""

    T_odom_start: np.ndarray
    covariance: np.ndarray


def initial_pose_of(message: PoseWithCovarianceStamped, odom_frame: str) -> InitialPose:
    """The pose of a message in `odom_frame`. Raises ValueError for another frame, or a pose that is not finite."""
    frame = message.header.frame_id.lstrip("/")
    if frame not in ("", odom_frame):
        raise ValueError(f"the pose must be in '{odom_frame}', not in '{frame}'")
    pose, covariance = message.pose.pose, np.reshape(message.pose.covariance, (6, 6))
    if not np.isfinite(covariance).all():
        raise ValueError("the covariance is not finite")
    return InitialPose(rigid_matrix(pose.position, pose.orientation), covariance)


def tf_message(
    T_odom_base: np.ndarray, stamp: Time, odom_frame: str, base_frame: str, invert: bool
) -> TransformStamped:
    """`odom_frame` -> `base_frame`; with `invert`, `base_frame` is the parent: for a base that has a parent already."""
    parent, child, matrix = odom_frame, base_frame, T_odom_base
    if invert:
        parent, child, matrix = base_frame, odom_frame, se3.invert(T_odom_base)
    return TransformStamped(
        header=Header(stamp=stamp, frame_id=parent), child_frame_id=child, transform=transform_message(matrix)
    )


def cloud_message(points: np.ndarray, stamp: Time, frame_id: str) -> PointCloud2:
    """PointCloud2 with float32 x, y, z of points (N, 3)."""
    fields = [
        PointField(name=name, offset=4 * axis, datatype=PointField.FLOAT32, count=1) for axis, name in enumerate("xyz")
    ]
    data = np.ascontiguousarray(points, dtype=np.float32).tobytes()
    return _one_row(Header(stamp=stamp, frame_id=frame_id), fields, sys.byteorder == "big", 12, data)


def moved_cloud(message: PointCloud2, rows: np.ndarray, points: np.ndarray, frame_id: str) -> PointCloud2:
    """The points `rows` (M,) of a message, at `points` (M, 3) in `frame_id`, with all of their fields.

    x, y and z alone where these are integers in the message.
    """
    data = replace_points(message, rows, points)
    if data is None:
        return cloud_message(points, message.header.stamp, frame_id)
    header = Header(stamp=message.header.stamp, frame_id=frame_id)
    return _one_row(header, message.fields, message.is_bigendian, message.point_step, data)


def _one_row(header: Header, fields: list[PointField], is_bigendian: bool, point_step: int, data) -> PointCloud2:
    cloud = PointCloud2(
        header=header,
        height=1,
        width=len(data) // point_step,
        fields=fields,
        is_bigendian=is_bigendian,
        point_step=point_step,
        row_step=len(data),
        is_dense=True,
    )
    # Bytes are copied as one block; a numpy array would be checked element by element (300 ms per scan).
    cloud.data = data
    return cloud


def usable_covariance(covariance: np.ndarray) -> np.ndarray:
    """A (6, 6) covariance that filters accept: symmetric, finite, variances within 1e-9 to 1e6.

    One with numbers that are not finite, or beyond 1e100, becomes UNKNOWN_VARIANCE on the diagonal. Rows and columns
    whose variance is out of bounds are scaled, which keeps the correlations; none is beyond 1.
    """
    covariance = np.asarray(covariance, dtype=np.float64)
    if not (np.abs(covariance) < 1e100).all():
        return np.eye(6) * UNKNOWN_VARIANCE
    covariance = (covariance + covariance.T) / 2
    variances = np.diag(covariance)
    wanted = np.clip(variances, _SMALLEST_VARIANCE, UNKNOWN_VARIANCE)
    scale = np.sqrt(np.divide(wanted, variances, out=np.zeros(6), where=variances > 1e-30))
    largest = np.sqrt(np.outer(wanted, wanted))
    covariance = np.clip(covariance * np.outer(scale, scale), -largest, largest)
    np.fill_diagonal(covariance, wanted)
    return covariance


def localization_message(
    T_map_base: np.ndarray, covariance: np.ndarray, stamp: Time, map_frame: str
) -> PoseWithCovarianceStamped:
    """The pose (4, 4) of the base in the map. covariance: (6, 6) of a small transform applied in the map's frame.

    At the position p such a transform (v, omega) moves the pose by v + omega x p.
    """
    at_pose = np.eye(6)
    at_pose[:3, 3:] = -se3.skew(T_map_base[:3, 3])
    covariance = usable_covariance(at_pose @ covariance @ at_pose.T)
    return PoseWithCovarianceStamped(
        header=Header(stamp=stamp, frame_id=map_frame),
        pose=PoseWithCovariance(pose=pose_message(T_map_base), covariance=covariance.ravel()),
    )
