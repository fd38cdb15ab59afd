"""Poses and static transforms of bags."""

from __future__ import annotations

import numpy as np
import pytest

from prnet_core.geometry.se3 import make_transform
from prnet_core.io.bag_poses import (
    ground_truth,
    read_transforms,
    root_frame,
    static_transform,
    static_transforms,
)
from prnet_core.io.bags import BagError, open_bag

QUARTER_TURN = (0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5))  # 90 degrees about z
R_QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
STRAIGHT = (0.0, 0.0, 0.0, 1.0)


@pytest.fixture
def robot_bag(tmp_path, bag_maker):
    """Ground truth of `base` in `map` (1 m ahead a second), a mast on the base, a LiDAR rotated by 90 degrees on it."""
    make = bag_maker
    statics = [
        ("/tf_static", 9.0, make.tf(make.transform("base", "mast", (0.0, 0.0, 1.0), STRAIGHT, 9.0))),
        ("/tf_static", 9.5, make.tf(make.transform("/mast", "/lidar", (0.5, 0.0, 0.0), QUARTER_TURN, 9.0))),
    ]
    true_poses = [
        (
            "/ground_truth/tf",
            10.0 + i,
            make.tf(make.transform("map", "base", (float(i), 0, 0), STRAIGHT, 10.0 + i)),
        )
        for i in range(3)
    ]
    with open_bag(bag_maker.write(tmp_path / "robot", statics + true_poses)) as bag:
        yield bag


def test_static_chain(robot_bag):
    statics = static_transforms(robot_bag)
    assert root_frame(statics, "lidar") == root_frame(statics, "base") == "base"
    assert root_frame(statics, "elsewhere") == "elsewhere"
    T_base_lidar = make_transform(R_QUARTER, np.array([0.5, 0.0, 1.0]))
    np.testing.assert_allclose(static_transform(statics, "base", "lidar"), T_base_lidar, atol=1e-12)
    np.testing.assert_allclose(static_transform(statics, "lidar", "base"), np.linalg.inv(T_base_lidar), atol=1e-12)
    np.testing.assert_allclose(static_transform(statics, "x", "x"), np.eye(4))
    assert static_transform(statics, "base", "elsewhere") is None


def test_truth_is_carried_over_to_the_sensor(robot_bag):
    true_poses = ground_truth(robot_bag, "lidar")
    assert true_poses.parent == "map"
    np.testing.assert_allclose(true_poses.stamps, [10.0, 11.0, 12.0])
    for i, pose in enumerate(true_poses.poses):
        np.testing.assert_allclose(pose, make_transform(R_QUARTER, np.array([i + 0.5, 0.0, 1.0])), atol=1e-12)


def test_truth_of_an_unconnected_frame_is_an_error_not_an_identity(robot_bag):
    with pytest.raises(BagError, match="base.*elsewhere"):
        ground_truth(robot_bag, "elsewhere")


def test_truth_comes_in_the_order_of_its_stamps_once_each(tmp_path, bag_maker):
    def tf(x, stamp):
        return bag_maker.tf(bag_maker.transform("map", "lidar", (x, 0.0, 0.0), STRAIGHT, stamp))

    messages = [("/ground_truth/tf", t, tf(x, s)) for t, x, s in ((1.0, 2.0, 12.0), (2.0, 1.0, 11.0), (3.0, 9.0, 11.0))]
    with open_bag(bag_maker.write(tmp_path / "bag", messages)) as bag:
        true_poses = ground_truth(bag, "lidar")
    np.testing.assert_allclose(true_poses.stamps, [11.0, 12.0])
    np.testing.assert_allclose(true_poses.poses[:, 0, 3], [1.0, 2.0])


def test_poses_and_transforms_of_other_types(tmp_path, bag_maker):
    messages = [
        ("/truth", 1.0, bag_maker.transform("map", "lidar", (1.0, 2.0, 3.0), QUARTER_TURN, 5.0)),
        ("/gps", 1.0, bag_maker.pose("map", (4.0, 5.0, 6.0), QUARTER_TURN, 5.0)),
    ]
    with open_bag(bag_maker.write(tmp_path / "bag", messages)) as bag:
        assert bag.pose_topics() == ["/gps", "/truth"]
        assert ground_truth(bag, "lidar") is None
        (transform,) = read_transforms(bag, "/truth")
        assert (transform.stamp, transform.parent, transform.child) == (5.0, "map", "lidar")
        np.testing.assert_allclose(transform.T_parent_child, make_transform(R_QUARTER, np.array([1.0, 2.0, 3.0])))
        (pose,) = read_transforms(bag, "/gps")
        assert pose.child == ""
        np.testing.assert_allclose(pose.T_parent_child, make_transform(R_QUARTER, np.array([4.0, 5.0, 6.0])))
        with pytest.raises(BagError, match="no poses on /nowhere.*/gps, /truth"):
            list(read_transforms(bag, "/nowhere"))
