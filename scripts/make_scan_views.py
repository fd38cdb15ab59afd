"""Scan procedural scenes into a shard of views for training: python scripts/make_scan_views.py OUTPUT.npz."""

import argparse
from pathlib import Path

import numpy as np
from tqdm import trange

from prnet_core.simulation.scan_views import save_views, scan_scene


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--scenes", type=int, default=2000, help="about 0.05 s of one core and 23 kB each")
    parser.add_argument("--views", type=int, default=3, help="views of each scene")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    generators = np.random.default_rng(arguments.seed).spawn(arguments.scenes)
    scenes = [scan_scene(generators[i], arguments.views) for i in trange(arguments.scenes)]
    save_views(arguments.output, scenes)
    print(f"{len(scenes)} scenes, {arguments.output.stat().st_size / 1e6:.1f} MB in {arguments.output}")


if __name__ == "__main__":
    main()
