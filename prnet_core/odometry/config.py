"""Numbers of the odometry in one frozen object."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OdometryConfig:
    """Settings of the odometry.

    A scan is registered to a local map: the last `map_keyframes` keyframes, joined and voxel filtered. Distances
    are in parts of the scan's median range, so that one set of numbers serves a table, a room and a street.
    """

    map_keyframes: int = 15  # keyframes in the local map
    keyframe_distance: float = 0.25  # a new keyframe after this translation, in parts of the scan's median range,
    keyframe_angle: float = 0.3  # or after this rotation, radians,
    keyframe_overlap: float = 0.8  # or when less of the scan than this overlaps the local map
    keyframe_points: int = 20_000  # points kept of a keyframe
    remembered_keyframes: int = 100  # keyframes kept for relocation, those at crowded places dropped first

    deskew: bool = True  # undo the motion within a scan by the times of its points, given or estimated
    max_prediction: float = 3.0  # seconds for which the last velocity predicts; after that: standing still
    max_scan_time: float | None = None  # seconds for one scan; None: twice the time between stamps, 1 s while lost
    new_map_after: int | None = 30  # lost scans in a row after which the last ones make a new local map; None: never
    doubtful_overlap: float = 0.6  # of the usual overlap: a weak result below it counts as lost
    reset_jump: float = 1.0  # seconds that a stamp may jump before the next stamps must confirm it

    def __post_init__(self) -> None:
        if self.new_map_after is not None and self.new_map_after < 1:
            raise ValueError(f"new_map_after must be at least 1, not {self.new_map_after}")
        if self.max_scan_time is not None and not self.max_scan_time > 0.0:
            raise ValueError(f"max_scan_time must be positive seconds, not {self.max_scan_time}")
