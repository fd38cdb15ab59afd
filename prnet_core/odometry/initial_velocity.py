"""The velocities of the first two sweeps, when none is known that would deskew them."""

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.sweep import Sweep
from prnet_core.odometry.sweep_motion import refine_sweep
from prnet_core.odometry.tracking import Registrations
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.preprocess import PreparedCloud, prepare_cloud
from prnet_core.registration.refine import align
from prnet_core.registration.registration import from_voxels, to_voxels

NUM_ROUNDS = 4
FIRST_VERIFIED = 2  # round: before it the sweeps are hardly deskewed
MAX_POINTS = 12_000  # of a sweep, about: the voxel filter leaves a few thousand
MAX_CORRECTION = 4.0  # voxels by which a pose may move when the sweep's own twist is estimated


def estimate_initial_velocities(
    registrations: Registrations,
    first: Sweep,
    second: Sweep,
    elapsed: float,
    voxel_size: float,
    T_first_second: np.ndarray,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Twists (6,) of the first and of the second sweep, m/s and rad/s in the sensor's frame, or None.

    elapsed: seconds from the first sweep's middle to the second's. T_first_second: (4, 4) initial guess of the second
    pose at its middle in the first's. Alternates between the relative pose of both sweeps, deskewed, and the twist of
    each, which starts at the mean velocity; a coarse stage comes first, as the guess may be far
    off. None when the deskewed sweeps are not accepted in the end.
    """
    config, tracking = registrations.full.config, registrations.tracking
    first, second = (sweep.every(max(1, len(sweep) // MAX_POINTS)) for sweep in (first, second))
    twists = [np.zeros(6), np.zeros(6)]
    for round_ in range(NUM_ROUNDS):
        target, source = (
            prepare_cloud(sweep.at_middle(twist), voxel_size, tracking.config, np.zeros((1, 3)))
            for sweep, twist in zip((first, second), twists)
        )
        if not len(source) or not len(target):
            return None
        if round_ < FIRST_VERIFIED:
            T_first_second = _aligned(source, target, T_first_second, config, with_coarse_stage=round_ == 0)
        else:
            result = tracking.register_prepared(source, target, T_first_second, hypotheses="guess")
            T_first_second = result.T_target_source
            if result.status == "accepted":
                return twists[0], twists[1]
        if round_ == 0:
            twists = [se3.log(T_first_second) / elapsed] * 2
            continue
        pairs = ((first, source, se3.invert(T_first_second)), (second, target, T_first_second))
        for i, (sweep, other, pose) in enumerate(pairs):
            refined = refine_sweep(sweep.points, sweep.times, pose, twists[i], other, MAX_CORRECTION)
            if refined is not None:
                twists[i] = refined[1]
    return None


def _aligned(
    source: PreparedCloud,
    target: PreparedCloud,
    T_target_source: np.ndarray,
    config: RegistrationConfig,
    with_coarse_stage: bool,
) -> np.ndarray:
    """The pose (4, 4) after the coarse and the fine stage, not verified."""
    transform = to_voxels(T_target_source, source, target)
    if with_coarse_stage:
        levels = source.coarse_level, target.coarse_level
        transform = align(*levels, transform, config.coarse_distance_voxels, config.coarse_iterations, config)
    limits = config.fine_distance_voxels, config.fine_iterations
    return from_voxels(align(source.level, target.level, transform, *limits, config), source, target)
