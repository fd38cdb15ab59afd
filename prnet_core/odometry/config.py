"""Numbers of the odometry in one frozen object."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class OdometryConfig:
    """How scans are chained to a trajectory.

    target: what a scan is registered to: the 'previous' scan, the last 'keyframe', or the 'map' of the last key
        frames.
    """

    target: Literal["previous", "keyframe", "map"] = "keyframe"
    map_keyframes: int = 10  # key frames in the map
    keyframe_overlap: float = 0.8  # a new key frame when less of the scan than this lies on the target,
    keyframe_confidence: float = 0.97  # or is trusted less than this, as noisy far views are,
    keyframe_distance: float = 0.25  # or when moved this far, in parts of the scan's median range,
    keyframe_angle: float = 0.35  # or turned this far, radians
    map_points: int = 20_000  # points kept of a key frame

    deskew: bool = True  # undo the motion within a scan when its points have times
    max_prediction: float = 3.0  # seconds that the last velocity is trusted; after that: standing still
    doubtful_overlap: float = 0.6  # of the usual overlap: a weak result below it counts as lost
    reset_jump: float = 1.0  # seconds back in time that are a reset; less is a late scan, ignored
    remembered_keyframes: int = 40  # key frames kept for finding oneself again
    relocation_attempts: int = 3  # of them tried with each scan while lost

    def __post_init__(self):
        if self.target not in ("previous", "keyframe", "map"):
            raise ValueError(f"target must be 'previous', 'keyframe' or 'map', not {self.target!r}")
