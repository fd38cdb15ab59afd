"""Publishes the results of a registered scan."""

from dataclasses import replace

import numpy as np
from nav_msgs.msg import Odometry, Path
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import PointCloud2
from tf2_ros import TransformBroadcaster

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryUpdate
from prnet_core.odometry.covariance import compose_covariance
from prnet_core.odometry.extrinsics import motion_of_base
from prnet_ros.node.messages import InitialPose, cloud_message, lost_message, moved_cloud, odometry_message, tf_message
from prnet_ros.node.scan_queue import Scan
from prnet_ros.node.trajectory import Trajectory

AT_ORIGIN = InitialPose(np.eye(4), np.zeros((6, 6)))


class Outputs:
    """TF, odometry, registered cloud, local map and trajectory.

    `publish_tf`, `invert_tf` and `initial_pose` may change at any time; the last is for the next trajectory.
    """

    def __init__(self, node: Node, odom_frame: str, base_frame: str) -> None:
        self.odom_frame, self._base_frame = odom_frame, base_frame
        self.publish_tf, self.invert_tf = True, False
        self.initial_pose = AT_ORIGIN
        self._started_at = AT_ORIGIN
        self._trajectory = Trajectory(odom_frame)
        self._tf = TransformBroadcaster(node)
        self._odometry = node.create_publisher(Odometry, "odometry", 10)
        self._registered_points = node.create_publisher(PointCloud2, "registered_points", 2)
        self._path = node.create_publisher(Path, "trajectory", 1)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._local_map = node.create_publisher(PointCloud2, "local_map", latched)
        self._node = node

    def close(self) -> None:
        for publisher in (self._odometry, self._registered_points, self._path, self._local_map, self._tf.pub_tf):
            self._node.destroy_publisher(publisher)

    def base_frame_of(self, scan: Scan) -> str:
        """The frame whose pose is published: base_frame, or the frame of the scan where base_frame is empty."""
        return self._base_frame or scan.frame_id

    def T_odom_first(self, T_base_sensor: np.ndarray) -> np.ndarray:
        """(4, 4), from the frame of the sensor at the first scan, in which updates are expressed, to odom_frame."""
        return self._started_at.T_odom_start @ T_base_sensor

    def publish(
        self,
        scan: Scan,
        update: OdometryUpdate,
        points: np.ndarray | None,
        rows: np.ndarray | None,
        T_base_sensor: np.ndarray,
    ) -> None:
        """TF first, the cloud last.

        points: (M, 3), the registered ones in the sensor's frame, or None. rows: (M,), which points of the scan's cloud
        they are; None: all of them.
        """
        if update.status in ("first", "reset"):
            self._trajectory.clear()
            self._started_at, self.initial_pose = self.initial_pose, AT_ORIGIN
        motion = motion_of_base(update, T_base_sensor)
        start = self._started_at
        if start is not AT_ORIGIN:
            covariance = compose_covariance(start.T_odom_start, start.covariance, motion.T_odom_base, np.zeros((6, 6)))
            motion = replace(
                motion,
                T_odom_base=start.T_odom_start @ motion.T_odom_base,
                covariance=covariance + se3.rotated_covariance(start.T_odom_start[:3, :3], motion.covariance),
            )
        base_frame = self.base_frame_of(scan)
        if self.publish_tf:
            self._tf.sendTransform(
                tf_message(motion.T_odom_base, scan.stamp, self.odom_frame, base_frame, self.invert_tf)
            )
        self._odometry.publish(odometry_message(motion, scan.stamp, self.odom_frame, base_frame))
        self._trajectory.add(motion.T_odom_base, scan.stamp)
        if points is not None:
            points = se3.apply(motion.T_odom_base @ T_base_sensor, points)
            self._registered_points.publish(moved_cloud(scan.message, scan.rows(rows), points, self.odom_frame))

    def publish_lost(self, scan: Scan, update: OdometryUpdate, T_base_sensor: np.ndarray) -> None:
        """The predicted pose with the covariance of an unknown pose; no TF."""
        T_odom_base = self._started_at.T_odom_start @ motion_of_base(update, T_base_sensor).T_odom_base
        self._odometry.publish(lost_message(T_odom_base, scan.stamp, self.odom_frame, self.base_frame_of(scan)))

    def are_points_wanted(self) -> bool:
        """Whether the registered cloud has a subscriber."""
        return self._registered_points.get_subscription_count() > 0

    def is_local_map_wanted(self) -> bool:
        """Whether the local map has a subscriber."""
        return self._local_map.get_subscription_count() > 0

    def publish_local_map(self, scan: Scan, points: np.ndarray, T_base_sensor: np.ndarray) -> None:
        """points: (M, 3) in the frame of the sensor at the first scan."""
        points = se3.apply(self._started_at.T_odom_start @ T_base_sensor, points)
        self._local_map.publish(cloud_message(points, scan.stamp, self.odom_frame))

    def publish_trajectory(self) -> None:
        """The path so far, when it has a subscriber."""
        if self._path.get_subscription_count() > 0 and (path := self._trajectory.message()) is not None:
            self._path.publish(path)
