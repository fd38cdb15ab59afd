"""Trajectory files and errors against values known by hand."""

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.io.recordings import GroundTruthFile
from prnet_core.io.trajectories import Trajectory, read_kitti, read_tum, write_kitti, write_tum
from prnet_core.odometry.metrics import absolute_trajectory_error, match_stamps, relative_pose_error


@pytest.fixture
def ground_truth():
    twist = np.array([1.0, 0.1, 0.0, 0.0, 0.02, 0.1])
    return np.stack([se3.exp(twist * i) for i in range(20)])


def test_errors_of_the_ground_truth_are_zero(ground_truth):
    assert absolute_trajectory_error(ground_truth, ground_truth) == pytest.approx(0.0, abs=1e-9)
    error = relative_pose_error(ground_truth, ground_truth, 3)
    assert error.translation_rmse == pytest.approx(0.0, abs=1e-9)
    assert error.rotation_rmse_deg == pytest.approx(0.0, abs=1e-9)


def test_a_moved_trajectory_has_no_error(ground_truth):
    moved = se3.exp(np.array([5.0, -3.0, 1.0, 0.3, 0.2, -1.0])) @ ground_truth
    assert absolute_trajectory_error(moved, ground_truth) == pytest.approx(0.0, abs=1e-9)
    assert relative_pose_error(moved, ground_truth).translation_max == pytest.approx(0.0, abs=1e-9)


def test_relative_error_of_a_constant_drift(ground_truth):
    drift = se3.exp(np.array([0.01, 0.0, 0.0, 0.0, 0.0, np.radians(0.5)]))
    motion = se3.invert(ground_truth[0]) @ ground_truth[1] @ drift
    estimate = np.stack([np.linalg.matrix_power(motion, i) for i in range(20)])
    error = relative_pose_error(estimate, ground_truth)
    assert error.rotation_rmse_deg == pytest.approx(0.5, abs=1e-6)
    assert error.translation_rmse == pytest.approx(0.01, rel=1e-3)


def test_absolute_error_known_by_hand():
    ground_truth = np.tile(np.eye(4), (4, 1, 1))
    ground_truth[:, :3, 3] = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    stretched = ground_truth.copy()
    stretched[:, :3, 3] = (ground_truth[:, :3, 3] - [0.5, 0.5, 0]) * 1.2
    assert absolute_trajectory_error(stretched, ground_truth) == pytest.approx(0.2 * np.sqrt(0.5))


def test_files_come_back_as_written(ground_truth, tmp_path):
    stamps = 1630577768.569102 + 0.5 * np.arange(20)
    write_tum(tmp_path / "a.tum", Trajectory(stamps, ground_truth))
    again = read_tum(tmp_path / "a.tum")
    np.testing.assert_allclose(again.poses, ground_truth, atol=1e-8)
    np.testing.assert_allclose(again.stamps, stamps, atol=1e-6)
    write_kitti(tmp_path / "a.kitti", ground_truth)
    np.testing.assert_allclose(read_kitti(tmp_path / "a.kitti"), ground_truth, atol=1e-8)


def test_a_ground_truth_file_is_recognised_by_its_columns_below_any_comments(ground_truth, tmp_path):
    write_tum(tmp_path / "a", Trajectory(np.arange(20.0), ground_truth))
    head = "# ground truth trajectory\n# of the caf\u00e9\n\n# timestamp tx ty tz qx qy qz qw\n"
    (tmp_path / "a").write_text(head + (tmp_path / "a").read_text())
    np.testing.assert_allclose(GroundTruthFile(tmp_path / "a").for_scans([]).poses, ground_truth, atol=1e-8)
    write_kitti(tmp_path / "b", ground_truth)
    np.testing.assert_allclose(
        GroundTruthFile(tmp_path / "b").for_scans(list(range(20))).poses, ground_truth, atol=1e-8
    )


def test_no_ground_truth_shares_no_instant(ground_truth):
    ours, theirs = match_stamps(Trajectory(np.arange(20.0), ground_truth), Trajectory(np.zeros(0), ground_truth[:0]))
    assert len(ours) == len(theirs) == 0


def test_stamps_are_matched_to_the_nearest(ground_truth):
    stamps = np.arange(20.0)
    estimate = Trajectory(np.array([2.004, 3.5, 17.996]), ground_truth[[2, 3, 18]])
    ours, theirs = match_stamps(estimate, Trajectory(stamps, ground_truth))
    np.testing.assert_array_equal(ours, ground_truth[[2, 18]])
    np.testing.assert_array_equal(theirs, ground_truth[[2, 18]])


def test_other_shapes_raise(ground_truth):
    with pytest.raises(ValueError, match="one length"):
        absolute_trajectory_error(ground_truth[:5], ground_truth)
    with pytest.raises(ValueError, match="needs more than"):
        relative_pose_error(ground_truth, ground_truth, 20)
    with pytest.raises(ValueError, match="stamps"):
        Trajectory(np.arange(3.0), ground_truth)
