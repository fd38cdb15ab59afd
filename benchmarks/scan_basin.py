"""How far may real scans be turned before the network alone fails? No refinement, no guess.

    python benchmarks/scan_basin.py [--weights FILE] [--data FOLDER] [--points 512] [--json FILE]

Pairs: the Stanford bunny's range scans that overlap by more than 30 %, and `lidar_hilti/part_a` some scans
apart, each in its sensors' own frames and with the source turned in addition about a random axis by up to
45, 90 and 180 degrees. Nothing of these scans is in the training data.
"""

import argparse
import csv
import shlex
import sys
from pathlib import Path

import numpy as np
import torch

from prnet_core.evaluation.table import Column, Table
from prnet_core.geometry.random_rotations import about_any_axis
from prnet_core.model import PRNet, load_network
from prnet_core.pairs.normalise import downsample_pair, normalise_pair

SCANS = Path(__file__).resolve().parents[2] / "shared" / "data" / "scans"
SCANS_APART = (1, 3, 6, 10)
TURNS_DEG = (0, 45, 90, 180)
MIN_OVERLAP = 0.3
COLUMNS = (
    Column("turned_up_to_deg", "turned by up to, deg", "{}"),
    Column("mean_rotation_deg", "mean rotation, deg", "{:.1f}"),
    Column("num_trials", "pairs", "{}"),
    Column("num_within_15_deg", "within 15 deg", "{}"),
    Column("num_within_5_deg", "within 5 deg", "{}"),
    Column("median_geodesic_deg", "median error, deg", "{:.2f}"),
)


class Sequence:
    """A folder of scans with poses."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.names = (folder / "scans.txt").read_text().split()
        self.T_world_sensor = np.tile(np.eye(4), (len(self.names), 1, 1))
        self.T_world_sensor[:, :3] = np.loadtxt(folder / "poses.txt").reshape(-1, 3, 4)

    def pair(self, source: int, target: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Source points, target points (N, 3) and the true T_target_source."""
        clouds = (np.load(self.folder / "scans" / f"{self.names[i]}.npy")[:, :3] for i in (source, target))
        return *clouds, np.linalg.inv(self.T_world_sensor[target]) @ self.T_world_sensor[source]


def bunny_pairs(folder: Path) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The pairs of the folder's list with enough overlap."""
    scans = Sequence(folder)
    with open(folder / "pairs.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if float(row["ov_ba"]) > MIN_OVERLAP]
    return [scans.pair(scans.names.index(row["source"]), scans.names.index(row["target"])) for row in rows]


def lidar_pairs(folder: Path, apart: int, count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """At most `count` pairs `apart` scans apart, whose targets are every sixth scan from the first on."""
    scans = Sequence(folder)
    return [scans.pair(target + apart, target) for target in range(0, len(scans.names) - apart, 6)[:count]]


def rotation_error_deg(rotation: np.ndarray, truth: np.ndarray) -> float:
    return float(np.degrees(2 * np.arcsin(min(np.linalg.norm(rotation - truth) / np.sqrt(8), 1.0))))


def measure(
    network: PRNet, pairs: list, turned_up_to_deg: int, num_turns: int, num_points: int, passes: int | None
) -> dict:
    """Register every pair, turned `num_turns` times, and sum the errors up. Seeded by pair and turn."""
    errors, rotations = [], []
    for index, (source, target, T_target_source) in enumerate(pairs):
        sources, targets, truths = [], [], []
        for turn in range(num_turns if turned_up_to_deg else 1):
            rng = np.random.default_rng([index, turn])
            extra = about_any_axis(rng, np.radians(turned_up_to_deg))
            downsampled_source, downsampled_target, _ = downsample_pair(source @ extra.T, target, num_points, rng)
            unit_source, unit_target, _ = normalise_pair(downsampled_source, downsampled_target)
            sources.append(unit_source)
            targets.append(unit_target)
            truths.append(T_target_source[:3, :3] @ extra.T)
        device = next(network.parameters()).device
        batch = (torch.from_numpy(np.stack(clouds)).to(device) for clouds in (sources, targets))
        found = network.register(*batch, num_passes=passes)[:, :3, :3].double().cpu().numpy()
        errors += [rotation_error_deg(*both) for both in zip(found, truths, strict=True)]
        rotations += [rotation_error_deg(np.eye(3), truth) for truth in truths]
    return {
        "turned_up_to_deg": turned_up_to_deg,
        "num_trials": len(errors),
        "mean_rotation_deg": float(np.mean(rotations)),
        "num_within_15_deg": int(np.count_nonzero(np.array(errors) < 15.0)),
        "num_within_5_deg": int(np.count_nonzero(np.array(errors) < 5.0)),
        "median_geodesic_deg": float(np.median(errors)),
        "errors_deg": [round(error, 2) for error in errors],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--weights", type=Path, help="default: the packaged ones")
    parser.add_argument("--data", type=Path, default=SCANS, help="folder that holds bunny/ and lidar_hilti/")
    parser.add_argument("--points", type=int, default=512, help="points of each cloud for the network")
    parser.add_argument("--passes", type=int, help="default: as the weights say")
    parser.add_argument("--turns", type=int, default=1, help="random turns of each pair")
    parser.add_argument("--lidar-pairs", type=int, default=10)
    parser.add_argument("--json", type=Path, help="write the table here, and as Markdown beside it")
    arguments = parser.parse_args()
    if not (arguments.data / "bunny").is_dir() or not (arguments.data / "lidar_hilti").is_dir():
        parser.error(f"--data {arguments.data} does not hold bunny/ and lidar_hilti/")

    network = load_network(arguments.weights)
    sets = {"bunny": bunny_pairs(arguments.data / "bunny")}
    for apart in SCANS_APART:
        sets[f"lidar, {apart} apart"] = lidar_pairs(
            arguments.data / "lidar_hilti" / "part_a", apart, arguments.lidar_pairs
        )
    rows = [
        {"method": name}
        | measure(network, pairs, turned, arguments.turns, arguments.points, arguments.passes)
        for turned in TURNS_DEG
        for name, pairs in sets.items()
    ]
    table = Table(
        title="Real scans, the network alone",
        command=shlex.join(["python", "benchmarks/scan_basin.py", *sys.argv[1:]]),
        rows=rows,
        columns=COLUMNS,
        settings={
            "weights": arguments.weights.name if arguments.weights else "packaged",
            "points": arguments.points,
            "passes": arguments.passes or network.config.num_passes,
        },
        notes=("0: in the sensors' own frames; else the source is turned in addition about a random axis.",),
        first_heading="pairs",
    )
    if arguments.json:
        table.write(arguments.json)
    print(table.to_markdown())


if __name__ == "__main__":
    main()
