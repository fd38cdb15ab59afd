"""Hypotheses aligned and ranked by their surfaces, on a corner of three walls that is sampled twice."""

import pytest
import torch
from scipy.spatial.transform import Rotation

from prnet_core.geometry.surface_alignment import (
    SPACINGS_IN_RADIUS,
    STEP_SCALES,
    Surfaces,
    align_surfaces,
    surface_agreement,
)
from prnet_core.geometry.transforms import geodesic_angle, make_transform


def corner(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """600 points (1, 600, 3) of three walls of 12 by 12, less than a spacing apart, and their normals."""
    flat = 12.0 * torch.rand(600, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    normals = torch.eye(3, dtype=torch.float64)[torch.arange(600) % 3]
    return (flat * (1.0 - normals))[None], normals[None]


def surfaces(similarity: torch.Tensor | None = None) -> Surfaces:
    radius = torch.tensor([SPACINGS_IN_RADIUS], dtype=torch.float64)
    return Surfaces(*corner(0), *corner(1), similarity, radius)


def transform(degrees: float, shift: tuple[float, float, float]) -> torch.Tensor:
    rotation = Rotation.from_rotvec([0.0, 0.6 * degrees, 0.8 * degrees], degrees=True).as_matrix()
    return make_transform(torch.from_numpy(rotation), torch.tensor(shift, dtype=torch.float64))


def test_steps_bring_surfaces_together_that_are_some_degrees_apart():
    hypotheses = torch.stack([transform(5.0, (0.5, -0.4, 0.3)), transform(-4.0, (0.0, 0.6, 0.0))])[None]
    aligned = align_surfaces(hypotheses, surfaces(), STEP_SCALES)[0]
    identity = torch.eye(3, dtype=torch.float64).expand(2, 3, 3)
    assert torch.rad2deg(geodesic_angle(aligned[:, :3, :3], identity)).max() < 0.5
    assert aligned[:, :3, 3].norm(dim=-1).max() < 0.1


def test_a_transform_that_brings_nothing_together_stays_finite_and_as_it_is():
    far = transform(20.0, (1000.0, 0.0, 0.0))[None, None]
    torch.testing.assert_close(align_surfaces(far, surfaces(), STEP_SCALES), far)


@pytest.mark.parametrize("known", [True, False])
def test_agreement_needs_similar_descriptors_where_they_are_known(known):
    """The corner turned onto itself by 120 degrees: only descriptors of the three walls tell which turn is correct."""
    names = torch.arange(600) % 3
    similarity = (names[:, None] == names).to(torch.float64)[None] if known else None
    cycle = Rotation.from_rotvec([120.0 / 3**0.5] * 3, degrees=True).as_matrix()
    turned = make_transform(torch.from_numpy(cycle), torch.zeros(3, dtype=torch.float64))
    correct, other = surface_agreement(
        torch.stack([transform(0.0, (0.0, 0.0, 0.0)), turned])[None], surfaces(similarity), 0.5
    )[0]
    assert (correct > 0.0 > other) if known else (abs(correct - other) < 0.2 * correct)


def test_agreement_is_less_beside_the_planes():
    """The corner moved by half a spacing away from all walls, and by as much along one of them."""
    shifts = [transform(0.0, (0.5, 0.0, 0.0)), transform(0.0, (0.5, 0.5, 0.5))]
    transforms = torch.stack([transform(0.0, (0.0, 0.0, 0.0)), *shifts])[None]
    correct, *others = surface_agreement(transforms, surfaces(), 0.5)[0]
    assert correct > 1.2 * others[0] > 1.5 * others[1]
