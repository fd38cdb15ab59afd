"""Every number of the registration in one frozen object. Lengths in voxels unless the name says metres."""

from dataclasses import dataclass, replace
from math import inf

FEW_VERIFIED_POINTS = 1000  # of each cloud, where a registration must be fast


@dataclass(frozen=True)
class RegistrationConfig:
    """How two clouds are prepared, matched, refined and verified.

    Distances written `*_voxels` are multiples of the voxel size of the pair, so that one set of numbers
    serves objects of centimetres and streets of a hundred metres.
    """

    voxel_size: float | None = None  # in the clouds' unit; None: chosen from the clouds' own scale
    target_points: int = 5000  # points left after the voxel filter that the automatic voxel size aims at
    min_range: float = 0.0  # distance from the sensor's origin, in the clouds' unit
    max_range: float = inf
    num_neighbors: int = 15  # neighbours for normals and covariances
    num_threads: int = 1  # threads of small_gicp
    min_points: int = 30  # fewer points than this after the filter cannot be registered

    coarse_factor: float = 3.0  # voxel of the coarse stage, in voxels
    fine_factor: float = 1.5  # voxel of the source in the fine stage of several hypotheses
    coarse_distance_voxels: float = 12.0  # largest distance of a correspondence, coarse stage
    fine_distance_voxels: float = 3.0  # fine stage
    final_distance_voxels: float = 1.0  # last stage: the edge of the overlap no longer pulls
    coarse_iterations: int = 30
    fine_iterations: int = 12  # a correct hypothesis needs two or three, an incorrect one does not converge
    final_iterations: int = 12
    refined_hypotheses: int = 4  # hypotheses of a stage that reach the fine stage,
    finished_share: float = 0.5  # and the last one, with this share of the best one's points near the target
    min_meeting_fine: float = 0.08  # share of the source that meets surfaces of the target within the distance of the
    min_meeting_final: float = 0.15  # fine and of the last stage before it: of less too little could be verified

    overlapping_share: float = 0.43  # the identity and the centroids wait for a network with rotation-invariant inputs,
    # unless this share of the source comes near the target in their coarse stage
    network_points: int = 384  # points that the network sees: it gives a hypothesis, not the final precision
    surface_points: int = 768  # the same for a network with rotation-invariant inputs
    network_passes: int = 2
    network_samples: int = 1  # further samples when nothing is verified,
    network_rotations: int = 4  # each rotated this often about the vertical
    network_hypotheses: int = 5  # transforms taken from a network with rotation-invariant inputs,
    matched_distance_voxels: float = 6.0  # the distance and iterations of their coarse stage,
    matched_iterations: int = 10
    matched_share: float = 0.2  # those that reach the last stage, with this share of the most agreement of descriptors,
    descriptor_weight: float = 8.0  # whose logarithm counts so much in the rank of all candidates
    min_descriptor_share: float = 0.93  # the descriptors prefer a transform with this share of the most agreement
    min_descriptor_agreement: float = 0.015  # elsewhere; they are clear from this agreement, if it
    outstanding_descriptors: float = 4.0  # is this many times that of every other transform
    min_surface_matched: float = 0.8  # sensor origin not known: accepted though weak or ambiguous, where they are clear
    # and this share of what is near the other cloud lies on its surface
    feature_points: int = 1500  # points with features
    feature_radius: float = 6.0  # in voxels of the features' own filter
    feature_neighbors: int = 40
    feature_hypotheses: int = 4  # transforms taken from the feature matches

    inlier_distance_voxels: float = 1.0
    overlap_distance_voxels: float = 2.0
    better_score: float = 0.3  # by which a later hypothesis must beat an earlier one
    min_inliers: int = 50
    max_scan_time: float = inf  # seconds of one call; no further hypothesis begins that would not end by then

    refined_alternatives: int = 4  # rotations of a symmetric object that reach the final stage,
    alternative_share: float = 0.65  # with this share of the best transform's points near the target
    alternative_iterations: int = 3  # of their coarse stage, and
    promising_iterations: int = 7  # further ones of those that then have
    promising_share: float = 0.6  # this share of these points
    distinct_distance_voxels: float = 4.0  # transforms that move the points further apart are different
    rival_margin: float = 0.2  # by which one must fit better than another (0.2: 7 % more agreement),
    rival_margin_violated: float = 0.8  # above `max_violation_certain`, where moving things might decide,
    guess_margin: float = 0.35  # and than one near the guess
    rival_violation_factor: float = 6.0  # one that violates free space so many times as much is no rival, see `decide`
    guess_angle: float = 0.5  # radians from the guess within which it decides between symmetric alternatives
    nearer_rivals: bool = False  # farther from it only those are compared that are rotated less from the guess

    verified_points: int = 2500  # points of each cloud that free space and agreement are measured with
    max_violation_accepted: float = 0.03  # free-space violation; sensor origins known
    min_agreement_accepted: float = 0.2
    agreement_per_violation: float = 20.0  # and more by this times the violation above `max_violation_certain`
    min_surface_agreement: float = 0.78  # of what is seen near the other cloud, the share on its surface,
    surface_per_violation: float = 8.0  # and more by this times the violation above `max_violation_certain`
    min_across_agreement: float = 0.2  # of what is seen across the least constrained axis: less is slid along it
    min_detail: float = 0.05  # share that agrees outside the largest planes, without a guess
    min_detail_agreement: float = 0.75  # of what both see there, the share that agrees, if there is less than
    clear_detail: float = 0.1  # this share, and if there is more
    clear_detail_agreement: float = 0.6
    max_violation_weak: float = 0.045
    min_agreement_weak: float = 0.3
    is_tracked: bool = False  # near a prediction moving things may violate free space where surfaces meet, see `verify`

    min_agreement_certain: float = 0.75  # an accepted transform ends the search above this agreement and
    max_violation_certain: float = 0.01  # below this violation, or
    min_agreement_seen: float = 0.6  # above this agreement, with hardly any violation, where
    min_seen_agreement_certain: float = 0.9  # this share of what both sensors see agrees
    min_both_agreements: float = 0.65  # or both this below that violation: scans that are noisy or not deskewed
    min_inliers_certain: int = 1800  # near a guess: fewer points do not show how a flipped room differs,
    min_surface_certain: float = 0.92  # and the surfaces of a flipped corridor meet less
    max_violation_outstanding: float = 0.1  # moving things: accepted up to this violation where surfaces meet so well,
    min_surface_outstanding: float = 0.91
    outstanding_agreement: float = 1.1  # and the agreement is this many times that of every other transform, and
    violation_per_detail: float = 3.0  # this times the violation divided by the share outside the largest planes
    min_surface_rough: float = 0.65  # sparse scans of leaves and edges, whose surfaces meet less: accepted from this,
    max_violation_rough: float = 0.25  # up to this violation divided by the share outside the largest planes,
    outstanding_agreement_rough: float = 1.6  # where the agreement is this many times that of every other transform
    min_information_moving: float = 0.012  # a violated scene that hardly constrains a direction needs clear detail

    min_agreement_weak_object: float = 0.32  # sensor origin not known
    min_clear_detail_object: float = 0.04  # share that agrees outside the largest planes, where of what both see there
    clear_agreement_object: float = 0.8  # more than this share agrees
    min_agreement_certain_object: float = 0.57  # no further hypotheses are tried from this agreement, or
    min_surface_certain_object: float = 0.85  # this surface agreement
    full_overlap: float = 0.85  # clouds that both overlap so far, no further apart than
    full_overlap_residual: float = 0.42  # this, in voxels, are noisy rather than misaligned: weak

    correlated_points: float = 20.0  # inliers that share their error: calibrated, docs/results
    min_information: float = 0.005  # eigenvalue below which a direction counts as free
    weak_variance_factor: float = 25.0  # a weak result's covariance is this much wider

    def __post_init__(self) -> None:
        if self.voxel_size is not None and not 0.0 < self.voxel_size < inf:
            raise ValueError(f"voxel_size must be positive, not {self.voxel_size}")
        if not 0.0 <= self.min_range < self.max_range:
            raise ValueError(f"max_range ({self.max_range}) must be above min_range ({self.min_range}), none negative")


def without_alternatives(config: RegistrationConfig) -> RegistrationConfig:
    """The same verification near a guess, without other transforms to compare.

    Nothing is accepted because all others agree less, and violations that only moving things make need no more
    agreement than none.
    """
    return replace(
        config,
        min_detail=0.0,
        clear_detail=-1.0,
        clear_detail_agreement=-1.0,
        max_violation_outstanding=0.0,
        max_violation_certain=inf,
        min_surface_agreement=0.68,
        min_inliers_certain=0,
        min_surface_certain=-1.0,
        min_agreement_certain=-1.0,
    )


def quick_config(config: RegistrationConfig) -> RegistrationConfig:
    """Configuration of a quick search: the most promising hypothesis of a few, refined just far enough to be verified.

    A correct hypothesis converges within a few iterations; a registration from the result refines it.
    """
    return replace(
        config,
        coarse_iterations=min(10, config.coarse_iterations),
        fine_iterations=min(6, config.fine_iterations),
        final_iterations=min(6, config.final_iterations),
        feature_hypotheses=2,
        network_hypotheses=1,
        refined_hypotheses=1,
        verified_points=min(FEW_VERIFIED_POINTS, config.verified_points),
    )
