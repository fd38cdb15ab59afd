"""Training pairs from whole shapes: the paper's protocol and harder variants, batched, on any device."""

from dataclasses import dataclass

import roma
import torch
from torch import Tensor

from ..geometry.transforms import compose_euler, make_transform, transform_points
from .normalise import UNIT_RADIUS_90
from .pair_batch import PairBatch


@dataclass(frozen=True)
class ObjectPairConfig:
    """Shares are probabilities per pair. Lengths in units of the unit sphere, angles in degrees.

    The defaults are the paper's protocol at any size.
    """

    num_points: int = 1024
    """Number of points sampled from the shape."""
    keep_share: float = 0.75
    """Fraction left by the crop; 0.75, 0.5 and 0.25 are the paper's missing ratios 25, 50, 75 %."""
    max_angle_deg: float = 45.0
    """Each Euler angle is uniform in [0, max_angle_deg]."""
    max_translation: float = 0.5
    drawn_misalignment: bool = False
    """Scale each pair's angles by a factor uniform in [0, 1], so that one pass learns later passes too."""
    turn_shape: bool = False
    """Rotate each shape at random before the pair is made."""
    stretch: tuple[float, float] = (1.0, 1.0)
    """Range of the factor along each axis."""
    max_noise: float = 0.0
    """Standard deviation uniform in [0, max_noise], independent for X and Y, clipped at five times this."""
    any_view: bool = False
    """Viewpoints of the crop uniform over all directions. The paper's are along (1, 1, 1) and (-1, -1, -1), near the
    axes of its rotations, which is why 95 % of the kept points are in both crops; with any view it is 89 %."""
    independent_views_share: float = 0.0
    """Pairs whose second crop has an independent viewpoint, uniform over all directions."""
    twice_sampled_share: float = 0.0
    match_radius: float = 0.06
    """In pairs sampled twice, the true match is the nearest point within this distance."""


def object_pair_batch(
    shapes: Tensor, batch_size: int, config: ObjectPairConfig, generator: torch.Generator
) -> PairBatch:
    """Draw `batch_size` pairs of shapes (n, P, 3), P >= num_points (twice that when some are twice sampled).

    Each cloud is centred at its mean, and both are scaled by one factor, as for scans
    (`prnet_core.pairs.normalise`). Everything is drawn from the generator, on the shapes' device.
    """
    device = shapes.device

    def uniform(*size: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        return torch.rand(size, device=device, generator=generator) * (high - low) + low

    batch, count = batch_size, config.num_points
    chosen = torch.randint(len(shapes), (batch,), device=device, generator=generator)
    order = uniform(batch, shapes.shape[1]).argsort(dim=1)
    twice = uniform(batch, 1) < config.twice_sampled_share
    source_rows = order[:, :count]
    permuted = source_rows.gather(1, uniform(batch, count).argsort(dim=1))
    target_rows = torch.where(twice, order[:, -count:], permuted)
    clouds = shapes[chosen] * uniform(batch, 1, 3, low=config.stretch[0], high=config.stretch[1])
    if config.turn_shape:
        clouds = clouds @ roma.random_rotmat(batch, device=device, generator=generator)
    source, target = (_rows(clouds, rows) for rows in (source_rows, target_rows))

    size = uniform(batch, 1) if config.drawn_misalignment else 1.0
    rotation = compose_euler(torch.deg2rad(uniform(batch, 3, high=config.max_angle_deg) * size))
    translation = uniform(batch, 3, low=-config.max_translation, high=config.max_translation)
    T_target_source = make_transform(rotation, translation)
    target = transform_points(T_target_source, target)

    keep = round(config.keep_share * count)
    if keep < count:
        if config.any_view:
            view = random_directions(batch, generator, device)
        else:
            view = (uniform(batch, 1) < 0.5).float().mul(2.0).sub(1.0).expand(-1, 3)
        apart = uniform(batch, 1) < config.independent_views_share
        other = torch.where(apart, random_directions(batch, generator, device), view)
        source, target = (crop(cloud, towards, keep) for cloud, towards in ((source, view), (target, other)))
    radius = torch.where(twice, config.match_radius, 1e-4)
    matches = nearest_matches(source, target, T_target_source, radius)
    source, target = (
        cloud + _noise(cloud, config.max_noise * uniform(batch, 1, 1), generator) for cloud in (source, target)
    )
    return normalise_batch(PairBatch(source, target, T_target_source, matches))


def nearest_matches(source: Tensor, target: Tensor, T_target_source: Tensor, radius: Tensor | float) -> Tensor:
    """(B, N) index of the target point nearest to each moved source point, -1 beyond the radius (B, 1)."""
    distance, index = torch.cdist(
        transform_points(T_target_source, source), target, compute_mode="donot_use_mm_for_euclid_dist"
    ).min(dim=2)
    return index.where(distance <= radius, -1)


def normalise_batch(pairs: PairBatch) -> PairBatch:
    """Centre each cloud at its own mean, scale both so that the larger 90 % radius is UNIT_RADIUS_90."""
    source_centre, target_centre = pairs.source.mean(1, keepdim=True), pairs.target.mean(1, keepdim=True)
    source, target = pairs.source - source_centre, pairs.target - target_centre
    radii = [cloud.norm(dim=-1).quantile(0.9, dim=1) for cloud in (source, target)]
    scale = UNIT_RADIUS_90 / torch.maximum(*radii).clamp_min(1e-12)
    moved_centre = transform_points(pairs.T_target_source, source_centre) - target_centre
    T_target_source = make_transform(pairs.T_target_source[:, :3, :3], scale[:, None] * moved_centre[:, 0])
    scale = scale.view(-1, 1, 1)
    return PairBatch(scale * source, scale * target, T_target_source, pairs.matches)


def random_directions(count: int, generator: torch.Generator, device: torch.device) -> Tensor:
    """(count, 3) unit vectors, uniform over the sphere."""
    return torch.nn.functional.normalize(torch.randn(count, 3, device=device, generator=generator), dim=1)


def join(batches: list[PairBatch]) -> PairBatch:
    """One batch of several, of equal numbers of points."""
    return PairBatch(
        *(torch.cat([getattr(batch, name) for batch in batches]) for name in PairBatch.__dataclass_fields__)
    )


def _rows(clouds: Tensor, rows: Tensor) -> Tensor:
    return clouds.gather(1, rows.unsqueeze(-1).expand(-1, -1, 3))


def crop(clouds: Tensor, view: Tensor, keep: int) -> Tensor:
    """The `keep` points nearest to a viewpoint far away in the direction `view` (B, 3)."""
    along = (clouds @ view.unsqueeze(-1)).squeeze(-1)
    kept = along.topk(keep, dim=1, sorted=False).indices
    return _rows(clouds, kept)


def _noise(clouds: Tensor, sigma: Tensor, generator: torch.Generator) -> Tensor:
    drawn = torch.randn(clouds.shape, device=clouds.device, generator=generator).clamp(-5.0, 5.0)
    return sigma * drawn
