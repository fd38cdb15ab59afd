"""The search for a scan that is not near its prediction: on the local map, or on a keyframe."""

import time as clock
from dataclasses import dataclass

import numpy as np

from prnet_core.geometry import se3
from prnet_core.odometry.keyframes import Keyframe, Keyframes
from prnet_core.odometry.tracking import Registrations
from prnet_core.registration import RegistrationResult
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.search import Hypotheses

REACHABLE_TRANSLATION = 0.25  # of the median range, and
REACHABLE_ROTATION = 0.8  # radians beside the motion at the last velocity, how far the sensor moves unseen,
REACHABLE_TURN = 2.0  # and radians per second


@dataclass(frozen=True)
class Found:
    """A scan's place. T_map_sensor: (4, 4). frame: the keyframe that it was registered to; None: the local map."""

    T_map_sensor: np.ndarray
    result: RegistrationResult
    frame: Keyframe | None


class LostSearch:
    """One search for each scan, on another target each time, so that no scan waits long."""

    def __init__(self, registrations: Registrations):
        self._registrations = registrations

    def search_frame(
        self, source: PreparedCloud, points: np.ndarray, keyframes: Keyframes, num_lost: int, deadline: float
    ) -> Found | None:
        """Search at one keyframe, chosen by the number of lost scans; those most similar to the scan (N, 3) first."""
        frames = keyframes.most_similar_first(points)
        frame = frames[(num_lost - 1 - num_lost // 3) % len(frames)]
        target = keyframes.prepared(frame, self._registrations.relocation.config, source.voxel_size)
        result = self._relocate(source, target, num_lost, deadline)
        return Found(frame.T_map_sensor @ result.T_target_source, result, frame) if result.usable else None

    def search_map(
        self, source: PreparedCloud, target: PreparedCloud, guess: np.ndarray | None, num_lost: int, deadline: float
    ) -> Found | None:
        """Search on the local map. guess: (4, 4) or None, just after tracking: decides between alternatives."""
        if num_lost:
            result = self._relocate(source, target, num_lost, deadline)
        else:
            search, left = self._registrations.search, deadline - clock.perf_counter()
            result = search.register_prepared(source, target, guess, hypotheses="features", deadline=left)
        return Found(result.T_target_source, result, None) if result.usable else None

    def _relocate(
        self, source: PreparedCloud, target: PreparedCloud, num_lost: int, deadline: float
    ) -> RegistrationResult:
        """Register by features; if there is a network, by the network in every second round over the targets."""
        relocation, network = self._registrations.relocation, self._registrations.full.network
        relocation.network = network  # it may have been replaced
        kind: Hypotheses = "network" if network is not None and num_lost // 6 % 2 == 1 else "features"
        left = deadline - clock.perf_counter()
        return relocation.register_prepared(source, target, hypotheses=kind, deadline=left)


def is_map_next(num_lost: int) -> bool:
    """Whether the local map is the target after `num_lost` lost scans: at every third scan."""
    return num_lost % 3 == 0


def is_reachable(
    pose: np.ndarray, predicted: np.ndarray, twist: np.ndarray, elapsed: float, median_range: float
) -> bool:
    """Whether the sensor can have moved to a pose (4, 4) in `elapsed` seconds; otherwise it was carried.

    predicted: (4, 4). twist: (6,) the last one, m/s and rad/s. median_range: of the scan's points, metres.
    """
    distance, angle = se3.difference(predicted, pose)
    travelled = np.abs(elapsed) * twist
    max_distance = REACHABLE_TRANSLATION * median_range + np.linalg.norm(travelled[:3])
    max_angle = REACHABLE_ROTATION + REACHABLE_TURN * np.abs(elapsed) + np.linalg.norm(travelled[3:])
    return bool(distance < max_distance and angle < max_angle)
