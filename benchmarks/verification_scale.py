"""Whether the verification depends on the voxel size: the same pairs with half, once and twice the automatic one.

    OMP_NUM_THREADS=1 python benchmarks/verification_scale.py --every 3

Each pair is refined from its ground truth and measured. Prints medians, and how many of the correct transforms are
accepted by themselves.
"""

from __future__ import annotations

import argparse
from itertools import islice

import numpy as np
from verification_candidates import voxel_and_clouds
from verification_data import available_groups, pairs

from prnet_core.registration import Registration
from prnet_core.registration.registration import from_voxels, to_voxels
from prnet_core.registration.search import Search
from prnet_core.registration.verify import verify

GROUPS = ("rooms", "street", "stairs", "garage", "table top", "depth camera", "sample LiDAR", "sample camera")
FACTORS = (0.5, 1.0, 2.0)


def measure(group: str, every: int) -> list[str]:
    """Rows of the table, one a factor."""
    registration, lines = Registration(None), []
    found = list(islice(pairs(group), 0, None, every))
    for factor in FACTORS:
        values, accepted, correct = [], 0, 0
        for pair in found:
            voxel_size, clouds = voxel_and_clouds(pair)
            origins = (pair.source_origin, pair.target_origin)
            both = zip(clouds, origins, strict=True)
            source, target = (registration.prepare(points, factor * voxel_size, origin) for points, origin in both)
            search = Search(source, target, None, registration.config)
            candidate = search.refine([("truth", to_voxels(pair.T_target_source, source, target))])[0]
            if pair.is_correct(from_voxels(candidate.transform, source, target)):
                correct += 1
                accepted += verify(candidate.quality, registration.config)[0] == "accepted"
            quality = candidate.quality
            values.append((len(source), quality.agreement, quality.surface_agreement, quality.violation))
        points, agreement, surface, violation = np.median(np.array(values, dtype=float), axis=0)
        lines.append(
            f"| {group} | {factor:g} | {points:.0f} | {len(found)} | {correct} | {accepted} | "
            f"{agreement:.2f} | {surface:.2f} | {violation:.4f} |"
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=3, help="takes every n-th pair of a group")
    parser.add_argument("--groups", nargs="+", default=GROUPS)
    arguments = parser.parse_args()
    print("| group | voxel x | points | pairs | correct | accepted | agreement | surface agreement | violation |")
    print("|" + "---|" * 9)
    for group in arguments.groups:
        if group in available_groups():
            print("\n".join(measure(group, arguments.every)), flush=True)


if __name__ == "__main__":
    main()
