"""A whole training job in one command, for a machine with a CUDA device and nothing to install.

    python3 scripts/gpu_job.py --data FOLDER --out FOLDER --max-minutes 9

It needs torch, numpy, scipy, safetensors and tqdm, and the folder that scripts/pack_training_data.py makes. It draws
the scenes of the scan-like pairs, trains on from the given weights, and measures before and after. Into --out go,
small enough for ways that carry no large files, and as soon as there are any: the best weights in pieces
(scripts/weight_pieces.py joins them), log.jsonl and report.json.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LATENCY_POINTS = (512, 768, 1024, 2048)


def main() -> None:
    started = time.monotonic()
    arguments = parse_arguments()
    sys.path.insert(0, str(ROOT))
    try:
        import roma  # noqa: F401
    except ImportError:
        sys.path.append(str(arguments.data / "roma.zip"))
    run = Path(tempfile.mkdtemp(prefix="gpu_job_"))
    arguments.out.mkdir(parents=True, exist_ok=True)
    views = run / "scan_views.npz"
    make_scenes(views, arguments.scenes)

    from prnet_core.model import load_network
    from prnet_core.training import Trainer

    def seconds_left() -> float:
        return 60.0 * arguments.max_minutes - (time.monotonic() - started)

    config = job_config(arguments, views)
    device = job_device(arguments.device)
    report = {
        "device": device_name(device),
        "before": evaluate(load_network(config.init_from, device), arguments),
    }
    # The trainer's last validation is twice as much as this evaluation, which is then repeated; and the latency.
    training_minutes = (seconds_left() - 3.5 * report["before"]["seconds"] - 15.0) / 60.0
    if training_minutes <= 0.0:
        raise SystemExit("nothing of --max-minutes is left for training: fewer --scenes or --pairs")
    trainer = Trainer(replace(config, max_minutes=training_minutes), run, device)
    weights = WeightsOut(run, arguments.out)
    report["validation"] = trainer.run(weights.update)
    weights.update()
    report["steps"] = trainer.progress.step
    report["skipped"] = trainer.progress.skipped
    report["training_minutes"] = round(trainer.progress.seconds / 60.0, 2)
    network = load_network(run / "best.safetensors", device)
    report["after"] = evaluate(network, arguments)
    report["latency_ms"] = latency(network, device, seconds_left() / 2.0)
    report["minutes"] = round((time.monotonic() - started) / 60.0, 2)
    (arguments.out / "report.json").write_text(json.dumps(report, indent=1))
    print(json.dumps(report, indent=1))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of scripts/pack_training_data.py")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--max-minutes", type=float, default=9.0, help="of the whole job")
    parser.add_argument(
        "--weights", type=Path, help="where to go on from; the packaged weights when left out"
    )
    parser.add_argument("--device", default="auto")
    parser.add_argument("--scenes", type=int, default=1500, help="a core draws 25 a second")
    parser.add_argument("--pairs", type=int, default=256, help="of the evaluation before and after")
    parser.add_argument("--batch-size", type=int, help="instead of the recipe's")
    return parser.parse_args()


def make_scenes(path: Path, count: int) -> None:
    """Views of `count` scenes, by every core; before CUDA starts, which no fork survives."""
    import numpy as np

    from prnet_core.simulation.scan_views import ScanViews, scan_scene

    with multiprocessing.get_context("fork").Pool() as pool:
        ScanViews.pack(pool.map(scan_scene, np.random.default_rng(0).spawn(count), chunksize=4)).save(path)


def job_device(name: str):
    """The device; several workers beside it need the cores more than torch does."""
    import torch

    from prnet_core.model import choose_device

    device = choose_device(name)
    if device.type == "cpu":
        torch.set_num_threads(1)
    return device


def device_name(device) -> str:
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


def job_config(arguments: argparse.Namespace, views: Path):
    """The packed recipe with this machine's paths and cores."""
    import numpy as np

    from prnet_core.model.weights import PACKAGED
    from prnet_core.training import make_training_config

    data = arguments.data / "training_data.npz"
    with np.load(data) as file:
        recipe = json.loads(str(file["recipe"]))
    recipe |= {
        "shapes": str(data),
        "scan_views": str(views),
        "init_from": str(arguments.weights or PACKAGED),
        "workers": min(recipe["workers"], (os.cpu_count() or 1) - 1),
        "batch_size": arguments.batch_size or recipe["batch_size"],
        "validation_pairs": min(recipe["validation_pairs"], arguments.pairs),
    }
    return make_training_config(recipe)


class WeightsOut:
    """Puts the run's best weights, in pieces, and its log into a folder whenever there are better ones."""

    def __init__(self, run: Path, out: Path) -> None:
        self.run, self.out, self.written = run, out, 0.0

    def update(self) -> bool:
        """Returns False, as the trainer's `should_stop`."""
        from weight_pieces import split

        best = self.run / "best.safetensors"
        if best.exists() and best.stat().st_mtime != self.written:
            self.written = best.stat().st_mtime
            split(best, self.out)
            shutil.copy(self.run / "log.jsonl", self.out)
        return False


def evaluate(network, arguments: argparse.Namespace) -> dict:
    """The paper's protocol on the shapes that are held out of training, network alone."""
    import numpy as np
    from prnet_core.evaluation.protocol import protocol_pair

    from prnet_core.evaluation.learned_methods import NetworkMethod
    from prnet_core.evaluation.metrics import compute_metrics
    from prnet_core.shapes.shape_sets import load_shapes
    from prnet_core.training.pair_source import split_by_group

    started = time.monotonic()
    method = NetworkMethod(network)
    shapes = split_by_group(load_shapes(arguments.data / "training_data.npz"), 128)[1]
    estimated, true = [], []
    for index in range(arguments.pairs):
        source, target, T_target_source = protocol_pair(shapes.points[index % len(shapes)], index)
        estimated.append(method.register(source, target))
        true.append(T_target_source)
    metrics = compute_metrics(np.stack(estimated), np.stack(true))
    rounded = {name: round(value, 5) for name, value in metrics.items()}
    return rounded | {"pairs": arguments.pairs, "seconds": round(time.monotonic() - started, 2)}


def latency(network, device, max_seconds: float) -> dict[str, float]:
    """Median milliseconds a pair at batch one, by the number of points of each cloud."""
    import torch

    result = {}
    for num_points in LATENCY_POINTS:
        clouds = [torch.rand(1, num_points, 3, device=device) - 0.5 for _ in range(2)]
        times: list[float] = []
        until = time.monotonic() + max_seconds / len(LATENCY_POINTS)
        while len(times) < 3 or (len(times) < 20 and time.monotonic() < until):
            began = time.monotonic()
            network.register(*clouds).cpu()
            times.append(1000.0 * (time.monotonic() - began))
        result[f"{num_points}_points"] = round(statistics.median(times[2:]), 2)
    if device.type == "cuda":
        result["peak_memory_mb"] = round(torch.cuda.max_memory_allocated(device) / 1e6)
    return result


if __name__ == "__main__":
    main()
