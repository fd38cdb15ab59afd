"""Refined candidates of labelled pairs, correct and incorrect, for the verification benchmark.

A candidate is what the refinement makes of a hypothesis: the true transform, the frames as they are, the centroids, the
feature matches, and the true transform rotated by 90, 180, 270 (about z) or about 25 degrees, or shifted.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from verification_data import Pair

from prnet_core.geometry import se3
from prnet_core.geometry.se3 import transform_distance
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.alignment import AlignmentQuality, measure_alignment, nearest
from prnet_core.registration.candidate import Candidate
from prnet_core.registration.detail import Detail, measure_detail
from prnet_core.registration.feature_hypotheses import feature_transforms
from prnet_core.registration.preprocess import PreparedCloud, precise_points
from prnet_core.registration.registration import from_voxels, to_voxels
from prnet_core.registration.search import Search
from prnet_core.registration.uncertainty import free_direction
from prnet_core.registration.verify import verify

CONFIG = RegistrationConfig()
COLLECTING = replace(  # every hypothesis is refined to the end
    CONFIG, refined_hypotheses=3, max_violation_accepted=-1.0, min_meeting_fine=-1.0, min_meeting_final=-1.0
)
FOLDER = Path(__file__).resolve().parents[1] / "data" / "verification_candidates"


@dataclass(frozen=True)
class Alternative:
    """A transform (4, 4) that the search compares a candidate with, and whether it is correct."""

    transform: np.ndarray
    quality: AlignmentQuality
    is_correct: bool
    detail: Detail | None


@dataclass(frozen=True)
class Row:
    """One candidate: its pair, hypothesis, quality, whether it is correct, and what today's formula needs."""

    group: str
    recording: str
    pair: int
    has_answer: bool
    hypothesis: str
    quality: AlignmentQuality
    is_correct: bool
    errors: tuple[float, float]
    transform: np.ndarray  # T_target_source (4, 4)
    previous_information: float  # smallest eigenvalue with the target's normals alone
    detail: Detail | None = None  # where some thresholds could accept the candidate
    alternatives: tuple[Alternative, ...] = ()  # where some thresholds could accept the candidate


def voxel_and_clouds(pair: Pair) -> tuple[float, list[np.ndarray]]:
    """The voxel size and the points of source and target that `Registration.register` takes."""
    registration, origins = Registration(None, CONFIG), (pair.source_origin, pair.target_origin)
    both = zip((pair.source_points, pair.target_points), origins, strict=True)
    clouds = [precise_points(points, CONFIG, origin) for points, origin in both]
    return max(map(registration.pair_voxel_size_for, clouds)), clouds


def prepare(pair: Pair) -> tuple[PreparedCloud, PreparedCloud]:
    """Source and target as `Registration.register` prepares them."""
    voxel_size, clouds = voxel_and_clouds(pair)
    origins, registration = (pair.source_origin, pair.target_origin), Registration(None, CONFIG)
    return tuple(registration.prepare(c, voxel_size, o) for c, o in zip(clouds, origins, strict=True))


def hypotheses(
    pair: Pair, source: PreparedCloud, target: PreparedCloud, rng: np.random.Generator
) -> Iterator[list[tuple[str, np.ndarray]]]:
    """Groups of hypotheses that are refined together, in voxel units."""
    identity = to_voxels(np.eye(4), source, target)
    centroid = se3.make_transform(np.eye(3), target.points.mean(axis=0) - source.points.mean(axis=0))
    base = centroid
    if pair.T_target_source is not None:
        base = to_voxels(pair.T_target_source, source, target)
        yield [("truth", base)]
    yield [("identity", identity), ("centroid", centroid)]
    yield [("features", item) for item in feature_transforms(source, target, CONFIG)]
    centre = source.points.mean(axis=0)
    for degrees in (90.0, 180.0, 270.0):
        rotation = se3.rotation_exp(np.array([0.0, 0.0, np.radians(degrees)]))
        yield [("rotated", base @ se3.make_transform(rotation, centre - rotation @ centre))]
    if pair.T_target_source is not None:
        rotation = se3.rotation_exp(rng.normal(size=3) * np.radians(15.0))
        yield [("tilted", base @ se3.make_transform(rotation, centre - rotation @ centre))]
        reach = float(np.median(np.linalg.norm(source.points, axis=1)))
        yield [("shifted", se3.make_transform(np.eye(3), rng.normal(size=3) * (0.5, 0.5, 0.05) * reach) @ base)]


