"""Surfaces under a transform: which points meet, steps that bring them together, and how far they agree (torch)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import roma
import torch
from torch import Tensor

from .cloud_support import closeness, every
from .nearest import nearest_points
from .transforms import invert, make_transform, transform_points

SPACINGS_IN_RADIUS = 12.0
"""The unit of the residuals of matches of surface clouds, in point spacings."""
MIN_COSINE, OPPOSED = 0.7, -0.5
"""Normals that agree, and what a point near a surface with another normal counts in the support."""
SUPPORT_POINTS, STEP_POINTS, AGREEMENT_POINTS = 48, 96, 384
"""Points of the source: for all hypotheses, for the steps of the best ones, and for their agreement."""
STEP_SCALES, LAST_SCALES = (2.0, 1.5, 1.0, 0.7), (1.0, 0.7, 0.5)
REACH = 3.0
"""Scales of a step, in spacings, and the number of scales beyond which a point does not pull."""
DAMPING_ROTATION, DAMPING_TRANSLATION, DAMPING_SHARE = 30.0, 0.3, 1e-3
"""In squared spacings and points, and as a share of the mean diagonal: unconstrained directions do not change."""
MIN_SIMILARITY, MIN_SIMILARITY_REFINED = 0.55, 0.65
"""Descriptors that are less alike speak against a transform; the second where it has been refined."""
HEIGHTS_IN_SPACING = 2.0
"""Decay of the agreement with the distance from a plane."""
COMMON_COSINE, COMMON_SHARE = 0.9, 0.02
"""Most points of a room lie on few large planes, which many transforms bring together."""


@dataclass
class Surfaces:
    """Points and unit normals of the source (..., N, 3) and of the target (..., M, 3), oriented alike; `similarity`
    (..., N, M): the cosines of the descriptors of every two points, or None; `radius` (...): SPACINGS_IN_RADIUS point
    spacings."""

    source: Tensor
    source_normals: Tensor
    target: Tensor
    target_normals: Tensor
    similarity: Tensor | None
    radius: Tensor

    @property
    def spacing(self) -> Tensor:
        """(...) of the points."""
        return self.radius / SPACINGS_IN_RADIUS

    def regrouped(self, split: Callable[[Tensor], Tensor]) -> Surfaces:
        """With other leading dimensions."""
        similarity = None if self.similarity is None else split(self.similarity)
        source, source_normals, target, target_normals = map(split, self._clouds)
        return Surfaces(source, source_normals, target, target_normals, similarity, split(self.radius))

    @property
    def swapped(self) -> Surfaces:
        """The target as the source, and vice versa."""
        similarity = None if self.similarity is None else self.similarity.transpose(-1, -2)
        return Surfaces(self.target, self.target_normals, self.source, self.source_normals, similarity, self.radius)

    @property
    def joined(self) -> Surfaces:
        """Samples (..., S, N, 3) of one pair in one frame as one, without similarity."""
        source, source_normals, target, target_normals = (cloud.flatten(-3, -2) for cloud in self._clouds)
        return Surfaces(source, source_normals, target, target_normals, None, self.radius[..., 0])

    @property
    def _clouds(self) -> tuple[Tensor, ...]:
        return self.source, self.source_normals, self.target, self.target_normals

    def some(self, count: int) -> Surfaces:
        """About `count` of the source's points."""
        similarity = None if self.similarity is None else every(self.similarity, count)
        source, normals = every(self.source, count), every(self.source_normals, count)
        return Surfaces(source, normals, self.target, self.target_normals, similarity, self.radius)


@dataclass
class _Contact:
    """Moved points (..., S, N, 3), the nearest points of the target and their normals, squared distances (..., S, N),
    whether the normals agree, and the index of the nearest point."""

    moved: Tensor
    nearest: Tensor
    normals: Tensor
    squared: Tensor
    agree: Tensor
    index: Tensor


def _contact(transforms: Tensor, surfaces: Surfaces) -> _Contact:
    moved = transform_points(transforms, surfaces.source.unsqueeze(-3))
    turned = surfaces.source_normals.unsqueeze(-3) @ transforms[..., :3, :3].transpose(-1, -2)
    squared, index = nearest_points(moved.flatten(-3, -2), surfaces.target)
    both = torch.cat([surfaces.target, surfaces.target_normals], dim=-1).take_along_dim(index.unsqueeze(-1), dim=-2)
    nearest, normals = both.unflatten(-2, moved.shape[-3:-1]).split(3, dim=-1)
    squared, index = (values.unflatten(-1, moved.shape[-3:-1]) for values in (squared, index))
    return _Contact(moved, nearest, normals, squared, (turned * normals).sum(dim=-1) > MIN_COSINE, index)


