"""The odometry's answer to one scan."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from prnet_core.odometry.sweep import Sweep
from prnet_core.registration import RegistrationResult


@dataclass(frozen=True)
class OdometryUpdate:
    """Answer to one scan.

    status: 'first' (starts the trajectory), 'accepted', 'weak' (plausible, wide covariance), 'rejected' (no motion was
        found; the pose is the prediction and must not be published), 'ignored' (the stamp is late or an outlier),
        'reset' (time went back: the trajectory starts again with this scan).
    T_odom_sensor: (4, 4), takes points of the sensor's frame at the stamp into the frame of the first scan. It never
        jumps except at a reset: a scan that was found again at an old keyframe continues from the prediction.
    T_map_odom: (4, 4), the correction that relocations add up to: T_map_odom T_odom_sensor is the pose in the map of
        the keyframes. Identity until the first relocation. is_relocated: this scan changed it.
    map_id: number of the map of the keyframes. It changes at a reset, and where the trajectory continues with scans
        that were lost (OdometryConfig.new_map_after): poses in two of these maps are related by a predicted step.
    T_previous_sensor: (4, 4), motion since the last scan that was used.
    twist: (6,) vx vy vz wx wy wz, m/s and rad/s, in the sensor's frame; zero where it is not known.
    elapsed: seconds over which the motion was measured, or None: at the first scan, and after a relocation.
    covariance: (6, 6) of T_odom_sensor, x y z rx ry rz about the odometry frame's axes; it grows.
    sweep: the scan's usable points as measured; `points` are they deskewed, `rows` the rows of the input that they are.
    notes: what was left out or not trusted in this scan, as text.
    """

    status: str
    reason: str
    stamp: float
    T_odom_sensor: np.ndarray
    T_previous_sensor: np.ndarray
    twist: np.ndarray
    covariance: np.ndarray
    elapsed: float | None = None
    registration: RegistrationResult | None = None
    T_map_odom: np.ndarray = field(default_factory=lambda: np.eye(4))
    is_relocated: bool = False
    map_id: int = 0
    sweep: Sweep | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()

    @cached_property
    def points(self) -> np.ndarray:
        """(M, 3) float64: the usable points, deskewed with `twist`, in the sensor's frame at the stamp."""
        return np.zeros((0, 3)) if self.sweep is None else self.sweep.at_stamp(self.twist)

    @property
    def rows(self) -> np.ndarray:
        """(M,) rows of the input that `points` are, to take other fields (intensity) along."""
        return np.zeros(0, dtype=np.int64) if self.sweep is None else self.sweep.rows
