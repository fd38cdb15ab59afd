"""The managed node, driven as a lifecycle manager drives it, and the services for those who use the odometry."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("lifecycle_msgs", reason="lifecycle_msgs is not installed")

from node_answers import PERIOD, START, assert_close, pose_matrix  # noqa: E402

from prnet_core.geometry import se3  # noqa: E402


class Manager:
    """Calls of a lifecycle manager."""

    def __init__(self, robot):
        from lifecycle_msgs.srv import ChangeState, GetState

        self.robot, self.services = robot, (ChangeState, GetState)
        self.change = robot.ros.create_client(ChangeState, "/prnet/change_state")
        self.get = robot.ros.create_client(GetState, "/prnet/get_state")
        robot.wait_until(lambda: self.change.service_is_ready() and self.get.service_is_ready(), "the services")

    def call(self, client, request):
        future = client.call_async(request)
        self.robot.wait_until(future.done, "the answer")
        return future.result()

    def transition(self, name):
        from lifecycle_msgs.msg import Transition

        number = getattr(Transition, f"TRANSITION_{name.upper()}")
        request = self.services[0].Request(transition=Transition(id=number))
        return self.call(self.change, request).success

    @property
    def state(self):
        return self.call(self.get, self.services[1].Request()).current_state.label


def trigger(robot, name):
    from std_srvs.srv import Trigger

    client = robot.ros.create_client(Trigger, f"/prnet/{name}")
    robot.wait_until(client.service_is_ready, "the service")
    # The node answers into the void while it does not know of the client yet.
    for _ in range(20):
        future = client.call_async(Trigger.Request())
        for _ in range(100):
            robot.spin()
            if future.done():
                return future.result()
    pytest.fail(f"no answer of ~/{name}")


def test_a_lifecycle_manager_drives_the_node(robot, walk_poses):
    robot.start_node(autostart=False, wait=False)
    manager = Manager(robot)
    assert manager.state == "unconfigured"
    robot.wait_for_status(lambda values, message: message == "inactive", "the diagnostics")
    assert not trigger(robot, "fine_tune").success and trigger(robot, "reset").success

    poses = walk_poses(6)
    for round_ in range(2):
        assert manager.transition("configure") and manager.state == "inactive"
        assert robot.clouds.get_subscription_count() == 0
        assert manager.transition("activate") and manager.state == "active"
        robot.wait_until(robot.is_matched, "the subscription")
        start = START + 100.0 * round_
        for i in range(2):
            robot.publish_and_wait(poses[i], start + i * PERIOD)

        assert manager.transition("deactivate") and manager.state == "inactive"
        robot.wait_until(lambda: robot.clouds.get_subscription_count() == 0, "the end of the subscription")
        assert manager.transition("activate")
        robot.wait_until(robot.is_matched, "the subscription")
        robot.publish_and_wait(poses[2], start + 2 * PERIOD)
        assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[2])  # the trajectory continues
        assert manager.transition("deactivate") and manager.transition("cleanup")
        assert manager.state == "unconfigured"
    assert manager.transition("unconfigured_shutdown") and manager.state == "finalized"
    assert robot.stop_node() == 0


def test_a_transition_that_the_state_does_not_allow_is_answered(robot):
    from lifecycle_msgs.msg import Transition

    robot.start_node()
    manager = Manager(robot)
    for name in ("configure", "activate", "cleanup", "unconfigured_shutdown"):
        assert not manager.transition(name) and manager.state == "active"
    assert not manager.call(manager.change, manager.services[0].Request(transition=Transition(id=200))).success
    by_label = manager.services[0].Request(transition=Transition(label="nonsense"))
    assert not manager.call(manager.change, by_label).success
    assert "Traceback" not in robot.log()
    assert manager.transition("deactivate") and manager.state == "inactive"


def test_what_happens_while_the_node_is_inactive(robot, walk_poses):
    """Scans are not received, ~/pause ends with cleanup, and a pose for a node without a trajectory is refused."""
    from geometry_msgs.msg import PoseWithCovarianceStamped

    robot.start_node()
    manager = Manager(robot)
    poses = walk_poses(3)
    robot.publish_and_wait(poses[0], START)
    assert manager.transition("deactivate")
    robot.wait_until(lambda: robot.clouds.get_subscription_count() == 0, "the end of the subscription")
    robot.publish(robot.room.scan(poses[1]), START + PERIOD)
    assert trigger(robot, "pause").success
    robot.wait_for_status(lambda values, message: message == "inactive" and values["received"] == "1", "the report")

    assert manager.transition("cleanup")
    initial_pose = robot.ros.create_publisher(PoseWithCovarianceStamped, "/prnet/reset_to_pose", 1)
    robot.wait_until(lambda: initial_pose.get_subscription_count() > 0, "the subscription")
    initial_pose.publish(PoseWithCovarianceStamped())
    robot.wait_until(lambda: "not configured" in robot.log(), "the refusal")

    assert manager.transition("configure") and manager.transition("activate")
    robot.wait_until(robot.is_matched, "the subscription")
    robot.publish_and_wait(poses[2], START + 2 * PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), np.eye(4))


def test_a_failure_to_configure_is_logged_and_ends_a_node_that_starts_itself(robot):
    failing = "from prnet_ros.node import main, node; node.OdometrySession = lambda *_: 1 / 0; raise SystemExit("
    robot.start_node(program=("-c", failing + "main.main())"), wait=False)
    assert robot.process.wait(60) == 1
    assert "on_configure failed" in robot.log() and "ZeroDivisionError" in robot.log()


def test_shutdown_of_an_active_node(robot, walk_poses):
    robot.start_node()
    robot.publish_and_wait(walk_poses(1)[0], START)
    manager = Manager(robot)
    assert manager.state == "active"
    assert manager.transition("active_shutdown") and manager.state == "finalized"
    assert robot.stop_node() == 0, robot.log()


def test_pause_and_resume(robot, walk_poses):
    robot.start_node()
    poses = walk_poses(3)
    robot.publish_and_wait(poses[0], START)
    assert trigger(robot, "pause").success
    robot.publish(robot.room.scan(poses[1]), START + PERIOD)
    robot.wait_for_count("paused", 1)
    assert len(robot.odometry) == 1
    assert trigger(robot, "resume").success
    robot.publish_and_wait(poses[2], START + 2 * PERIOD)
    assert_close(pose_matrix(robot.odometry[-1]), se3.invert(poses[0]) @ poses[2])


def test_reset_to_pose(robot, walk_poses):
    from geometry_msgs.msg import PoseWithCovarianceStamped

    from prnet_ros.node.frames import pose_message

    robot.start_node()
    poses = walk_poses(3)
    robot.publish_and_wait(poses[0], START)
    publisher = robot.ros.create_publisher(PoseWithCovarianceStamped, "/prnet/reset_to_pose", 1)
    robot.wait_until(lambda: publisher.get_subscription_count() > 0, "the subscription")
    T_odom_start = se3.exp(np.array([5.0, -2.0, 0.0, 0.0, 0.0, 2.0]))
    message = PoseWithCovarianceStamped()
    message.header.frame_id = "map"
    publisher.publish(message)
    robot.wait_until(lambda: "must be in 'odom', not in 'map'" in robot.log(), "the refusal")
    message.header.frame_id, message.pose.pose = "odom", pose_message(T_odom_start)
    message.pose.covariance = np.diag([0.04, 0.04, 0.04, 0.01, 0.01, 0.01]).ravel()
    publisher.publish(message)
    robot.wait_for_count("reset", 1)
    for i in (1, 2):
        robot.publish_and_wait(poses[i], START + i * PERIOD)
    assert_close(pose_matrix(robot.odometry[-2]), T_odom_start)
    assert_close(pose_matrix(robot.odometry[-1]), T_odom_start @ se3.invert(poses[1]) @ poses[2])
    assert robot.odometry[-1].pose.covariance[0] >= 0.04


def test_lost_scans_are_published_where_the_parameter_says_so(robot, walk_poses):
    robot.start_node(publish_lost=True)
    poses = walk_poses(2)
    robot.publish_and_wait(poses[0], START)
    robot.publish_and_wait(poses[1], START + PERIOD)
    nonsense = np.random.default_rng(0).normal(scale=0.1, size=(20, 3))
    robot.publish(nonsense, START + 2 * PERIOD)
    robot.wait_for_odometry(START + 2 * PERIOD)
    assert min(np.diag(np.reshape(robot.odometry[-1].pose.covariance, (6, 6)))) == 1e6
    robot.wait_for_count("rejected", 1)
    assert len(robot.transforms) == 2
