"""Pack what scripts/gpu_job.py needs into a folder: python scripts/pack_training_data.py OUTPUT.

OUTPUT/training_data.npz  shapes and the recipe, in one file under 45 MB
OUTPUT/roma.zip           the pure Python package roma, for machines that have torch but not it
"""

import argparse
import json
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from prnet_core.training import load_training_config

LIMIT = 45_000_000


def pack_shapes(shapes: Path, config: Path, num_points: int, output: Path) -> None:
    """The first `num_points` of each shape (the collection is in farthest-point order), and the recipe as JSON."""
    with np.load(shapes) as data:
        arrays = {name: data[name] for name in data.files if name != "points"}
        points = data["points"][:, :num_points]
    recipe = json.dumps(load_training_config(config).to_dict())
    np.savez_compressed(output, points=points, recipe=np.array(recipe), **arrays)
    size = output.stat().st_size
    print(f"{len(points)} shapes of {points.shape[1]} points: {size / 1e6:.1f} MB in {output}")
    if size > LIMIT:
        raise SystemExit(f"{output} is larger than {LIMIT / 1e6:.0f} MB: give fewer --points")


def pack_package(name: str, output: Path) -> None:
    """An installed pure Python package as a zip that Python imports from."""
    folder = Path(find_spec(name).origin).parent
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*.py")):
            file.write(path, path.relative_to(folder.parent))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    parser.add_argument("--shapes", type=Path, default=Path("../shared/data/shapes/train.npz"))
    parser.add_argument("--config", type=Path, default=Path("configs/gpu.yaml"))
    parser.add_argument(
        "--points", type=int, default=1344, help="of each shape; 1344 of 6,768 shapes are 43 MB"
    )
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    pack_shapes(arguments.shapes, arguments.config, arguments.points, arguments.output / "training_data.npz")
    pack_package("roma", arguments.output / "roma.zip")


if __name__ == "__main__":
    main()
