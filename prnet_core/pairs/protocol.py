"""Test pairs of the paper's protocol, seeded by their index so that every method gets the same pairs.

1. X = the shape's first 1024 points, Y = R X + t the same points, R = Rx Ry Rz with angles uniform in
   [0, 45] degrees, t uniform in [-0.5, 0.5]^3.
2. Both are permuted.
3. With noise: N(0, 0.01) clipped to [-0.05, 0.05], drawn separately for X and Y.
4. Crop: the 768 points nearest to one far viewpoint, the same for X and for the already rotated Y. "full" has no crop:
   768 points of X and of Y by farthest point sampling, each from a random first point.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3
from prnet_core.geometry.farthest_points import farthest_points

VIEWPOINT_DISTANCE = 500.0


@dataclass(frozen=True)
class Protocol:
    """Settings of the test pairs. Lengths in units of the unit sphere.

    num_points          number of points used of the shape
    num_kept            number of points left by the crop; num_points: no crop
    noise               standard deviation; clipped at five standard deviations
    max_angle_deg       each Euler angle is uniform in [0, max_angle_deg]
    max_translation     each coordinate of t is uniform in [-max_translation, max_translation]
    independent_views   X and Y are cropped from independent viewpoints, each uniform over all directions
    twice_sampled       X and Y are different surface points of the shape, num_points each
    farthest_points     X and Y are farthest point samples of the whole cloud instead of crops
    """

    name: str
    num_points: int = 1024
    num_kept: int = 768
    noise: float = 0.0
    max_angle_deg: float = 45.0
    max_translation: float = 0.5
    independent_views: bool = False
    twice_sampled: bool = False
    farthest_points: bool = False


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol("objects"),
        Protocol("noise", noise=0.01),
        Protocol("hard", noise=0.01, independent_views=True, twice_sampled=True),
        Protocol("full", farthest_points=True),
    )
}


def protocol_pair(
    points: np.ndarray, index: int, protocol: Protocol | str = "objects"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The test pair number `index`, made from `points` (P, 3), P >= num_points (twice that when twice sampled).

    Returns source X (num_kept, 3) float32, target Y (num_kept, 3) float32 and T_target_source (4, 4) float64.
    Raises KeyError for an unknown protocol's name, ValueError for too few points.
    """
    if isinstance(protocol, str):
        protocol = PROTOCOLS[protocol]
    needed = protocol.num_points * (2 if protocol.twice_sampled else 1)
    if len(points) < needed:
        raise ValueError(f"protocol {protocol.name!r} needs {needed} points per shape, got {len(points)}")
    rng = np.random.default_rng(index)

    angles = rng.uniform(0.0, protocol.max_angle_deg, size=3)
    rotation = Rotation.from_euler("XYZ", angles, degrees=True).as_matrix()
    translation = rng.uniform(-protocol.max_translation, protocol.max_translation, size=3)
    T_target_source = se3.make_transform(rotation, translation)

    points = np.asarray(points, dtype=np.float64)
    if protocol.twice_sampled:
        source, target = np.split(points[rng.permutation(len(points))[:needed]], 2)
    else:
        source = target = points[:needed]
    source = rng.permutation(source)
    target = se3.apply(T_target_source, rng.permutation(target))
    if protocol.noise > 0:
        source, target = (_jitter(cloud, protocol.noise, rng) for cloud in (source, target))
    if protocol.farthest_points:
        source, target = (_farthest(cloud, protocol.num_kept, rng) for cloud in (source, target))
    elif protocol.num_kept < protocol.num_points:
        if protocol.independent_views:
            viewpoints = [VIEWPOINT_DISTANCE * _random_direction(rng) for _ in range(2)]
        else:
            viewpoints = [VIEWPOINT_DISTANCE * rng.choice([-1.0, 1.0]) + rng.random(3)] * 2
        source, target = (
            _nearest(cloud, viewpoint, protocol.num_kept)
            for cloud, viewpoint in zip((source, target), viewpoints, strict=True)
        )
    return source.astype(np.float32), target.astype(np.float32), T_target_source


def _farthest(points: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    return points[farthest_points(points, count, int(rng.integers(len(points))))]


def _jitter(points: np.ndarray, sigma: float, rng: np.random.Generator) -> np.ndarray:
    return points + np.clip(rng.normal(scale=sigma, size=points.shape), -5 * sigma, 5 * sigma)


def _random_direction(rng: np.random.Generator) -> np.ndarray:
    direction = rng.normal(size=3)
    return direction / np.linalg.norm(direction)


def _nearest(points: np.ndarray, viewpoint: np.ndarray, count: int) -> np.ndarray:
    return points[np.argsort(np.linalg.norm(points - viewpoint, axis=1), kind="stable")[:count]]
