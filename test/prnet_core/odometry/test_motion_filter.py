"""The velocity of a sensor without point times where the scene does not constrain all directions."""

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry import OdometryConfig, ScanOdometry
from prnet_core.odometry.motion_filter import MotionFilter
from prnet_core.registration import Registration
from prnet_core.simulation.drives import make_drive

INTERVAL = 1.0 / 30.0
TWIST = np.array([0.6, 0.1, 0.0, 0.0, 0.0, 0.5])
NOISE = 0.01  # metres and radians
CERTAIN = NOISE**2 * np.eye(6)
FREE_X = 1e-2 * CERTAIN + np.diag([4.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def follow(num_scans: int, seed: int) -> tuple[MotionFilter, list[np.ndarray]]:
    """A filter after noisy poses of constant velocity, and these poses."""
    rng, motion = np.random.default_rng(seed), MotionFilter()
    true = np.eye(4)
    motion.restart(true, np.zeros(6))
    measured = [true]
    for _ in range(num_scans):
        true = true @ se3.exp(INTERVAL * TWIST)
        measured.append(true @ se3.exp(NOISE * rng.standard_normal(6)))
        motion.add(measured[-1], CERTAIN, INTERVAL, is_weak=False)
    return motion, measured


def test_the_velocity_is_better_known_than_by_the_last_two_poses() -> None:
    filtered, differences = [], []
    for seed in range(20):
        motion, measured = follow(20, seed)
        filtered.append(motion.twist - TWIST)
        differences.append(se3.log(se3.invert(measured[-2]) @ measured[-1]) / INTERVAL - TWIST)
    assert np.sqrt(np.mean(np.square(filtered))) < 0.8 * np.sqrt(np.mean(np.square(differences)))


def test_a_measured_pose_that_is_not_weak_is_kept() -> None:
    motion, measured = follow(5, 0)
    assert np.array_equal(motion.pose, measured[-1])


def test_a_free_direction_is_predicted_and_the_others_are_measured() -> None:
    motion = MotionFilter()
    motion.restart(np.eye(4), np.r_[TWIST[:3], np.zeros(3)])
    for i in range(1, 11):
        true = se3.make_transform(np.eye(3), i * INTERVAL * TWIST[:3])
        motion.add(true, 1e-2 * CERTAIN, INTERVAL, is_weak=False)
    slid = se3.make_transform(np.eye(3), 11 * INTERVAL * TWIST[:3] + [0.5, 0.005, 0.0])
    pose = motion.add(slid, FREE_X, INTERVAL, is_weak=True)
    expected = 11 * INTERVAL * TWIST[0]
    assert abs(pose[0, 3] - expected) < 0.01
    assert abs(pose[1, 3] - slid[1, 3]) < 2e-3


def test_a_camera_goes_along_a_wall_at_the_speed_that_it_had() -> None:
    """The velocity from two poses where the wall began was several times the true one, for the next second."""
    drive = make_drive("crowd", "kinect", 60, seed=41, moving_objects=False)
    odometry = ScanOdometry(Registration(None), OdometryConfig(max_scan_time=1e3))
    errors = []
    for scan in drive:
        update = odometry.register_scan(scan.points, scan.stamp)
        if not errors:
            first = scan.T_world_sensor
        errors.append(se3.difference(update.T_odom_sensor, se3.invert(first) @ scan.T_world_sensor)[0])
    assert max(errors) < 0.8
