"""Registration of a scan near its predicted pose, which is cheap, and its refinement."""

from __future__ import annotations

import time as clock

import numpy as np
import small_gicp

from prnet_core.geometry import se3
from prnet_core.odometry.prediction import Predicted
from prnet_core.odometry.sweep import Sweep
from prnet_core.odometry.sweep_motion import MAX_CORRECTION, refine_sweep
from prnet_core.odometry.tracking import Tracking, relocation_config, tracking_config
from prnet_core.registration import Registration, RegistrationResult
from prnet_core.registration.alignment import nearest
from prnet_core.registration.preprocess import PreparedCloud, prepare_cloud

SOURCE_VOXEL = 1.4  # voxels of the map: the map must be fine, a scan may have fewer points
MAX_DESKEWS = 3  # of a scan that is not accepted, each with the twist that the last registration gives
MAX_ACCELERATED_CORRECTION = 4.0  # voxels by which its pose may move
PREDICTED_POINTS = 1000  # of a sweep, that choose between predictions,
MAX_PREDICTED_DISTANCE = 5.0  # voxels from the target: farther points count as so far
MIN_NEAR = 0.5  # share of the points that a prediction must bring nearer than that
CHANGED_DESKEW = 0.25  # voxels by which another twist must move the first and last points of a sweep


class ScanTracker:
    """Registers scans to a target from a predicted pose alone. `registration`: for scans that are not tracked."""

    def __init__(self, registration: Registration, doubtful_overlap: float):
        self._registration = registration
        self._tracker = Registration(None, tracking_config(registration.config))
        self._relocator = Registration(None, relocation_config(registration.config))
        self._usual = Tracking(doubtful_overlap, registration.config.min_information)

    def prepare(self, sweep: Sweep, twist: np.ndarray, voxel_size: float) -> PreparedCloud:
        """A sweep, deskewed with a twist (6,), as a source."""
        points = sweep.at_middle(twist)
        if len(points) and voxel_size > 0.0:
            points = small_gicp.voxelgrid_sampling(points, SOURCE_VOXEL * voxel_size).points()[:, :3]
        return prepare_cloud(points, voxel_size, self._tracker.config, np.zeros((1, 3)))

    def track(
        self,
        sweep: Sweep,
        predicted: Predicted,
        target: PreparedCloud,
        deadline: float,
        is_tracking: bool,
        has_velocity: bool,
        is_lost: bool = False,
    ) -> tuple[RegistrationResult, np.ndarray]:
        """The result from a prediction, and the twist (6,) that the sweep was deskewed with.

        A scan that is not accepted is deskewed again with the twist that fits it better: the sensor accelerates.
        deadline: of `time.perf_counter()`. is_tracking: the last scan was used, and not long ago.
        has_velocity: the prediction is by a measured velocity, so that nearness to it verifies.
        is_lost: the last scan was lost, so that this attempt is one of two and must be cheap.
        """
        first: tuple[RegistrationResult, np.ndarray] | None = None
        registration = self._tracker if is_tracking else self._relocator if is_lost else self._registration
        guess, twist = predicted.pose, predicted.twist
        attempts = 1 if is_lost else MAX_DESKEWS
        for attempt in range(attempts):
            source = self.prepare(sweep, twist, target.voxel_size)
            left = deadline - clock.perf_counter()
            if attempt == MAX_DESKEWS - 1:
                registration, guess = self._registration, predicted.pose
            result = registration.register_prepared(source, target, guess, hypotheses="guess", deadline=left)
            if is_tracking and has_velocity:
                result = self._usual.accept_near(result, predicted.pose, sweep.scale)
            first = first or (result, twist)
            if result.usable:
                return result, twist
            if attempt == attempts - 1 or sweep.times is None or clock.perf_counter() > deadline:
                break
            refined = self.refine(sweep, twist, result.T_target_source, target, MAX_ACCELERATED_CORRECTION)
            if refined is None:
                break
            change = refined[1] - twist
            guess, twist = refined
            moved = np.linalg.norm(change[:3]) + np.linalg.norm(change[3:]) * sweep.scale
            if 0.5 * moved * np.ptp(sweep.times) < CHANGED_DESKEW * target.voxel_size:
                break
        if first is None:
            raise RuntimeError("no registration was tried")
        return first

    def refine(
        self,
        sweep: Sweep,
        twist: np.ndarray,
        T_target_sensor: np.ndarray,
        target: PreparedCloud,
        max_correction: float = MAX_CORRECTION,
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Pose at the sweep's middle and the sweep's own twist, or None where they do not converge."""
        return refine_sweep(sweep.points, sweep.times, T_target_sensor, twist, target, max_correction)

    def can_follow(self, result: RegistrationResult) -> bool:
        """Whether the trajectory continues from a result."""
        return result.usable or (result.status == "weak" and not self._usual.is_doubtful(result))

    def add(self, result: RegistrationResult) -> None:
        """Learn from a scan that was used how well scans usually fit."""
        self._usual.add(result)


def nearest_prediction(sweep: Sweep, predictions: list[Predicted], target: PreparedCloud) -> Predicted:
    """The prediction that brings a sweep nearest to a target, by some of its points."""
    if len(predictions) == 1 or len(sweep) == 0 or len(target) == 0:
        return predictions[0]
    return min(predictions, key=lambda predicted: float(_distances(sweep, predicted, target).mean()))


def is_near_target(sweep: Sweep, predicted: Predicted, target: PreparedCloud) -> bool:
    """Whether a prediction brings most points of a sweep near a target: from elsewhere no registration converges."""
    if len(sweep) == 0 or len(target) == 0:
        return False
    near = _distances(sweep, predicted, target) < MAX_PREDICTED_DISTANCE
    return bool(near.mean() > MIN_NEAR)


def _distances(sweep: Sweep, predicted: Predicted, target: PreparedCloud) -> np.ndarray:
    """Voxels from some points of a sweep to a target; at most MAX_PREDICTED_DISTANCE."""
    some = sweep.every(max(1, len(sweep) // PREDICTED_POINTS))
    points = se3.apply(predicted.pose, some.at_middle(predicted.twist))
    scaled = (points - target.centre) / target.voxel_size
    distances = nearest(target.level.tree, scaled, target.config.num_threads)[1]
    return np.minimum(distances, MAX_PREDICTED_DISTANCE)
