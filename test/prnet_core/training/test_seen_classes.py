import numpy as np
import torch

from prnet_core.training.config import make_training_config
from prnet_core.training.pair_source import PairSource


def test_only_the_first_classes_are_trained_on(tmp_path):
    points = np.random.default_rng(0).normal(size=(6, 32, 3)).astype(np.float16) / 4
    points += np.arange(6)[:, None, None].astype(np.float16)
    classes = ["bed", "car", "bed", "cup", "car", "cup"]
    np.savez(tmp_path / "s.npz", points=points, names=list("abcdef"), classes=classes)
    values = {"shapes": str(tmp_path / "s.npz"), "num_classes": 2, "held_out": 1, "pairs": {"num_points": 16}}
    source = PairSource(make_training_config(values), torch.device("cpu"))
    seen = {round(float(shape.mean())) for shape in [*source.shapes, *source.validation_shapes.tensor()]}
    assert seen == {0, 1, 2, 4}
