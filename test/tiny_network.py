"""A network for tests: untrained, small enough to be tuned in seconds, with running statistics of a few clouds."""

from pathlib import Path

import torch

from prnet_core.model import PRNet, PRNetConfig, save_network


def make_tiny_network(num_passes: int = 1) -> PRNet:
    """In evaluation mode; the same on every call."""
    torch.manual_seed(0)
    config = PRNetConfig(
        edge_conv_channels=(16, 32), num_neighbours=8, embedding=32, feed_forward=32, num_heads=2,
        temperature_channels=(16,), num_keypoints=64, num_passes=num_passes, matching_weight=1.0,
    )  # fmt: skip
    network = PRNet(config).train()
    with torch.no_grad():
        for _ in range(20):
            network(0.6 * torch.randn(4, 96, 3), 0.6 * torch.randn(4, 96, 3), num_passes=1)
    return network.eval()


def save_tiny_network(folder: Path) -> Path:
    """Its weights file in the folder."""
    path = folder / "tiny.safetensors"
    save_network(make_tiny_network(), path, {"note": "tiny"})
    return path
