"""A pair of scans with the relative pose that is known for it, or known not to exist."""

from dataclasses import dataclass

import numpy as np

from prnet_core.geometry import se3

ORIGIN = np.zeros(3)


@dataclass(frozen=True)
class Pair:
    """Two scans (N, 3), (M, 3) in metres.

    T_target_source (4, 4) takes the source into the target's frame; None for different places. The origins (3,) are the
    sensors' in their clouds' frames, None where there is no single one. `group` is the kind of place and sensor;
    scans of one `recording` share a place, a day and a sensor. tolerance: degrees and metres of a correct answer.
    """

    group: str
    recording: str
    source_points: np.ndarray
    target_points: np.ndarray
    T_target_source: np.ndarray | None
    source_origin: np.ndarray | None = None
    target_origin: np.ndarray | None = None
    tolerance: tuple[float, float] = (2.0, 0.3)

    def errors(self, estimate: np.ndarray) -> tuple[float, float]:
        """Rotation error in degrees, and how far off the centre of the source lands, in metres; infinite for different
        places."""
        if self.T_target_source is None:
            return np.inf, np.inf
        error = se3.invert(self.T_target_source) @ estimate
        centre = self.source_points.mean(axis=0)
        distance = np.linalg.norm(se3.apply(error, centre[None])[0] - centre)
        return float(np.degrees(se3.rotation_angle(error[:3, :3]))), float(distance)

    def is_correct(self, estimate: np.ndarray) -> bool:
        """Within the tolerance; never for different places."""
        degrees, metres = self.errors(estimate)
        return degrees < self.tolerance[0] and metres < self.tolerance[1]
