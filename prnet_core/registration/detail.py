"""Detail: how much two clouds agree outside their largest planes. Corners of walls and floors fit many places.

Lengths are in voxels.
"""

from dataclasses import dataclass

import numpy as np

from prnet_core.registration.alignment import AlignmentQuality, SampleAgreement
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.sample import Sample, even_index

NUM_PLANES = 3  # two walls and the floor
PLANE_DISTANCE, PLANE_COSINE = 1.0, 0.9  # of a point and its normal that lie on a plane
TRIED_PLANES, TRIED_POINTS = 60, 500  # planes of single points, and the points that are counted on them
FEW_AGREEING = 20
FEW_ON_PLANE = 6


@dataclass(frozen=True)
class Detail:
    """What lies outside the three largest planes of the agreeing points; the smaller of both directions.

    share: points of the sample that agree there. agreement: of the visible points there that lie near the other cloud,
    the share on its surface.
    """

    share: float
    agreement: float


def measure_detail(
    source: PreparedCloud, target: PreparedCloud, quality: AlignmentQuality, config: RegistrationConfig
) -> Detail:
    """The detail of two clouds under the transform that `measure_alignment` has measured."""
    samples = (cloud.sample.limited(config.verified_points) for cloud in (source, target))
    details = [_one_way(*both) for both in zip(samples, quality.samples, strict=True)]
    return Detail(min(d.share for d in details), min(d.agreement for d in details))


def is_distinctive(detail: Detail, quality: AlignmentQuality, config: RegistrationConfig) -> bool:
    """Whether detail shows which of many places with like planes it is: much that agrees, or some that hardly differs.

    Without sensor origins some is enough, as what agrees there is not known to be seen, and less of it that hardly
    differs. Where free space is violated and a direction is hardly constrained, some detail may be what moves.
    """
    if quality.violation is None:
        is_clear = detail.share >= config.min_clear_detail_object and detail.agreement > config.clear_agreement_object
        return is_clear or detail.share >= config.min_detail
    if detail.share > config.clear_detail and detail.agreement > config.clear_detail_agreement:
        return True
    is_violated = quality.violation > config.max_violation_certain
    if is_violated and quality.degeneracy < config.min_information_moving:
        return False
    return detail.share >= config.min_detail and detail.agreement > config.min_detail_agreement


def _one_way(sample: Sample, measured: SampleAgreement) -> Detail:
    agrees = measured.agrees
    if agrees.sum() < FEW_AGREEING:
        return Detail(0.0, 0.0)
    beside = ~_on_planes(sample.points, sample.normals, agrees)
    near = measured.near & beside
    return Detail(float((agrees & beside).mean()), float(((near & agrees).sum() + 0.5) / (near.sum() + 1.0)))


def _on_planes(points: np.ndarray, normals: np.ndarray, agrees: np.ndarray) -> np.ndarray:
    """Which points (N, 3) lie on the largest planes of those that agree (N,), found one after the other."""
    on_planes = np.zeros(len(points), bool)
    for _ in range(NUM_PLANES):
        left = np.flatnonzero(agrees & ~on_planes)
        if len(left) < FEW_ON_PLANE:
            break
        tried, counted = (left[even_index(len(left), size)] for size in (TRIED_PLANES, TRIED_POINTS))
        heights = points[counted] @ normals[tried].T - np.sum(points[tried] * normals[tried], axis=1)
        on_each = (np.abs(heights) < PLANE_DISTANCE) & (np.abs(normals[counted] @ normals[tried].T) > PLANE_COSINE)
        first = tried[on_each.sum(axis=0).argmax()]
        members = points[left[_on_plane(points[left], normals[left], points[first], normals[first])]]
        if len(members) < FEW_ON_PLANE:
            break
        middle = members.mean(axis=0)
        normal = np.linalg.eigh(np.cov((members - middle).T))[1][:, 0]
        on_planes |= _on_plane(points, normals, middle, normal)
    return on_planes


def _on_plane(points: np.ndarray, normals: np.ndarray, middle: np.ndarray, normal: np.ndarray) -> np.ndarray:
    return (np.abs((points - middle) @ normal) < PLANE_DISTANCE) & (np.abs(normals @ normal) > PLANE_COSINE)
