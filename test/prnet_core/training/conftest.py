"""A network and a run so small that a step takes hundredths of a second."""

from pathlib import Path

import numpy as np
import pytest
import torch
import yaml

NETWORK = {
    "edge_conv_channels": [16, 16, 32],
    "num_neighbours": 8,
    "embedding": 32,
    "feed_forward": 64,
    "temperature_channels": [16],
    "num_keypoints": 48,
    "matching_weight": 1.0,
}
RUN = {
    "held_out": 2,
    "pairs": {"num_points": 64},
    "batch_size": 4,
    "bfloat16": False,
    "validation_pairs": 2,
    "warmup_steps": 2,
}


@pytest.fixture(scope="session")
def shapes_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight bent sheets of 256 points, without symmetry."""
    rng = np.random.default_rng(0)
    u, v = rng.uniform(-1, 1, (2, 8, 256))
    bend = rng.uniform(0.3, 1.0, (4, 8, 1))
    height = bend[0] * u**2 + bend[1] * u * v + bend[2] * np.sin(3 * v) + bend[3] * v**3
    points = np.stack([u, 0.7 * v, 0.5 * height], axis=2)
    points -= points.mean(axis=1, keepdims=True)
    points /= np.linalg.norm(points, axis=2).max(axis=1)[:, None, None]
    path = tmp_path_factory.mktemp("shapes") / "sheets.npz"
    np.savez(path, points=points.astype(np.float32))
    return path


@pytest.fixture
def tiny_values(shapes_file: Path) -> dict:
    """Settings of a run on the sheets, to be changed by a test."""
    return {**RUN, "pairs": dict(RUN["pairs"]), "network": dict(NETWORK), "shapes": str(shapes_file)}


@pytest.fixture
def write_config(tmp_path: Path):
    """Writes values as a YAML file and returns its path."""

    def write(values: dict) -> Path:
        path = tmp_path / "run.yaml"
        path.write_text(yaml.safe_dump(values))
        return path

    return write


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
