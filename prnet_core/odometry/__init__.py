"""Odometry from consecutive scans, without ROS."""

from prnet_core.odometry.config import OdometryConfig
from prnet_core.odometry.scan_odometry import ScanOdometry
from prnet_core.odometry.update import OdometryUpdate

__all__ = ["OdometryConfig", "OdometryUpdate", "ScanOdometry"]
