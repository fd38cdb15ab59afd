"""Keyframes: scans kept with their poses, for the local map and for relocation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from prnet_core.geometry import se3
from prnet_core.geometry.subsets import at_most
from prnet_core.odometry.config import OdometryConfig
from prnet_core.odometry.deskew import deskew
from prnet_core.registration import RegistrationConfig, RegistrationResult
from prnet_core.registration.prepared_clouds import PreparedClouds
from prnet_core.registration.preprocess import PreparedCloud, prepare_cloud

MAX_PREPARED = 12  # keyframes
RANGE_EDGES = np.geomspace(0.1, 200.0, 25)
ELEVATION_EDGES = np.radians([-20.0, -5.0, 5.0, 20.0])


@dataclass(eq=False)
class Keyframe:
    """A scan kept, with its pose T_map_sensor (4, 4) and the covariance (6, 6) of that.

    points: (N, 3) float32, deskewed, in the sensor's frame. segment: poses of keyframes of one segment are related by
    measurement, to those of others by prediction. twist: (6,) of the sensor, m/s and rad/s, in its frame.
    """

    points: np.ndarray
    T_map_sensor: np.ndarray
    covariance: np.ndarray
    twist: np.ndarray
    segment: int = 0

    def __post_init__(self) -> None:
        self.points = self.points.astype(np.float32)
        self.signature = signature(self.points)

    def deskew(self, times: np.ndarray) -> None:
        """Bring points that were measured at times (N,), seconds, to time 0."""
        self.points = deskew(self.points.astype(np.float64), times, self.twist).astype(np.float32)


def is_keyframe(
    newest: Keyframe, pose: np.ndarray, result: RegistrationResult, max_distance: float, config: OdometryConfig
) -> bool:
    """Whether a scan at a pose (4, 4) of the map becomes a keyframe: by overlap, and by its distance to the newest.

    From a weak result only where the scan would leave the map otherwise. max_distance: metres.
    """
    if result.overlap_source < config.keyframe_overlap:
        return True
    distance, angle = se3.difference(newest.T_map_sensor, pose)
    moved = distance > max_distance or angle > config.keyframe_angle
    return result.status == "accepted" and moved


class Keyframes:
    """The keyframes of a trajectory in order of time. Memory is bounded by `max_frames` times `max_points`.

    When there are too many, one of the two nearest to each other is dropped: places remain covered.
    """

    def __init__(self, max_frames: int, max_points: int, num_protected: int):
        self._max_frames = max(max_frames, num_protected)
        self._max_points = max_points
        self._num_protected = num_protected
        self._frames: list[Keyframe] = []
        self._prepared = PreparedClouds(MAX_PREPARED)
        self._segment = 0

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, index: int) -> Keyframe:
        return self._frames[index]

    def add(self, points: np.ndarray, T_map_sensor: np.ndarray, covariance: np.ndarray, twist: np.ndarray) -> Keyframe:
        """Keep a scan (N, 3), at most `max_points` of its points. twist: (6,) of the sensor."""
        frame = Keyframe(at_most(points, self._max_points), T_map_sensor, covariance, twist, self._segment)
        self._frames.append(frame)
        if len(self._frames) > self._max_frames:
            self._drop_one()
        return frame

    def add_earlier(self, earlier: Keyframes, T_map_earlier: np.ndarray) -> None:
        """Also keep the keyframes of an earlier map, in another segment. T_map_earlier: (4, 4) into this map."""
        moved = [replace(frame, T_map_sensor=T_map_earlier @ frame.T_map_sensor) for frame in earlier._frames]
        self._segment = earlier._segment + 1
        for frame in self._frames:
            frame.segment = self._segment
        self._frames = moved + self._frames
        while len(self._frames) > self._max_frames:
            self._drop_one()

    def clear(self) -> None:
        """Drop all keyframes."""
        self._frames.clear()
        self.release()

    def release(self) -> None:
        """Drop the prepared targets: no scan is searched for any more."""
        self._prepared.clear()

    def prepared(self, frame: Keyframe, config: RegistrationConfig, voxel_size: float) -> PreparedCloud:
        """A keyframe as a target, with its sensor's position; the last `MAX_PREPARED` ones used are kept."""

        def prepare() -> PreparedCloud:
            return prepare_cloud(frame.points.astype(np.float64), voxel_size, config, np.zeros((1, 3)))

        return self._prepared.get(frame, voxel_size, prepare)

    def around(self, frame: Keyframe) -> list[Keyframe]:
        """The keyframes of a frame's segment, the nearest first; later keyframes are added to that segment."""
        self._segment = frame.segment
        position = frame.T_map_sensor[:3, 3]
        same = [other for other in self._frames if other.segment == frame.segment]
        return sorted(same, key=lambda other: float(np.linalg.norm(other.T_map_sensor[:3, 3] - position)))

    def most_similar_first(self, points: np.ndarray) -> list[Keyframe]:
        """All keyframes, those most similar to a scan (N, 3) in its sensor's frame first."""
        wanted = signature(points)
        return sorted(self._frames, key=lambda frame: float(np.abs(frame.signature - wanted).sum()))

    def _drop_one(self) -> None:
        """The older one of the two nearest keyframes that are not protected as the newest are."""
        positions = np.array([frame.T_map_sensor[:3, 3] for frame in self._frames[: -self._num_protected or None]])
        if len(positions) < 2:
            del self._frames[0]
            return
        distances = np.linalg.norm(positions[:, None] - positions[None], axis=2)
        np.fill_diagonal(distances, np.inf)
        del self._frames[int(min(divmod(int(distances.argmin()), len(distances))))]


def signature(points: np.ndarray) -> np.ndarray:
    """Shares of the points (N, 3) in cells of range and elevation: the same when the sensor turns about its z axis."""
    distance = np.linalg.norm(points, axis=1)
    elevation = np.arcsin(np.clip(points[:, 2] / np.maximum(distance, 1e-9), -1.0, 1.0))
    cell = np.searchsorted(RANGE_EDGES, distance) * (len(ELEVATION_EDGES) + 1)
    cell += np.searchsorted(ELEVATION_EDGES, elevation)
    num_cells = (len(RANGE_EDGES) + 1) * (len(ELEVATION_EDGES) + 1)
    return np.bincount(cell, minlength=num_cells) / max(1, len(points))
