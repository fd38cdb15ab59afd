"""A long drive: memory, file handles, threads and time a scan stay as they were, and every scan is accounted for.

    OMP_NUM_THREADS=1 python benchmarks/soak.py --scans 20000 --out docs/results/soak.json

The simulator drives round and round through a place, with moving people, lost scans and jitter of the stamps; some
scans are empty or have a stamp far ahead. What the process holds after the first tenth of the scans (2,000 of
20,000) is compared with what it holds at the end. Ends with exit code 1 when a limit is exceeded.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from prnet_core.evaluation.table import measured_here
from prnet_core.odometry import ScanOdometry
from prnet_core.registration import Registration
from prnet_core.simulation.drives import simulate_drive

MAX_GROWTH = 0.05  # of the memory after the first tenth
EMPTY_EVERY, OUTLIER_EVERY = 211, 307  # scans between empty scans, and between stamps 100 s ahead


def process_state() -> dict[str, float]:
    """Resident megabytes, open file handles and threads of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "megabytes": pages * 4096 / 1e6,
        "handles": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
    }


def drive(place: str, sensor: str, num_scans: int):
    """(stamp, points (N, 3), times (N,)) of a drive with faults."""
    scans = simulate_drive(place, sensor, num_scans, lost_share=0.02, stamp_jitter=0.002)
    for scan in scans:
        points, times, stamp = scan.points, scan.point_times, scan.stamp
        if scan.index % EMPTY_EVERY == EMPTY_EVERY - 1:
            points, times = points[:0], times[:0]
        if scan.index % OUTLIER_EVERY == OUTLIER_EVERY - 1:
            stamp += 100.0
        yield stamp, points, times


def run(place: str, sensor: str, num_scans: int) -> dict:
    """Feed the drive to the odometry; states, counts by status, and milliseconds a scan of the first and last tenth."""
    odometry = ScanOdometry(Registration(None))
    counts, milliseconds, fed = Counter(), [], 0
    settled = None
    for stamp, points, times in drive(place, sensor, num_scans):
        began = time.process_time()
        update = odometry.register_scan(points, stamp, times)
        milliseconds.append(1e3 * (time.process_time() - began))
        counts[update.status] += 1
        fed += 1
        if settled is None and fed >= num_scans // 10:
            settled = process_state()
        if fed % 500 == 0:
            state = process_state()
            print(f"{fed}: {state['megabytes']:.0f} MB, {dict(counts)}, {len(odometry.keyframes)} keyframes")
    end = process_state()
    tenth = max(1, len(milliseconds) // 10)
    return {
        "place": place,
        "sensor": sensor,
        "scans": fed,
        "counts": dict(counts),
        "accounted": counts.total() == fed,
        "settled": settled,
        "end": end,
        "growth": end["megabytes"] / settled["megabytes"] - 1.0,
        "median_ms": [
            float(np.median(milliseconds[tenth : 2 * tenth])),
            float(np.median(milliseconds[-tenth:])),
        ],
        "p99_ms": [
            float(np.quantile(milliseconds[:-tenth], 0.99)),
            float(np.quantile(milliseconds[-tenth:], 0.99)),
        ],
    }


def problems(result: dict) -> list[str]:
    """What exceeds a limit, in words."""
    found = []
    if result["growth"] > MAX_GROWTH:
        found.append(f"memory grew by {100 * result['growth']:.1f} %")
    for kind in ("handles", "threads"):
        if result["end"][kind] > result["settled"][kind]:
            found.append(f"{kind}: {result['settled'][kind]} -> {result['end'][kind]}")
    if not result["accounted"]:
        found.append(f"{result['scans']} scans, {result['counts']}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scans", type=int, default=20_000)
    parser.add_argument("--place", default="office")
    parser.add_argument("--sensor", default="lidar16")
    parser.add_argument("--out", type=Path, help="JSON here")
    args = parser.parse_args()
    result = run(args.place, args.sensor, args.scans)
    result["problems"] = problems(result)
    result["machine"] = measured_here()
    text = json.dumps(result, indent=1)
    print(text)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text)
    if result["problems"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