def candidates(pair: Pair, number: int, rng: np.random.Generator) -> list[Row]:
    """The distinct refined candidates of a pair."""
    source, target = prepare(pair)
    if min(len(source), len(target)) < CONFIG.min_points:
        return []
    search = Search(source, target, None, COLLECTING)
    extent = float(np.median(np.linalg.norm(source.points, axis=1)))
    found = []
    for group in hypotheses(pair, source, target, rng):
        for candidate in search.refine(group) if group else []:
            if all(transform_distance(candidate.transform, other.transform, extent) > 1.0 for other in found):
                found.append(candidate)
    rows = []
    for candidate in found:
        transform = from_voxels(candidate.transform, source, target)
        rows.append(
            Row(
                pair.group,
                pair.recording,
                number,
                pair.T_target_source is not None,
                candidate.hypothesis,
                replace(candidate.quality, samples=()),
                pair.is_correct(transform),
                pair.errors(transform),
                transform,
                previous_information(source, target, candidate.transform, candidate.quality),
                detail_of(source, target, candidate.quality),
                alternatives_of(pair, source, target, candidate),
            )
        )
    return rows


def previous_information(
    source: PreparedCloud, target: PreparedCloud, transform: np.ndarray, quality: AlignmentQuality
) -> float:
    """Smallest eigenvalue of the mean of J^T J with the target's normals alone."""
    moved = se3.apply(transform, source.points)
    index, distance = nearest(target.level.tree, moved, 1)
    normals = target.normals[index]
    cosines = np.abs(np.sum((source.normals @ transform[:3, :3].T) * normals, axis=1))
    inliers = (distance < CONFIG.inlier_distance_voxels) & (cosines > np.cos(np.pi / 4))
    if not inliers.any():
        return 0.0
    lever = (moved[inliers] - quality.centroid) / quality.radius
    jacobian = np.hstack([normals[inliers], np.cross(lever, normals[inliers])])
    return float(np.linalg.eigvalsh(jacobian.T @ jacobian / len(jacobian))[0])


def detail_of(source: PreparedCloud, target: PreparedCloud, quality: AlignmentQuality) -> Detail | None:
    """The detail of a measured candidate, where it may decide: see `could_be_accepted`."""
    if not could_be_accepted(quality):
        return None
    return measure_detail(source, target, quality, CONFIG)


def alternatives_of(
    pair: Pair, source: PreparedCloud, target: PreparedCloud, candidate: Candidate
) -> tuple[Alternative, ...]:
    """What the search compares a measured candidate with, where that may decide: see `could_be_accepted`."""
    if not could_be_accepted(candidate.quality):
        return ()
    found = []
    for other in Search(source, target, None, CONFIG).alternatives(candidate):
        transform = from_voxels(other.transform, source, target)
        quality, detail = replace(other.quality, samples=()), detail_of(source, target, other.quality)
        found.append(Alternative(transform, quality, pair.is_correct(transform), detail))
    return tuple(found)


def could_be_accepted(quality: AlignmentQuality) -> bool:
    """Whether some thresholds of `verification_thresholds.py` accept a candidate."""
    if quality.num_inliers < CONFIG.min_inliers or free_direction(quality, CONFIG) is not None:
        return False
    agrees = quality.surface_agreement > 0.6 and quality.agreement > 0.15
    return agrees and (quality.violation is None or quality.violation < 0.15)


def collect(name: str, pairs: Iterator[Pair], part: tuple[int, int] = (0, 1)) -> None:
    """Write the candidates of every n-th pair (part = first, n) to the folder of candidates."""
    rng, rows = np.random.default_rng(part[0]), []
    for number, pair in enumerate(pairs):
        if number % part[1] == part[0]:
            rows += candidates(pair, number, rng)
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"{name.replace(' ', '_')}.{part[0]}of{part[1]}.pickle"
    file.write_bytes(pickle.dumps(rows))
    print(f"{name}: {len(rows)} candidates, {sum(row.is_correct for row in rows)} correct", flush=True)


def measure_again(name: str, pairs: Iterator[Pair]) -> None:
    """Measure the collected candidates of a group as the code now does; the transforms stay."""
    files = sorted(FOLDER.glob(f"{name.replace(' ', '_')}.*.pickle"))
    rows = {file: pickle.loads(file.read_bytes()) for file in files}
    for number, pair in enumerate(pairs):
        mine = [(file, i) for file, found in rows.items() for i, row in enumerate(found) if row.pair == number]
        if not mine:
            continue
        source, target = prepare(pair)
        for file, i in mine:
            row = rows[file][i]
            transform = to_voxels(row.transform, source, target)
            quality = measure_alignment(source, target, transform, CONFIG)
            candidate = Candidate(row.hypothesis, transform, quality, verify(quality, CONFIG)[0])
            rows[file][i] = replace(
                row,
                quality=replace(quality, samples=()),
                detail=detail_of(source, target, quality),
                alternatives=alternatives_of(pair, source, target, candidate),
            )
    for file, found in rows.items():
        file.write_bytes(pickle.dumps(found))


def load() -> dict[str, list[Row]]:
    """The candidates by file name's group."""
    rows: dict[str, list[Row]] = {}
    for file in sorted(FOLDER.glob("*.*of*.pickle")):
        rows.setdefault(file.name.split(".")[0].replace("_", " "), []).extend(pickle.loads(file.read_bytes()))
    return rows
