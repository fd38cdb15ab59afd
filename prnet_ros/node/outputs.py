"""Publishes what a registered scan says."""

from __future__ import annotations

import numpy as np
from nav_msgs.msg import Odometry, Path
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2
from tf2_ros import TransformBroadcaster

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryUpdate
from prnet_core.odometry.extrinsics import motion_of_base
from prnet_ros.node.messages import cloud_message, odometry_message, tf_message
from prnet_ros.node.scan_slot import Scan
from prnet_ros.node.trajectory import Trajectory


class Outputs:
    """TF, odometry, registered cloud and trajectory. `publish_tf` and `invert_tf` may change at any time."""

    def __init__(self, node: Node, odom_frame: str, base_frame: str, publish_tf: bool, invert_tf: bool) -> None:
        self.odom_frame = odom_frame
        self._base_frame = base_frame
        self.publish_tf = publish_tf
        self.invert_tf = invert_tf
        self._trajectory = Trajectory(odom_frame)
        self._tf = TransformBroadcaster(node)
        self._odometry = node.create_publisher(Odometry, "odometry", 10)
        self._registered_points = node.create_publisher(PointCloud2, "registered_points", 2)
        self._path = node.create_publisher(Path, "trajectory", 1)

    def base_frame_of(self, scan: Scan) -> str:
        """The frame whose motion a scan tells: the base's, or the scan's own where none was named."""
        return self._base_frame or scan.frame_id

    def publish(self, scan: Scan, update: OdometryUpdate, T_base_sensor: np.ndarray) -> None:
        """TF first, the cloud last, and only when someone listens to it."""
        if update.status in ("first", "reset"):
            self._trajectory.clear()
        motion = motion_of_base(update, T_base_sensor)
        base_frame = self.base_frame_of(scan)
        if self.publish_tf:
            self._tf.sendTransform(
                tf_message(motion.T_odom_base, scan.stamp, self.odom_frame, base_frame, self.invert_tf)
            )
        self._odometry.publish(odometry_message(motion, scan.stamp, self.odom_frame, base_frame))
        self._trajectory.add(motion.T_odom_base, scan.stamp)
        if self._registered_points.get_subscription_count() > 0:
            points = se3.apply(motion.T_odom_base @ T_base_sensor, scan.cloud.points)
            self._registered_points.publish(cloud_message(points, scan.stamp, self.odom_frame))

    def publish_trajectory(self) -> None:
        """The path so far, when someone listens to it."""
        if self._path.get_subscription_count() > 0 and (path := self._trajectory.message()) is not None:
            self._path.publish(path)
