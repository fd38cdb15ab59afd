"""Simulated recordings, for fine-tuning, of kinds that the training data do not hold: scans along a path, and pairs.

Each scan is taken standing (as if perfectly deskewed); people and cars move between the scans.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from registration_data import Pair
from surveys import RINGS_9

from prnet_core.geometry import se3
from prnet_core.geometry.overlap import mutual_overlap
from prnet_core.geometry.voxels import voxel_centroids
from prnet_core.registration.preprocess import choose_voxel_size
from prnet_core.simulation.drives import Drive
from prnet_core.simulation.outdoors import street
from prnet_core.simulation.places import Place
from prnet_core.simulation.two_scans import Sensor, scan_from

NUM_SCANS, FIRST_SECOND = 100, 2.0  # the first scan's time: the drive starts from rest
OVERLAP_POINTS, OVERLAP_VOXELS = 5000, 2.0
MIN_OVERLAP, MAX_OVERLAP, MOST_PAIRS = 0.2, 0.4, 30


@dataclass(frozen=True)
class Kind:
    """A kind of place and its sensor, metres between scans, and degrees and metres of a correct transform."""

    place: Callable[[int], Place]
    sensor: Sensor
    step: float
    tolerance: tuple[float, float]


KINDS = {"9 rings in a street": Kind(street, RINGS_9, 1.5, (5.0, 1.0))}


@dataclass(frozen=True)
class SimulatedRecording:
    """Scans (N_i, 3) in their sensor's frames, and poses T_world_sensor (4, 4)."""

    name: str
    scans: list[np.ndarray]
    poses: list[np.ndarray]
    tolerance: tuple[float, float]

    def pairs_of_second_half(self) -> Iterator[Pair]:
        """At most 30 pairs with an overlap of 0.2 to 0.4, of scans of the second half, in random order."""
        late = range(len(self.scans) // 2, len(self.scans))
        voxels = {index: choose_voxel_size(self.scans[index], OVERLAP_POINTS) for index in late}
        every, found = list(combinations(late, 2)), 0
        for number in np.random.default_rng(0).permutation(len(every)):
            if found == MOST_PAIRS:
                return
            target, source = every[number]
            T = se3.invert(self.poses[target]) @ self.poses[source]
            voxel = max(voxels[target], voxels[source])
            moved = se3.apply(T, self.scans[source])
            clouds = [voxel_centroids(points, voxel) for points in (moved, self.scans[target])]
            if MIN_OVERLAP < mutual_overlap(*clouds, OVERLAP_VOXELS * voxel) <= MAX_OVERLAP:
                found += 1
                name = f"{self.name} {target} <- {source}"
                yield Pair(name, self.scans[source], self.scans[target], T, self.tolerance, is_scan=True)


def simulated_recording(name: str, seed: int) -> SimulatedRecording:
    """100 scans along the path of a place of a kind (`KINDS`); `seed` chooses the place and the noise."""
    kind, rng = KINDS[name], np.random.default_rng([seed, 31])
    place = kind.place(seed)
    drive = Drive(place, kind.sensor, NUM_SCANS, seed)
    scene, scans, poses = place.scene(), [], []
    for number in range(NUM_SCANS):
        time = FIRST_SECOND + number * kind.step / place.speed
        poses.append(drive.trajectory(np.float64(time)))
        scans.append(scan_from(kind.sensor, scene, poses[-1], rng, time).astype(np.float64))
    return SimulatedRecording(name, scans, poses, kind.tolerance)
