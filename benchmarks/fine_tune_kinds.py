"""Fine-tuning on the first half of a real recording, and what the network alone finds on its second half.

    python benchmarks/fine_tune_kinds.py [--kinds fragments camera lidar] [--minutes 5] [--weights NAME] [--json FILE]

Labels are transforms that our own registration accepted; no ground truth is used. The pairs are those of
`scan_basin.py` (overlap 0.1 to 1 for fragments and 0.2 to 0.4 for the LiDAR) whose scans both lie in the second half,
each source rotated at random. "Simulated" is a fixed set of pairs that shows what is lost: the held-out pairs of
`scripts/make_surface_pairs.py`, where --surface-pairs names their folder.
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
from scan_basin import measure

from prnet_core.evaluation.table import Column, Table
from prnet_core.fine_tuning import FineTuneConfig, fine_tune
from prnet_core.fine_tuning.held_out import score
from prnet_core.fine_tuning.scan_transforms import register_neighbours
from prnet_core.io.scan_folders import ScanFolder
from prnet_core.model import PRNet, load_network
from prnet_core.model.weights import FOR_SCANS
from prnet_core.registration import Registration
from prnet_core.training.surface_pair_files import SurfacePairFiles

POINTS, MOST_SCANS = 768, 40


@dataclass(frozen=True)
class Kind:
    """A recording's folder, and its pairs of scans far apart."""

    folder: str
    pairs: Callable[[], Iterator[Pair]]


KINDS = {
    "fragments": Kind(FRAGMENTS, lambda: fragment_pairs(0.1)),
    "camera": Kind(CAMERA, camera_pairs),
    "lidar": Kind(LIDAR, lambda: lidar_pairs_by_overlap(0.2, 0.4)),
}


def of_second_half(kind: Kind) -> list[Pair]:
    """The pairs whose scans both lie in the second half, rotated."""
    stems = [file.stem for file in ScanFolder(SCANS / kind.folder).files]
    late = set(stems[len(stems) // 2 :])
    chosen = [pair for pair in kind.pairs() if all(stem in late for stem in pair.name.split()[1::2])]
    return list(rotated_at_random(iter(chosen)))


def first_half(kind: Kind) -> list[np.ndarray]:
    """At most 40 scans, spread over the first half."""
    scans = ScanFolder(SCANS / kind.folder)
    count = len(scans) // 2
    return [scans[index][:, :3] for index in range(0, count, -(-count // MOST_SCANS))]


def simulated_error(network: PRNet, folder: Path | None) -> float | None:
    """Mean rotation error in degrees, each capped at 45, on the simulated pairs."""
    if folder is None:
        return None
    files = SurfacePairFiles(folder, 1, 0, torch.device("cpu"))
    return float(np.mean([score(network, pairs).error_deg for pairs in files.validation(24).values()]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--weights", default=FOR_SCANS, help="weights file, or the name of packaged weights")
    parser.add_argument("--surface-pairs", type=Path, help="a folder of make_surface_pairs.py")
    parser.add_argument("--json", type=Path, help="write the table here, and as Markdown beside it")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    network, rows = load_network(arguments.weights, "cpu"), []
    for name in arguments.kinds:
        pairs, scans = of_second_half(KINDS[name]), first_half(KINDS[name])
        transforms = register_neighbours(scans, Registration(network))
        began = time.process_time()
        config = FineTuneConfig(max_seconds=60.0 * arguments.minutes, epochs=100)
        report = fine_tune(network, scans, config, transforms=transforms)
        seconds = time.process_time() - began
        before, after = (measure(net, pairs, POINTS, 1) for net in (network, report.network))
        row = {"method": name, "pairs": len(pairs), "scans": len(scans), "transforms": len(transforms)}
        row |= {"found_before": before["found"], "found_after": after["found"], "cpu_seconds": seconds}
        row |= {"held_out_before": report.before.error_deg, "held_out_after": report.after.error_deg}
        for key, net in (("simulated_before", network), ("simulated_after", report.network)):
            row[key] = simulated_error(net, arguments.surface_pairs)
        print(row, report.summary(), file=sys.stderr, flush=True)
        rows.append(row | {"kept": report.kept, "steps": report.steps})
    columns = [Column(key, key.replace("_", " "), "{}") for key in ("pairs", "scans", "transforms", "steps", "kept")]
    columns += [Column(key, key.replace("_", " "), "{}") for key in ("found_before", "found_after")]
    errors = ("held_out_before", "held_out_after", "simulated_before", "simulated_after")
    columns += [
        Column(key, f"{key.replace('_', ' ')}, deg", "{:.2f}") for key in errors if rows[0].get(key) is not None
    ]
    columns.append(Column("cpu_seconds", "CPU s", "{:.0f}"))
    table = Table(
        title="Fine-tuning on the first half of a recording, the network alone on its second half",
        command=command_line(),
        rows=rows,
        columns=tuple(columns),
        settings={"weights": str(arguments.weights), "minutes": arguments.minutes, "points": POINTS},
        first_heading="recording",
    )
    if arguments.json:
        table.write(arguments.json)
    print(table.to_markdown())


if __name__ == "__main__":
    main()
