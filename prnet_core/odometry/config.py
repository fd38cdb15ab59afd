"""Numbers of the odometry in one frozen object."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OdometryConfig:
    """How scans are chained to a trajectory."""

    target: str = "keyframe"  # 'previous' | 'keyframe' | 'map'
    keyframe_overlap: float = 0.6  # a new key frame when less than this share of the scan overlaps it
