"""Every number of mapping and localisation in one frozen object."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MappingConfig:
    """Choice of keyframes, loop closures, and the search for a scan. Lengths are in metres unless stated."""

    keyframe_distance: float = 0.2  # of a scan's median range: distance to the nearest keyframe that makes a new one,
    keyframe_angle: float = 0.6  # or this rotation, radians
    keyframe_points: int = 20_000  # points kept of a keyframe
    max_keyframes: int = 2000  # at the limit the keyframe nearest to its neighbours is dropped: 0.5 GB of points

    feature_points: int = 800  # points with local features, of a scan
    shortlisted_keyframes: int = 100  # most similar descriptors, whose signatures are compared
    retrieved_keyframes: int = 12  # most similar keyframes whose local features are matched
    transforms_per_keyframe: int = 2  # hypotheses taken from the matches with a keyframe
    verified_hypotheses: int = 6  # of all keyframes, refined and verified
    full_searches: int = 2  # keyframes searched with every kind of hypothesis when none is verified
    submap_keyframes: int = 4  # keyframes joined to the target of a registration
    rival_support: float = 0.5  # hypotheses elsewhere with this share of the best one's support are verified too
    rival_agreement: float = 0.88  # another place with this share of the best one's agreement makes it ambiguous
    same_place_angle: float = 0.35  # radians: poses that are rotated more than this differ

    closure_gap: int = 10  # keyframes between the two ends of a loop closure, at least
    closure_radius: float = 1.0  # of the median range: largest distance of the estimated positions of a closure
    closures_per_keyframe: int = 2
