"""The motion of the first two sweeps, when no velocity is known that would deskew them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.sweep import Sweep
from prnet_core.odometry.sweep_motion import refine_sweep
from prnet_core.odometry.tracking import tracking_config
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.preprocess import prepare_cloud

NUM_ROUNDS = 4
MAX_CORRECTION = 4.0  # voxels by which a pose may move when the sweep's own twist is estimated


def estimate_start_motion(
    config: RegistrationConfig,
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
    tracker = Registration(None, tracking_config(config))
    wide_tracker = Registration(None, replace(tracker.config, coarse_iterations=config.coarse_iterations))
    twists = [np.zeros(6), np.zeros(6)]
    status = ""
    for round_ in range(NUM_ROUNDS):
        target, source = (
            prepare_cloud(sweep.at_middle(twist), voxel_size, tracker.config, np.zeros((1, 3)))
            for sweep, twist in zip((first, second), twists)
        )
        registration = tracker if round_ else wide_tracker
        result = registration.register_prepared(source, target, T_first_second, hypotheses="guess")
        if not len(source) or not len(target):
            return None
        T_first_second, status = result.T_target_source, result.status
        if round_ == 0:
            twists = [se3.log(T_first_second) / elapsed] * 2
            continue
        if status == "accepted" and round_ > 1:
            break
        pairs = ((first, source, se3.invert(T_first_second)), (second, target, T_first_second))
        for i, (sweep, other, pose) in enumerate(pairs):
            refined = refine_sweep(sweep.points, sweep.times, pose, twists[i], other, MAX_CORRECTION)
            if refined is not None:
                twists[i] = refined[1]
    return (twists[0], twists[1]) if status == "accepted" else None