def surface_support(transforms: Tensor, surfaces: Surfaces) -> Tensor:
    """Support (..., S) of transforms (..., S, 4, 4): mean over points of c s^2 / (s^2 + d^2).

    d: distance of a source point to the nearest point of the target; s: a point spacing. c is one where the normals of
    both points agree and -1/2 where they do not: a floor that is moved along itself, or a wall that is moved behind
    another one, would otherwise support a transform.
    """
    contact = _contact(transforms, surfaces.some(SUPPORT_POINTS))
    near = closeness(contact.squared, surfaces.spacing.unsqueeze(-1))
    return (near * torch.where(contact.agree, 1.0, OPPOSED)).mean(dim=-1)


def align_surfaces(transforms: Tensor, surfaces: Surfaces, scales: tuple[float, ...]) -> Tensor:
    """Transforms (..., S, 4, 4) after a point-to-plane step for each scale (in spacings): points pull towards the plane
    of the nearest point whose normal agrees, with the weight (s^2 / (s^2 + d^2))^2."""
    for scale in scales:
        contact, size = _contact(transforms, surfaces), (scale * surfaces.spacing).unsqueeze(-1)
        weight = closeness(contact.squared, size).square() * contact.agree
        weight = weight * (contact.squared < (REACH * size).square().unsqueeze(-1))
        transforms = _step(transforms, contact, weight, surfaces.spacing)
    return transforms


def _step(transforms: Tensor, contact: _Contact, weight: Tensor, spacing: Tensor) -> Tensor:
    """One damped Gauss-Newton step of the weighted point-to-plane distances, about the centre of the weights."""
    total = weight.sum(dim=-1)[..., None, None].clamp_min(1e-6)
    centre = (weight.unsqueeze(-2) @ contact.moved) / total
    line = (contact.moved - centre) / spacing[..., None, None, None]
    jacobian = torch.cat([torch.cross(line, contact.normals, dim=-1), contact.normals], dim=-1)
    residual = ((contact.nearest - contact.moved) * contact.normals).sum(dim=-1, keepdim=True)
    weighted = (jacobian * weight.unsqueeze(-1)).transpose(-1, -2)
    matrix = weighted @ jacobian
    damping = matrix.new_tensor([DAMPING_ROTATION] * 3 + [DAMPING_TRANSLATION] * 3).expand(matrix.shape[:-1])
    damping = damping + DAMPING_SHARE * matrix.diagonal(dim1=-2, dim2=-1).mean(dim=-1, keepdim=True)
    motion = torch.linalg.solve_ex(matrix + torch.diag_embed(damping), weighted @ residual).result.squeeze(-1)
    rotation, shift = roma.rotvec_to_rotmat(motion[..., :3] / spacing[..., None, None]), motion[..., 3:]
    centre = centre.squeeze(-2)
    moved = (rotation @ (transforms[..., :3, 3] - centre).unsqueeze(-1)).squeeze(-1) + centre + shift
    return make_transform(rotation @ transforms[..., :3, :3], moved)


def surface_agreement(transforms: Tensor, surfaces: Surfaces, min_similarity: float) -> Tensor:
    """Agreement (..., S) under transforms (..., S, 4, 4): mean of r (f - min_similarity) e^(-2 h/s) s^2 / (s^2 + d^2).

    The mean is over points of the source; those whose normal agrees with that of the nearest point of the target count.
    d: distance to that point; h: to its plane; f: the similarity of both descriptors; r: the inverse of the share of
    the source's normals that are like the point's; s: a point spacing.
    """
    surfaces = surfaces.some(AGREEMENT_POINTS)
    normals = surfaces.source_normals
    common = (normals @ normals.transpose(-1, -2) > COMMON_COSINE).to(normals.dtype).mean(dim=-1)
    rare = 1.0 / (common + COMMON_SHARE)
    rare = rare / rare.mean(dim=-1, keepdim=True)
    contact = _contact(transforms, surfaces)
    near = closeness(contact.squared, surfaces.spacing.unsqueeze(-1)) * contact.agree * rare.unsqueeze(-2)
    height = ((contact.moved - contact.nearest) * contact.normals).sum(dim=-1).abs()
    near = near * torch.exp(-HEIGHTS_IN_SPACING * height / surfaces.spacing[..., None, None])
    if surfaces.similarity is not None:
        similarity = surfaces.similarity.transpose(-1, -2).take_along_dim(contact.index, dim=-2)
        near = near * (similarity - min_similarity)
    return near.mean(dim=-1)


def mean_agreement(transforms: Tensor, surfaces: Surfaces, min_similarity: float = MIN_SIMILARITY) -> Tensor:
    """The mean `surface_agreement` (..., K) of both directions under transforms (..., K, 4, 4), over the samples
    (..., S, N, 3) of a pair."""
    in_all = transforms.unsqueeze(-4).expand(*surfaces.source.shape[:-2], *transforms.shape[-3:])
    forward = surface_agreement(in_all, surfaces, min_similarity)
    backward = surface_agreement(invert(in_all), surfaces.swapped, min_similarity)
    return 0.5 * (forward + backward).mean(dim=-2)
