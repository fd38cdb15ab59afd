"""Helpers of the node's tests: the stamps they send, and how they read the answers."""

import numpy as np

from prnet_core.geometry import se3

START = 1000.0  # s, stamp of the first scan
PERIOD = 0.1

SLOW_CORE = """
import time
from prnet_core.odometry import ScanOdometry
register = ScanOdometry.register_scan

def slow_once(self, points, stamp, *rest):
    if stamp == 1001.0:
        print("registering slowly", flush=True)
        time.sleep(3.0)
    return register(self, points, stamp, *rest)

ScanOdometry.register_scan = slow_once
"""
"""Registration of the scan with stamp 1001 takes 3 s more."""


def stamp_of(message):
    return message.header.stamp.sec + message.header.stamp.nanosec * 1e-9


def matrix_of(transform):
    from prnet_ros.node.frames import transform_matrix

    return transform_matrix(transform)


def pose_matrix(odometry):
    from geometry_msgs.msg import Transform, Vector3

    pose = odometry.pose.pose
    p = pose.position
    return matrix_of(Transform(translation=Vector3(x=p.x, y=p.y, z=p.z), rotation=pose.orientation))


def assert_close(T_a, T_b, metres=0.03, degrees=0.6):
    error = se3.invert(T_a) @ T_b
    assert np.linalg.norm(error[:3, 3]) < metres
    assert np.rad2deg(se3.rotation_angle(error[:3, :3])) < degrees
