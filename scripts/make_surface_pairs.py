"""Simulate the pairs of configs/invariant.yaml: python scripts/make_surface_pairs.py --out FOLDER.

About 0.1 s of one core and 0.25 MB per pair of 384 points. Validation scenes and shapes are never those of
the training.
"""

import argparse
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from tqdm import trange

from prnet_core.shapes.load import load_shapes
from prnet_core.shapes.shape_sets import ShapeSet
from prnet_core.training.pair_source import split_by_group
from prnet_core.training.surface_pair_data import object_view_pairs, save_pairs, save_sampled_pairs, scene_pairs

PAIRS_A_FILE, SCENES_A_FILE = 64, 10
ROUND = ("lidar", "fragments", "objects", "lidar", "fragments", "depth", "direct", "lidar")
"""The kinds of one round of files, about 64 pairs each."""
POINTS = (384, 384, 384, 768)
VALIDATION_SEED = 2_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--files", type=int, default=96, help="files for training, in rounds of eight")
    parser.add_argument("--first", type=int, default=0, help="number of the first file, to add to a folder")
    parser.add_argument("--shapes", default="../shared/data/shapes/train.npz")
    parser.add_argument("--held-out", type=int, default=128, help="groups of shapes for validation alone")
    arguments = parser.parse_args()
    train, held_out = split_by_group(load_shapes(arguments.shapes), arguments.held_out)
    for number in [] if arguments.first else trange(len(ROUND), desc="val"):
        make_file(arguments.out / "val", number, VALIDATION_SEED + number, held_out, POINTS[0])
    for number in trange(arguments.first, arguments.first + arguments.files, desc="train"):
        make_file(arguments.out / "train", number, number, train, POINTS[number // len(ROUND) % len(POINTS)])


def make_file(folder: Path, number: int, seed: int, shapes: ShapeSet, points: int) -> None:
    kind = ROUND[number % len(ROUND)]
    path = folder / f"{kind}-{number:04d}.pt"
    if kind == "direct":
        generator = torch.Generator().manual_seed(seed)
        save_sampled_pairs(path, shapes.tensor(), PAIRS_A_FILE, points, generator)
    elif kind == "objects":
        views = object_view_pairs(shapes.points, points, np.random.default_rng(seed))
        save_pairs(path, list(islice(views, PAIRS_A_FILE)), kind)
    else:
        scenes = [np.random.default_rng([seed, place]) for place in range(SCENES_A_FILE)]
        save_pairs(path, [pair for rng in scenes for pair in scene_pairs(kind, points, rng)], kind)


if __name__ == "__main__":
    main()
