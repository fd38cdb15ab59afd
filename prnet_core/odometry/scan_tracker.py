"""Fast registration of a scan near its predicted pose."""

import time as clock
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import small_gicp

from prnet_core.geometry import se3
from prnet_core.odometry.keyframes import Keyframe
from prnet_core.odometry.prediction import Predicted
from prnet_core.odometry.sweep import Sweep
from prnet_core.odometry.sweep_motion import refine_sweep
from prnet_core.odometry.tracking import Tracking
from prnet_core.registration import Registration, RegistrationConfig, RegistrationResult
from prnet_core.registration.alignment import nearest
from prnet_core.registration.preprocess import PreparedCloud, prepare_cloud

SOURCE_VOXEL = 1.4  # voxels of the map: the map must be fine, a scan may have fewer points
MAX_CORRECTION = 4.0  # voxels by which the pose of a sweep that accelerates may move
PREDICTED_POINTS = 1000  # of a sweep, that choose between predictions,
PRESELECTING_POINTS, NUM_PRESELECTED = 250, 6  # that choose so many of many predictions first
MAX_PREDICTED_DISTANCE = 5.0  # voxels from the target: farther points count as so far
NEAR_DISTANCE, MIN_NEAR = 3.0, 0.5  # voxels: a prediction must bring this share of the points so near the target
CHANGED_DESKEW = 0.25  # voxels by which another twist must move the first and last points of a sweep


@dataclass(frozen=True)
class Tracked:
    """result: its T_target_source is T_map_sensor. twist: (6,) that the sweep was deskewed with.

    predicted: (4, 4) T_map_sensor, which counts where the scene does not constrain all directions. frame: the last
    scan, if the result is by that one; None: by the local map. is_far: found farther from its prediction, which takes
    as long as several scans.
    """

    result: RegistrationResult
    twist: np.ndarray
    predicted: np.ndarray
    frame: Keyframe | None = None
    is_far: bool = False


Attempt = tuple[Predicted, tuple[Registration, ...]]  # a prediction, and the registrations to try from it in turn


def attempts(predictions: Iterable[Predicted], registrations: tuple[Registration, ...]) -> Iterator[Attempt]:
    """The same registrations from each prediction."""
    return ((predicted, registrations) for predicted in predictions)


def track(
    sweep: Sweep,
    predicted: Predicted,
    target: PreparedCloud,
    registrations: tuple[Registration, ...],
    usual: Tracking | None,
    source_config: RegistrationConfig,
    num_neighbors: int | None,
    deadline: float,
) -> tuple[RegistrationResult, np.ndarray]:
    """The result of a registration from a prediction alone, and the twist (6,) that the sweep was deskewed with.

    registrations: tried in turn until a result is usable. Between two of them the sweep is deskewed again with the
    twist that fits it better, as the sensor accelerates; the last one begins at the prediction again. A sweep without
    times is tried once with each registration. usual: accepts a result by its nearness to the prediction; None:
    nearness does not verify.
    source_config, num_neighbors: that the sweep is prepared with, as `prepare_cloud` takes them. deadline: of
    `time.perf_counter()`.
    """
    first: tuple[RegistrationResult, np.ndarray] | None = None
    guess, twist = predicted.pose, predicted.twist
    if sweep.times is None:
        registrations = tuple(dict.fromkeys(registrations))
        source = prepare_sweep(sweep, twist, target.voxel_size, source_config, num_neighbors)
    for number, registration in enumerate(registrations, start=1):
        if number == len(registrations):
            guess = predicted.pose
        if sweep.times is not None:
            source = prepare_sweep(sweep, twist, target.voxel_size, source_config, num_neighbors)
        left = deadline - clock.perf_counter()
        result = registration.register_prepared(source, target, guess, hypotheses="guess", deadline=left)
        if usual is not None:
            result = usual.accept_near(result, predicted.pose, sweep.scale)
        first = first or (result, twist)
        if result.usable:
            return result, twist
        if number == len(registrations) or clock.perf_counter() > deadline:
            break
        if sweep.times is None:
            continue
        refined = refine_sweep(sweep.points, sweep.times, result.T_target_source, twist, target, MAX_CORRECTION)
        if refined is None:
            break
        change = refined[1] - twist
        guess, twist = refined
        moved = np.linalg.norm(change[:3]) + np.linalg.norm(change[3:]) * sweep.scale
        if 0.5 * moved * np.ptp(sweep.times) < CHANGED_DESKEW * target.voxel_size:
            break
    if first is None:
        raise ValueError("no registration to try")
    return first


def prepare_sweep(
    sweep: Sweep, twist: np.ndarray, voxel_size: float, config: RegistrationConfig, num_neighbors: int | None = None
) -> PreparedCloud:
    """A sweep, deskewed with a twist (6,), as a source. num_neighbors: as `prepare_cloud` takes it."""
    points = sweep.at_middle(twist)
    if len(points) and voxel_size > 0.0:
        points = small_gicp.voxelgrid_sampling(points, SOURCE_VOXEL * voxel_size).points()[:, :3]
    return prepare_cloud(points, voxel_size, config, np.zeros((1, 3)), num_neighbors=num_neighbors)


def nearest_prediction(sweep: Sweep, predictions: list[Predicted], target: PreparedCloud) -> Predicted:
    """The prediction that brings a sweep nearest to a target, by some points; of many, by few points at first."""
    if len(predictions) == 1 or len(sweep) == 0 or len(target) == 0:
        return predictions[0]
    if len(predictions) > NUM_PRESELECTED:
        few = sweep.every(max(1, len(sweep) // PRESELECTING_POINTS))
        distances = [mean_distance(few, predicted, target) for predicted in predictions]
        predictions = [predictions[i] for i in sorted(np.argsort(distances)[:NUM_PRESELECTED])]
    return min(predictions, key=lambda predicted: mean_distance(sweep, predicted, target))


def mean_distance(sweep: Sweep, predicted: Predicted, target: PreparedCloud) -> float:
    """Voxels from the points of a sweep to a target, by some of its points; 0 where there are none."""
    return float(_distances(sweep, predicted, target).mean()) if len(sweep) and len(target) else 0.0


def is_near_target(sweep: Sweep, predicted: Predicted, target: PreparedCloud) -> bool:
    """Whether a prediction brings most points of a sweep near a target: from elsewhere no registration converges."""
    if len(sweep) == 0 or len(target) == 0:
        return False
    near = _distances(sweep, predicted, target) < NEAR_DISTANCE
    return bool(near.mean() > MIN_NEAR)


def _distances(sweep: Sweep, predicted: Predicted, target: PreparedCloud) -> np.ndarray:
    """Voxels from some points of a sweep to a target; at most MAX_PREDICTED_DISTANCE."""
    some = sweep.every(max(1, len(sweep) // PREDICTED_POINTS))
    points = se3.apply(predicted.pose, some.at_middle(predicted.twist))
    scaled = (points - target.centre) / target.voxel_size
    distances = nearest(target.level.tree, scaled, target.config.num_threads)[1]
    return np.minimum(distances, MAX_PREDICTED_DISTANCE)
