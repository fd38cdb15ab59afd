"""Fine-tuning on the first half of a recording, and what the network alone finds on its second half.

    python benchmarks/fine_tune_kinds.py [--kinds NAME ...] [--seeds N ...] [--minutes 5] [--weights NAME] [--json FILE]

Labels are transforms that our own registration accepted; no ground truth is used. The pairs are those of
`scan_basin.py` (overlap 0.1 to 1 for fragments and 0.2 to 0.4 for the LiDAR) whose scans both lie in the second half,
and pairs with an overlap of 0.2 to 0.4 of simulated recordings, whose places --seeds choose; each source is rotated at
random. Two fixed sets show what is lost: "real" counts what is found of all pairs of `scan_basin.py`; "simulated" is
the mean rotation error, each capped at 45 degrees, on the held-out pairs of `scripts/make_surface_pairs.py`, where
--surface-pairs names their folder.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from hard_pairs import CAMERA, FRAGMENTS, LIDAR, camera_pairs, fragment_pairs, lidar_pairs_by_overlap, rotated_at_random
from registration_data import SCANS, Pair
from results_page import command_line
from scan_basin import SETS, measure
from simulated_recordings import KINDS, simulated_recording

from prnet_core.evaluation.table import Column, Table
from prnet_core.fine_tuning import FineTuneConfig, fine_tune
from prnet_core.fine_tuning.held_out import CAP_DEG, pair_errors
from prnet_core.fine_tuning.scan_transforms import register_neighbours
from prnet_core.io.scan_folders import ScanFolder
from prnet_core.model import PRNet, load_network
from prnet_core.model.weights import FOR_SCANS
from prnet_core.registration import Registration
from prnet_core.training.surface_pair_files import SurfacePairFiles

POINTS, MOST_SCANS = 768, 50
SIMULATED_PAIRS = 48  # at most of each kind, below and above an overlap of 0.3


@dataclass(frozen=True)
class Recording:
    """Scans (N_i, 3) of the first half, and pairs of scans of the second half."""

    first_half: list[np.ndarray]
    pairs: Iterator[Pair]


REAL: dict[str, tuple[str, Callable[[], Iterator[Pair]]]] = {
    "fragments": (FRAGMENTS, lambda: fragment_pairs(0.1)),
    "camera": (CAMERA, camera_pairs),
    "lidar": (LIDAR, lambda: lidar_pairs_by_overlap(0.2, 0.4)),
}
"""Folders, and pairs of scans far apart."""


def recording(name: str, seed: int) -> Recording:
    """A real recording, or a simulated one of a place that `seed` chooses."""
    if name in KINDS:
        simulated = simulated_recording(name, seed)
        return Recording(simulated.scans[: len(simulated.scans) // 2], simulated.pairs_of_second_half())
    folder, pairs = REAL[name]
    scans = ScanFolder(SCANS / folder)
    half = len(scans) // 2
    late = {file.stem for file in scans.files[half:]}
    chosen = (pair for pair in pairs() if all(stem in late for stem in pair.name.split()[1::2]))
    return Recording([scans[index][:, :3] for index in range(half)], chosen)


def spread(scans: list[np.ndarray]) -> list[np.ndarray]:
    """At most MOST_SCANS of the scans, evenly spread."""
    return scans[:: -(-len(scans) // MOST_SCANS)]


def simulated_error(network: PRNet, folder: Path | None) -> float | None:
    """Mean rotation error in degrees, each capped at 45, on the simulated pairs."""
    if folder is None:
        return None
    files = SurfacePairFiles(folder, 1, 0, torch.device("cpu"))
    errors = [pair_errors(network, pairs)[0] for pairs in files.validation(SIMULATED_PAIRS).values()]
    return float(np.minimum(np.concatenate(errors), CAP_DEG).mean())


def real_found(network: PRNet) -> int:
    """Pairs of `scan_basin.py` that the network alone finds."""
    return sum(measure(network, list(rotated_at_random(make())), POINTS, 1)["found"] for make in SETS.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS, *REAL], default=[*KINDS, *REAL])
    parser.add_argument(
        "--seeds", nargs="+", type=int, default=[3, 4], help="of the simulated places; 1 and 2 are tuned on"
    )
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--weights", default=FOR_SCANS, help="weights file, or the name of packaged weights")
    parser.add_argument("--surface-pairs", type=Path, help="a folder of make_surface_pairs.py")
    parser.add_argument("--json", type=Path, help="write the table here, and as Markdown beside it")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    network, rows = load_network(arguments.weights, "cpu"), []
    real_before = real_found(network)
    simulated_before = simulated_error(network, arguments.surface_pairs)
    seeds = {kind: arguments.seeds if kind in KINDS else [0] for kind in arguments.kinds}
    for name, seed in ((kind, seed) for kind in seeds for seed in seeds[kind]):
        recorded = recording(name, seed)
        scans, pairs = spread(recorded.first_half), list(rotated_at_random(recorded.pairs))
        began = time.process_time()
        transforms = register_neighbours(scans, Registration(network))
        labelled = time.process_time()
        config = FineTuneConfig(max_seconds=60.0 * arguments.minutes, epochs=100)
        report = fine_tune(network, scans, config, transforms=transforms)
        title = f"{name}, seed {seed}" if name in KINDS else name
        row = {"method": title, "pairs": len(pairs), "scans": len(scans), "transforms": len(transforms)}
        row |= {"label_seconds": labelled - began, "cpu_seconds": time.process_time() - labelled}
        before, after = (measure(net, pairs, POINTS, 1) for net in (network, report.network))
        row |= {"found_before": before["found"], "found_after": after["found"]}
        row |= {"held_out_before": report.before.error_deg, "held_out_after": report.after.error_deg}
        row |= {"real_before": real_before, "real_after": real_found(report.network)}
        row |= {"simulated_before": simulated_before}
        row |= {"simulated_after": simulated_error(report.network, arguments.surface_pairs)}
        row |= {"kept": report.kept, "steps": report.steps}
        print(row, report.summary(), file=sys.stderr, flush=True)
        rows.append(row)
    counts = ("pairs", "scans", "transforms", "steps", "kept")
    counts += ("found_before", "found_after", "real_before", "real_after")
    columns = [Column(key, key.replace("_", " "), "{}") for key in counts]
    errors = ("held_out_before", "held_out_after", "simulated_before", "simulated_after")
    columns += [
        Column(key, f"{key.replace('_', ' ')}, deg", "{:.2f}") for key in errors if rows[0].get(key) is not None
    ]
    columns += [Column("label_seconds", "CPU s, labels", "{:.0f}"), Column("cpu_seconds", "CPU s, tuning", "{:.0f}")]
    table = Table(
        title="Fine-tuning on the first half of a recording, the network alone on its second half",
        command=command_line(),
        rows=rows,
        columns=tuple(columns),
        settings={name: getattr(arguments, name) for name in ("weights", "minutes")} | {"points": POINTS},
        notes=("Real: what is found of the 128 pairs of `scan_basin.py`. Simulated: mean rotation error.",),
        first_heading="recording",
    )
    if arguments.json:
        table.write(arguments.json)
    print(table.to_markdown())


if __name__ == "__main__":
    main()
