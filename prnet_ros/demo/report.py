"""The numbers of a demo run, and the table that shows them."""

from dataclasses import dataclass

import numpy as np

from prnet_core.geometry.se3 import invert
from prnet_core.io.trajectories import Trajectory
from prnet_core.odometry.metrics import RelativePoseError, absolute_trajectory_error, match_stamps, relative_pose_error
from prnet_ros.demo.restart import Restart

_WITH_STATUS = ("first", "accepted", "weak")
_UNREGISTERED = {
    "weak": "weak, not published",
    "rejected": "rejected",
    "ambiguous": "ambiguous",
    "dropped": "dropped for newer ones",
    "ignored": "ignored (late stamp)",
    "paused": "received while paused",
    "outdated": "from before a reset",
    "waiting_for_": "without known extrinsics",
    "bad_cloud.": "unusable",
    "error.": "failed",
}
"""Counters of scans without odometry in the node's diagnostics, by prefix, with the name of the table's row."""
_ALWAYS_SHOWN = ("rejected", "dropped")


@dataclass(frozen=True)
class DemoResult:
    """The output of the node.

    trajectory: the poses on /tf. num_odometry: number of messages on odometry. values: of the node's last diagnostics.
    replay_time: seconds that the replay took.
    """

    trajectory: Trajectory
    num_odometry: int
    values: dict[str, str]
    replay_time: float


@dataclass(frozen=True)
class GroundTruthComparison:
    """An estimated trajectory against the ground truth, at the stamps both have.

    T_true_odom: (4, 4), from the odometry frame into that of the ground truth; the first poses of both are equal.
    estimate, ground_truth: (N, 4, 4) in the frame of the ground truth.
    ate: metres, rms after the best rigid alignment. end_drift: metres at the last pose, without alignment.
    path_length: metres of the true path. rpe: from each pose to the next.
    """

    T_true_odom: np.ndarray
    estimate: np.ndarray
    ground_truth: np.ndarray
    ate: float
    end_drift: float
    path_length: float
    rpe: RelativePoseError

    @property
    def position_errors(self) -> np.ndarray:
        """(N,) metres between the two."""
        return np.linalg.norm(self.estimate[:, :3, 3] - self.ground_truth[:, :3, 3], axis=1)


def compare_with_ground_truth(estimate: Trajectory, ground_truth: Trajectory | None) -> GroundTruthComparison | None:
    """None without a ground truth, or when fewer than two poses have one."""
    if ground_truth is None:
        return None
    poses, true_poses = match_stamps(estimate, ground_truth)
    if len(poses) < 2:
        return None
    T_true_odom = true_poses[0] @ invert(poses[0])
    poses = T_true_odom @ poses
    return GroundTruthComparison(
        T_true_odom=T_true_odom,
        estimate=poses,
        ground_truth=true_poses,
        ate=absolute_trajectory_error(poses, true_poses),
        end_drift=float(np.linalg.norm(poses[-1, :3, 3] - true_poses[-1, :3, 3])),
        path_length=path_length(true_poses),
        rpe=relative_pose_error(poses, true_poses),
    )


def path_length(poses: np.ndarray) -> float:
    """Metres from the first to the last of the poses (N, 4, 4), along them."""
    return float(np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1).sum())


def unregistered_scans(values: dict[str, str]) -> dict[str, int]:
    """Number of scans that were received and not registered, by the counter of the diagnostics."""
    names = tuple(_UNREGISTERED)
    counts = {name: int(value) for name, value in values.items() if name.startswith(names) and value.isdigit()}
    return {**counts, "weak": _unpublished_weak(values)}


def _unpublished_weak(values: dict[str, str]) -> int:
    """Number of weak scans that the node did not publish, as its parameter `publish_weak` says."""
    first, accepted, weak, registered = (int(values.get(name, 0)) for name in (*_WITH_STATUS, "registered"))
    return min(weak, max(0, first + accepted + weak - registered))


def table(
    num_scans: int, result: DemoResult, comparison: GroundTruthComparison | None, restart: Restart | None = None
) -> str:
    values = result.values
    rows = [("scans in the bag", f"{num_scans}"), ("received", values.get("received", "?"))]
    if lost := num_scans - int(values.get("received", num_scans)):
        rows.append(("not received", f"{lost}"))
    rows += [
        ("registered", _registered(values)),
        *_unregistered_rows(values),
        ("poses on /tf", f"{len(result.trajectory)}"),
        ("messages on odometry", f"{result.num_odometry}"),
        ("replayed in", f"{result.replay_time:.1f} s"),
        ("latency, median", f"{values.get('latency_median_ms') or '?'} ms"),
        ("latency, 95th percentile", f"{values.get('latency_p95_ms') or '?'} ms"),
    ]
    if comparison is None:
        rows.append(("trajectory error", "the bag has no ground truth for these scans"))
    else:
        rows += _error_rows(comparison)
    if restart is not None:
        rows.append(("started again in the map", restart_text(restart)))
    width = max(len(name) for name, _ in rows)
    rule = "-" * (width + 34)
    return "\n".join([rule, *(f"{name:<{width}}  {value}" for name, value in rows), rule])


def restart_text(restart: Restart) -> str:
    """Place and time of the localisation, or the reason why it failed."""
    scans = f"{restart.num_scans} scan{'s' if restart.num_scans != 1 else ''}"
    if not restart.poses:
        return f"at scan {restart.scan}: not found after {scans}: {restart.problem or 'no pose of these scans'}"
    first, last = ("{:.3f} m, {:.2f} deg".format(*pose.errors) for pose in (restart.poses[0], restart.poses[-1]))
    return f"at scan {restart.scan}: found after {scans} in {restart.seconds:.2f} s, {first} off; {last} when followed"


def _unregistered_rows(values: dict[str, str]) -> list[tuple[str, str]]:
    """A row for each counter above zero, and for those that matter on any bag."""
    counts = {**dict.fromkeys(_ALWAYS_SHOWN, 0), **unregistered_scans(values)}
    rows = []
    for counter, number in counts.items():
        if number or counter in _ALWAYS_SHOWN:
            prefix = next(prefix for prefix in _UNREGISTERED if counter.startswith(prefix))
            kind = counter.removeprefix(prefix) if prefix.endswith(".") else ""
            rows.append((_UNREGISTERED[prefix] + (f" ({kind.replace('_', ' ')})" if kind else ""), f"{number}"))
    return rows


def _registered(values: dict[str, str]) -> str:
    counts = {name: int(values.get(name, 0)) for name in _WITH_STATUS}
    counts["weak"] -= _unpublished_weak(values)
    parts = [f"{number} {name}" for name, number in counts.items() if number]
    return f"{values.get('registered', '?')}  ({', '.join(parts)})"


def _error_rows(comparison: GroundTruthComparison) -> list[tuple[str, str]]:
    rpe = comparison.rpe
    share = 100.0 * comparison.end_drift / comparison.path_length if comparison.path_length > 0.0 else float("nan")
    return [
        ("length of the path", f"{comparison.path_length:.2f} m, {len(comparison.ground_truth)} poses"),
        ("ATE (rms)", f"{comparison.ate:.4f} m"),
        ("drift at the end", f"{comparison.end_drift:.4f} m = {share:.2f} % of the path"),
        ("RPE scan to scan, rms", f"{rpe.translation_rmse:.4f} m, {rpe.rotation_rmse_deg:.3f} deg"),
        ("RPE scan to scan, largest", f"{rpe.translation_max:.4f} m, {rpe.rotation_max_deg:.3f} deg"),
    ]
