import math

import pytest
import torch
from scipy.spatial.transform import Rotation

from prnet_core.geometry.transforms import compose_euler, geodesic_angle, invert, make_transform, transform_points


def random_transforms(count, seed=0):
    rotation = torch.from_numpy(Rotation.random(count, random_state=seed).as_matrix())
    translation = torch.randn(count, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return make_transform(rotation, translation)


def test_inverse_and_composition():
    T = random_transforms(5)
    torch.testing.assert_close(T @ invert(T), torch.eye(4, dtype=torch.float64).expand(5, 4, 4))


def test_points_move_as_homogeneous_coordinates_do():
    T = random_transforms(4)
    points = torch.randn(4, 7, 3, dtype=torch.float64)
    homogeneous = torch.cat([points, torch.ones(4, 7, 1, dtype=torch.float64)], dim=-1)
    expected = (T @ homogeneous.transpose(1, 2)).transpose(1, 2)[..., :3]
    torch.testing.assert_close(transform_points(T, points), expected)


def test_euler_order_is_the_protocols():
    angles = torch.tensor([[0.3, 0.5, -0.7], [1.0, -1.2, 2.0]], dtype=torch.float64)
    expected = torch.from_numpy(Rotation.from_euler("XYZ", angles.numpy()).as_matrix())
    torch.testing.assert_close(compose_euler(angles), expected)


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.01, 1.0, 3.0, math.pi])
def test_geodesic_angle(angle):
    axis = torch.tensor([1.0, 2.0, -2.0], dtype=torch.float64) / 3.0
    step = torch.from_numpy(Rotation.from_rotvec((angle * axis).numpy()).as_matrix())
    start = random_transforms(1)[0, :3, :3]
    # The chord is flat at pi: there the angle is only known to the square root of the rounding.
    tolerance = 1e-6 if angle > 3.1 else 1e-9
    assert geodesic_angle(start, start @ step).item() == pytest.approx(angle, abs=tolerance)
    assert geodesic_angle(start * (1 + 1e-7), -start).isfinite()
