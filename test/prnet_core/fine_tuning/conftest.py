"""A network small enough to be tuned in seconds, and scans of a room to tune it on."""

import numpy as np
import pytest

pytest.importorskip("torch")

from tiny_network import make_tiny_network  # noqa: E402

from prnet_core.fine_tuning import FineTuneConfig, ScanTransform  # noqa: E402
from prnet_core.geometry import se3  # noqa: E402


@pytest.fixture(scope="session")
def tiny_network():
    return make_tiny_network(num_passes=2)


@pytest.fixture(scope="session")
def room_scans():
    """Six scans (2000, 3) of a room with a box, and the transforms between neighbours."""
    rng = np.random.default_rng(3)
    surface = np.concatenate([_box(rng, (0, 0, 0), (6, 4, 2.5), 3000), _box(rng, (1.2, 0.4, -0.5), (1, 2, 1.5), 1500)])
    poses = [se3.exp(np.array([0.2 * i, 0.1 * i, 0.0, 0.02 * i, 0.0, 0.1 * i])) for i in range(6)]
    scans = []
    for pose in poses:
        points = surface[rng.choice(len(surface), 2000, replace=False)]
        scans.append(se3.apply(se3.invert(pose), points) + rng.normal(scale=0.003, size=(2000, 3)))
    transforms = [ScanTransform(i + 1, i, se3.invert(poses[i]) @ poses[i + 1]) for i in range(5)]
    return scans, transforms


@pytest.fixture
def quick_config():
    """Seconds on one core, far from the paper's numbers."""
    return FineTuneConfig(
        examples_per_scan=40, epochs=3, learning_rate=2e-3, batch_size=8, num_points=96, max_seconds=None,
        held_out_pairs=24, max_angle_deg=45.0, hidden_share=0.0, patience=8,
    )  # fmt: skip


def _box(rng, centre, size, number):
    points = rng.uniform(-0.5, 0.5, (number, 3))
    face = rng.integers(3, size=number)
    points[np.arange(number), face] = rng.choice([-0.5, 0.5], size=number)
    return points * size + np.array(centre)
