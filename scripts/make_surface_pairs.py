"""Simulate the pairs of configs/invariant.yaml: python scripts/make_surface_pairs.py --out FOLDER.

About 0.1 s of one core and 0.25 MB a pair of 384 points. Validation scenes and shapes are never those of the training.
"""

import argparse
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from tqdm import trange

from prnet_core.shapes.load import load_shapes
from prnet_core.training.pair_source import split_by_group
from prnet_core.training.surface_pair_data import (
    PLACES,
    object_view_pairs,
    save_pairs,
    save_sampled_pairs,
    scene_pairs,
)

PAIRS_A_FILE, SCENES_A_FILE = 64, 10
POINTS = (384, 384, 384, 768)
VALIDATION_SEED = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--files", type=int, default=25, help="files of each of five kinds, about 64 pairs each")
    parser.add_argument("--shapes", default="../shared/data/shapes/train.npz")
    parser.add_argument("--held-out", type=int, default=128, help="groups of shapes for validation alone")
    arguments = parser.parse_args()
    shapes = load_shapes(arguments.shapes)
    for split, part, files in zip(
        ("train", "val"), split_by_group(shapes, arguments.held_out), (arguments.files, 2), strict=True
    ):
        for number in trange(files, desc=split):
            seed = number + (VALIDATION_SEED if split == "val" else 0)
            make_files(arguments.out / split, part, number, seed, 384 if split == "val" else POINTS[number % 4])


def make_files(folder: Path, shapes, number: int, seed: int, points: int) -> None:
    for kind in PLACES:
        scenes = [np.random.default_rng([seed, place]) for place in range(SCENES_A_FILE)]
        pairs = [pair for rng in scenes for pair in scene_pairs(kind, points, rng)]
        save_pairs(folder / f"{kind}-{number:04d}.pt", pairs, kind)
    views = object_view_pairs(shapes.points, points, np.random.default_rng(seed))
    save_pairs(folder / f"objects-{number:04d}.pt", list(islice(views, PAIRS_A_FILE)), "objects")
    generator = torch.Generator().manual_seed(seed)
    save_sampled_pairs(folder / f"direct-{number:04d}.pt", shapes.tensor(), PAIRS_A_FILE, points, generator)


if __name__ == "__main__":
    main()
