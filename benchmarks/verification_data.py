"""Labelled pairs of scans for the verification benchmark: several groups, each of several recordings.

Simulated groups are generated, the same for the same seed, and kept in data/verification. Real scans lie in
../shared/data/scans; a group whose scans are not there is left out. `pairs()` gives pairs of one place with their
relative pose, and `different_places()` pairs without a correct answer.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

import numpy as np
from labelled_pair import ORIGIN, Pair
from pair_cache import cached
from real_pairs import REAL_PAIRS, real_scans
from registration_data import SCANS
from scipy.spatial import cKDTree
from simulated_pairs import (
    corridor_pairs,
    room_pairs,
    room_scan,
    single_scans,
    survey_pairs,
    twin_rooms,
)
from survey import Surveys
from surveys import (
    ALL_SURVEYS,
    EIGHTH_SURVEYS,
    FIFTH_SURVEYS,
    FOURTH_SURVEYS,
    LATER_SURVEYS,
    NARROW,
    NINTH_SURVEYS,
    SEED_EIGHTH,
    SEED_FIFTH,
    SEED_FOURTH,
    SEED_LATER,
    SEED_NINTH,
    SEED_SEVENTH,
    SEED_SIXTH,
    SEED_TENTH,
    SEED_THIRD,
    SEVENTH_SURVEYS,
    SIXTH_SURVEYS,
    SURVEYS,
    TENTH_SURVEYS,
    THIRD_SURVEYS,
    seed_of,
)

from prnet_core.geometry import se3
from prnet_core.simulation.two_scans import room_pair

SIMULATED = ("rooms", "corridors", "twins", *ALL_SURVEYS)
FEWEST_POINTS = 100  # of a scan: fewer show nothing


def available_groups() -> list[str]:
    """Names of the groups whose data are here."""
    return [*SIMULATED, *(group for group in REAL_PAIRS if group.startswith("sample") or SCANS.is_dir())]


def pairs(group: str, seed: int = 0) -> list[Pair]:
    """The pairs of one place of a group; `seed` chooses the simulated ones. Raises KeyError for an unknown group."""
    if group in SIMULATED:
        seed += seed_of(group)
        return cached(group, seed, lambda: _simulated(group, seed))
    return list(REAL_PAIRS[group]())


def different_places(seed: int = 0) -> list[Pair]:
    """Pairs of different places, at least 300: within a recording, across recordings of a group, across groups.

    Scans of one recording are a pair only if they have nothing in common. Twin rooms are not among them (see
    `twin_pairs`). Real scans are among them where they are there.
    """
    name = "different places" if SCANS.is_dir() else "different simulated places"
    return cached(name, seed, lambda: _different_places(seed))


def narrow_places() -> Iterator[Pair]:
    """Pairs of different places seen by sensors with a narrow field of view: two of each two recordings of a group."""
    for group in NARROW:
        recordings = list(single_scans(group, 3, seed_of(group)))
        for (name, scans), (other, others) in combinations(recordings, 2):
            for first, second in ((0, 1), (1, 2)):
                source, target = scans[first][0], others[second][0]
                if min(len(source), len(target)) >= FEWEST_POINTS:
                    yield _different(group, f"{name}, {other}", source, target)


def later_places() -> Iterator[Pair]:
    """Pairs of different places of `LATER_SURVEYS`: of each two consecutive recordings."""
    for group in LATER_SURVEYS:
        recordings = list(single_scans(group, 1, SEED_LATER))
        for (name, scans), (other, others) in zip(recordings, recordings[1:], strict=False):
            yield _different(group, f"{name}, {other}", scans[0][0], others[0][0])


def places_around(surveys: Surveys, seed: int, steps: tuple[int, ...] = (1, 2, 3)) -> Iterator[Pair]:
    """Pairs of different places: every recording of a survey with the ones `steps` later, the first after the last."""
    for group in surveys:
        recordings = list(single_scans(group, 2, seed, surveys))
        for number, (name, scans) in enumerate(recordings):
            for step in steps:
                other, others = recordings[(number + step) % len(recordings)]
                yield _different(group, f"{name}, {other}", scans[0][0], others[step % 2][0])


def without_halls(surveys: Surveys) -> Surveys:
    """Without halls that have equal walls, columns or closets."""
    return {name: survey for name, survey in surveys.items() if name != "40 rings" and "hall" not in name}


PLACES: dict[str, Callable[[], Iterator[Pair]]] = {
    "third different places": partial(places_around, without_halls(THIRD_SURVEYS), SEED_THIRD),
    "fourth different places": partial(places_around, FOURTH_SURVEYS, SEED_FOURTH, (1, 2, 3, 4)),
    "fifth different places": partial(places_around, FIFTH_SURVEYS, SEED_FIFTH, (1, 2)),
    "sixth different places": partial(places_around, SIXTH_SURVEYS, SEED_SIXTH),
    "seventh different places": partial(places_around, SEVENTH_SURVEYS, SEED_SEVENTH),
    "eighth different places": partial(places_around, without_halls(EIGHTH_SURVEYS), SEED_EIGHTH, (1, 2)),
    "ninth different places": partial(places_around, NINTH_SURVEYS, SEED_NINTH, (1, 2, 3, 4, 5, 6)),
    "tenth different places": partial(places_around, TENTH_SURVEYS, SEED_TENTH, (1, 2, 3, 4, 5, 6)),
}


def _simulated(group: str, seed: int) -> Iterator[Pair]:
    if group == "twins":
        yield from twin_pairs(seed)
        return
    made = {"rooms": room_pairs, "corridors": corridor_pairs}
    scans = made[group](seed) if group in made else survey_pairs(group, seed)
    for scan in scans:
        yield Pair(group, scan.scene, scan.source, scan.target, scan.T_target_source, ORIGIN, ORIGIN, tolerance(group))


def tolerance(group: str) -> tuple[float, float]:
    """Degrees and metres of a correct answer: stereo cameras, with noise of a percent of the range, rotate more."""
    if group in ("table top", "near stereo", "close stereo"):
        return 3.0, 0.05
    return (3.0, 0.3) if "stereo" in group else (2.0, 0.3)


def twin_pairs(seed: int = 0, same_room: bool = True) -> Iterator[Pair]:
    """Scans of the eight equal rooms of a building: two of the same room (16 pairs), or of two of them (28 pairs).

    The latter have no correct answer though the rooms' insides agree: only what is seen through the doors differs.
    """
    scene, twins, _ = twin_rooms(seed)
    rng = np.random.default_rng([seed, 50])
    rooms = [(i, i) for i in range(len(twins)) for _ in range(2)]
    for first, second in rooms if same_room else combinations(range(len(twins)), 2):
        target, T_world_target = room_scan(scene, twins[first], rng)
        source, T_world_source = room_scan(scene, twins[second], rng)
        relative = se3.invert(T_world_target) @ T_world_source if same_room else None
        yield Pair("twins", f"twins {seed}", source, target, relative, ORIGIN, ORIGIN)


def _different_places(seed: int) -> Iterator[Pair]:
    rng = np.random.default_rng([seed, 51])
    everything: list[tuple[str, str, np.ndarray]] = []
    for group in SURVEYS:
        recordings = list(single_scans(group, 3, seed))
        everything += [(group, name, scan) for name, scans in recordings for scan, _ in scans[:2]]
        for name, scans in recordings:
            yield from _apart(group, name, scans)
        for (name, scans), (other, others) in combinations(recordings, 2):
            if rng.random() < 0.4:
                yield _different(group, f"{name}, {other}", scans[0][0], others[1][0])
    rooms = [room_pair(number, 135.0, seed) for number in range(12)]
    everything += [("rooms", room.scene, room.source) for room in rooms]
    for first, second in combinations(rooms, 2):
        yield _different("rooms", f"{first.scene}, {second.scene}", first.source, second.target)
    scene, twins, others = twin_rooms(seed)
    scans = [room_scan(scene, middle, rng) for middle in (*others[:12], twins[0])]
    yield from _apart("rooms of a building", f"building {seed}", scans)
    if SCANS.is_dir():
        everything += real_scans()
    for _ in range(120):
        first, second = rng.choice(len(everything), 2, replace=False)
        if everything[first][0] != everything[second][0]:
            names = f"{everything[first][1]}, {everything[second][1]}"
            yield _different("other groups", names, everything[first][2], everything[second][2])


def _apart(group: str, recording: str, scans: list[tuple[np.ndarray, np.ndarray]]) -> Iterator[Pair]:
    """Every two of a recording's scans (points, T_world_sensor) that have less than 5 % of the points within 1 m."""
    worlds = [se3.apply(pose, points) for points, pose in scans]
    trees = [cKDTree(points) for points in worlds]
    for first, second in combinations(range(len(scans)), 2):
        distance, _ = trees[second].query(worlds[first][::5], distance_upper_bound=1.0)
        if np.isfinite(distance).mean() < 0.05:
            yield _different(group, recording, scans[first][0], scans[second][0])


def _different(group: str, recording: str, source: np.ndarray, target: np.ndarray) -> Pair:
    return Pair(group, recording, source, target, None, ORIGIN, ORIGIN)


def main() -> None:
    """List the groups: pairs, recordings, points, seconds to make."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    print("| group | pairs | recordings | points a scan | seconds |\n|---|---|---|---|---|")
    for group in [*available_groups(), "different places", "different twins"]:
        start = time.perf_counter()
        makers = {"different places": different_places, "different twins": lambda s: twin_pairs(s, False)}
        found = list(makers[group](seed) if group in makers else pairs(group, seed))
        points = np.median([len(pair.source_points) for pair in found])
        recordings = len({pair.recording for pair in found})
        print(f"| {group} | {len(found)} | {recordings} | {points:.0f} | {time.perf_counter() - start:.1f} |")


if __name__ == "__main__":
    main()
