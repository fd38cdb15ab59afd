"""Test of the training: a small network overfits a handful of shapes. python benchmarks/overfit.py.

Trains on pairs of `--num-shapes` shapes, by the paper's protocol with few points, and prints for each loss, ours and
the paper's alone, the loss and the rotation error on pairs of the same shapes, before and after.
"""

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from prnet_core.geometry.transforms import geodesic_angle
from prnet_core.shapes.load import load_shapes
from prnet_core.training import Trainer, make_training_config

NETWORK = {
    "edge_conv_channels": [32, 32, 64],
    "num_neighbours": 10,
    "embedding": 64,
    "feed_forward": 128,
    "temperature_channels": [32],
}
VALIDATION_INDEX = 10**6


def overfit(shapes: Path, matching_weight: float, steps: int, batch_size: int, seed: int = 0) -> dict:
    """Train and evaluate; returns the results by name."""
    values = {
        "network": NETWORK | {"matching_weight": matching_weight},
        "shapes": str(shapes),
        "pairs": {"num_points": 128, "drawn_misalignment": True},
        "batch_size": batch_size,
        "steps": steps,
        "learning_rate": 0.003,
        "warmup_steps": 20,
        "weight_decay": 0.0,
        "bfloat16": False,
        "validation_pairs": 1,
        "held_out": 1,
        "seed": seed,
    }
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(make_training_config(values), folder, torch.device("cpu"))
        before, began = evaluate(trainer), time.process_time()
        losses = [float(trainer.step()["total"]) for _ in range(steps)]
        seconds = time.process_time() - began
        after, robust = evaluate(trainer), evaluate(trainer, robust=True)
    tail = max(1, steps // 20)
    return {
        "steps": steps,
        "cpu_seconds": round(seconds, 1),
        "loss_first": round(float(np.mean(losses[:tail])), 3),
        "loss_last": round(float(np.mean(losses[-tail:])), 3),
        "mean_deg_before": round(float(before.mean()), 3),
        "mean_deg_after": round(float(after.mean()), 3),
        "median_deg_after": round(float(after.median()), 3),
        "robust_mean_deg_after": round(float(robust.mean()), 3),
    }


def evaluate(trainer: Trainer, robust: bool = False) -> torch.Tensor:
    """Rotation errors in degrees on pairs of the training shapes that no step sees, in three passes.

    Procrustes is unweighted, as in the paper, or robust, as in the small preset.
    """
    trainer.network.config = replace(trainer.network.config, robust_procrustes=robust)
    errors = []
    for index in range(8):
        pairs = trainer.source.batch(VALIDATION_INDEX + index)
        T = trainer.network.register(pairs.source, pairs.target)
        errors.append(torch.rad2deg(geodesic_angle(T[:, :3, :3], pairs.T_target_source[:, :3, :3])))
    return torch.cat(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/shapes/train.npz"))
    parser.add_argument("--num-shapes", type=int, default=4)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--losses", nargs="+", choices=("ours", "paper"), default=["ours", "paper"])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    chosen = load_shapes(arguments.data).points
    chosen = chosen[np.linspace(0, len(chosen) - 1, arguments.num_shapes + 1).astype(int)]
    with tempfile.TemporaryDirectory() as folder:
        shapes = Path(folder) / "shapes.npz"
        np.savez(shapes, points=chosen)
        for name in arguments.losses:
            weight = {"ours": 1.0, "paper": 0.0}[name]
            figures = overfit(shapes, weight, arguments.steps, arguments.batch_size)
            print(json.dumps({"loss": name} | figures), flush=True)


if __name__ == "__main__":
    main()
