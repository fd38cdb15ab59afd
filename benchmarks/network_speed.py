"""Time and memory of one registration by the network alone, against the direct form of the same mathematics.

    python benchmarks/network_speed.py [--out FOLDER] [--quick] [--authors FOLDER]

The direct form computes every edge's feature, searches neighbours with one top-k over all points, recomputes
the target in every pass and stays in float32: our own network with the same weights, and so the same answer.
Both take turns in one run; ratios are of medians. --authors names a copy of the authors' repository, whose network
(three passes, float32) then takes its turn with every preset of ours.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "test"), str(ROOT / "benchmarks")]

import results_page  # noqa: E402
from authors_network import authors_network  # noqa: E402
from oracles.direct_edge_conv import direct_edge_conv, direct_knn  # noqa: E402

from prnet_core.geometry.transforms import transform_points  # noqa: E402
from prnet_core.model import EdgeConv, PRNet, PRNetConfig  # noqa: E402
from prnet_core.model.precision import bfloat16_is_fast  # noqa: E402

SIZES = (512, 1024, 2048, 4096, 8192)


class DirectEdgeConv(EdgeConv):
    """The same layer without the split."""

    def forward(self, features):
        return direct_edge_conv(self, features, direct_knn(features, self.num_neighbours))


class DirectPRNet(PRNet):
    """The same network without the split and without features kept over the passes."""

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__(config)
        for layer in self.dgcnn.layers:
            layer.__class__ = DirectEdgeConv

    @torch.no_grad()
    def register(self, source, target, num_passes=None):
        T = torch.eye(4).expand(len(source), 4, 4)
        for _ in range(self.config.num_passes):
            T = super().forward(transform_points(T, source), target, num_passes=1).T_target_source @ T
        return T


def network(cls, preset: str) -> PRNet:
    torch.manual_seed(0)
    return cls(getattr(PRNetConfig, preset)()).eval()


def clouds(batch: int, points: int, device: str = "cpu"):
    generator = torch.Generator().manual_seed(points)
    source = torch.rand(batch, points, 3, generator=generator) - 0.5
    return source.to(device), source.flip(1).to(device)


def seconds(run, device: str) -> float:
    started = time.perf_counter()
    run()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


def take_turns(forms: dict, repeats: int) -> dict:
    """Median seconds of each function on the CPU, taking turns; the first turn does not count."""
    times = {name: [] for name in forms}
    for turn in range(repeats + 1):
        for name, run in forms.items():
            elapsed = seconds(run, "cpu")
            if turn:
                times[name].append(elapsed)
    return {name: statistics.median(values) for name, values in times.items()}


def compare(preset: str, batch: int, repeats: int) -> dict:
    """Medians of the direct and our form at 768 points, taking turns."""
    source, target = clouds(batch, 768)
    direct, ours = network(DirectPRNet, preset), network(PRNet, preset)
    forms = {"direct": lambda: direct.register(source, target)}
    for name, bfloat16 in (("float32", False), ("bfloat16", True)):
        if not bfloat16 or bfloat16_is_fast(torch.device("cpu")):
            forms[name] = lambda on=bfloat16: ours.register(source, target, bfloat16=on)
    medians = take_turns(forms, repeats)
    result = {"preset": preset, "batch": batch, "points": 768}
    result |= {f"{name}_s": round(value, 4) for name, value in medians.items()}
    ours = [name for name in medians if name != "direct"]
    return result | {f"{name}_speedup": round(medians["direct"] / medians[name], 2) for name in ours}


def against_authors(folder: Path, repeats: int) -> list[dict]:
    """Medians of the authors' network and of every preset of ours, all taking turns on one pair of 768 points."""
    theirs = authors_network(folder)
    source, target = clouds(1, 768)
    transposed = [cloud.transpose(1, 2).contiguous() for cloud in (source, target)]
    forms = {("authors", "float32"): torch.no_grad()(lambda: theirs.predict(*transposed, 3))}
    for preset in ("invariant", "small", "paper"):
        ours = network(PRNet, preset)
        for name, bfloat16 in (("float32", False), ("bfloat16", True)):
            forms[preset, name] = lambda ours=ours, on=bfloat16: ours.register(source, target, bfloat16=on)
    medians = take_turns(forms, repeats)
    reference = medians["authors", "float32"]
    return [
        {"network": name, "precision": precision, "s": round(value, 4), "times": round(reference / value, 1)}
        for (name, precision), value in medians.items()
    ]


def scaling(preset: str, points: int, device: str, direct: bool) -> dict:
    """Seconds and peak extra memory of one pair, in a process of its own."""
    command = [sys.executable, __file__, "--one", preset, str(points), device, "direct" if direct else "ours"]
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode:
        return {"preset": preset, "points": points, "device": device, "failed": finished.stderr.strip()[-200:]}
    return json.loads(finished.stdout.strip().splitlines()[-1])


def peak_mib_since_start(reset: bool = False) -> float:
    """Largest resident memory of this process so far, or since the last reset (Linux)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text().split()
    return int(status[status.index("VmHWM:") + 1]) / 1024


def measure_one(preset: str, points: int, device: str, form: str) -> dict:
    net = network(DirectPRNet if form == "direct" else PRNet, preset).to(device)
    net.register(*clouds(1, 64, device))
    before = peak_mib_since_start(reset=True)
    source, target = clouds(1, points, device)
    times = [seconds(lambda: net.register(source, target), device) for _ in range(3)]
    if device == "cuda":
        peak = torch.cuda.max_memory_allocated() / 2**20
    else:
        peak = peak_mib_since_start() - before
    return {
        "preset": preset, "form": form, "points": points, "device": device,
        "seconds": round(statistics.median(times), 4), "peak_mib": round(peak),
    }  # fmt: skip


def table(rows: list[dict]) -> list[str]:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return results_page.table(keys, ([row.get(key, "") for key in keys] for row in rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for network_speed.json and network_speed.md")
    parser.add_argument("--authors", type=Path, help="folder with the authors' model.py and util.py")
    parser.add_argument("--only-authors", action="store_true", help="only the comparison with the authors' network")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and repeats")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        preset, points, device, form = arguments.one
        print(json.dumps(measure_one(preset, int(points), device, form)))
        return

    repeats = 3 if arguments.quick else 9
    authors = against_authors(arguments.authors, repeats) if arguments.authors else []
    if arguments.only_authors:
        print("\n".join(table(authors)))
        return
    compared = [
        compare(preset, batch, repeats if batch == 1 else 3) for preset in ("small", "paper") for batch in (1, 16)
    ]
    devices = ["cpu"] + ["cuda"] * torch.cuda.is_available()
    sizes = SIZES[:2] if arguments.quick else SIZES
    scaled = [
        scaling(preset, points, device, direct)
        for device in devices
        for preset in ("small", "paper")
        for points in sizes
        for direct in ((False, True) if points <= 2048 else (False,))
    ]
    against = ["Against the authors' code, one pair, 768 x 768 points:"], table(authors)
    text = results_page.page(
        "Speed of the network",
        ["One registration, 768 x 768 points, 3 passes; medians, seconds a batch:"],
        table(compared),
        *(against if authors else ()),
        [
            "One pair by size, as it runs by default: in bfloat16 where the device is fast at it (CPUs with AMX or",
            "avx512_bf16, GPUs). Each in a process of its own; peak memory above the loaded network:",
        ],
        table(scaled),
        command="python benchmarks/network_speed.py",
    )
    print(text)
    if arguments.out:
        results_page.write_results(arguments.out / "network_speed.json", {"compared": compared, "scaled": scaled}, text)


if __name__ == "__main__":
    main()
