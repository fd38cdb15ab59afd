"""The local map: the last keyframes joined, as the targets that a scan is registered to and refined on."""

from collections import deque
from typing import NamedTuple

import numpy as np
import small_gicp

from prnet_core.geometry import se3
from prnet_core.geometry.rows import row_dots, row_norms
from prnet_core.geometry.voxels import voxel_means
from prnet_core.odometry.keyframes import Keyframe
from prnet_core.odometry.ring_normals import without_ring_planes
from prnet_core.registration import RegistrationConfig
from prnet_core.registration.preprocess import NO_NORMALS, Level, PreparedCloud, prepare_cloud
from prnet_core.registration.sample import thickness_and_spacing

FINE_VOXEL = 0.5  # voxels between the points of the fine target
PRECISE_THICKNESS = 0.15  # of FINE_VOXEL: surfaces of a precise sensor are less thick
NUM_VIEWS = 2  # newest keyframes whose rays verify free space
MAX_POINTS = 40_000  # of the map before the voxel filter, and
MAX_FILTERED_POINTS = 100_000  # of the keyframes that are filtered at once: they bound the cost of a change
MAX_REFINED = 3  # keyframes a scan that are filtered again for a smaller voxel, the newest first
FINE_ENOUGH = 1.5  # voxels that fine surfaces were filtered for: their points are then still closer than a voxel
NO_VIEW = -1
NORMAL_NEIGHBORS = 10  # for the normals of a keyframe, and
SPARSE_NEIGHBORS, SPARSE_SPACING = 15, 1.8  # of a sparse one, its points so many of its voxels apart
MAX_CHANGE = 0.03  # share of the points that come into view or leave it before the target is built again
CHECKED_EVERY = 8  # points: every eighth is checked for being in view
BACK_FACING = -0.15  # cosine between a normal and the ray to the sensor below which a surface shows its other side


class Surface(NamedTuple):
    """A keyframe's points (N, 3) in the map's frame, and their normals (N, 3) towards its sensor.

    is_fine: a point per FINE_VOXEL, as precise sensors have it. is_sparse: its points are further apart than that, as
    few rings are. voxel_size: that they were filtered for.
    """

    points: np.ndarray
    normals: np.ndarray
    is_fine: bool
    is_sparse: bool
    voxel_size: float

    def suits(self, voxel_size: float) -> bool:
        """Whether its points are close enough for a voxel of this size."""
        return self.voxel_size <= (FINE_ENOUGH if self.is_fine else 1.0) * voxel_size


EMPTY = Surface(np.zeros((0, 3)), np.zeros((0, 3)), False, False, np.inf)


class LocalMap:
    """The last `num_keyframes` keyframes in the map's frame, prepared with one voxel size."""

    def __init__(self, config: RegistrationConfig, num_keyframes: int):
        self._config = config
        self._frames: deque[Keyframe] = deque(maxlen=num_keyframes)
        self._filtered: deque[Surface] = deque(maxlen=num_keyframes)
        self._voxel_size = 0.0
        self._fine_neighbors = NO_NORMALS  # of the last filtered keyframe: the next one's will be the same
        self._joined = EMPTY  # as fine as the newest
        self._target: PreparedCloud | None = None
        self._fine_target: PreparedCloud | None = None
        self._position = np.zeros(3)  # that the target was last checked for,
        self._is_shown = np.zeros(0, bool)  # which of the checked points were in view,
        self._rows = np.zeros(0, np.int64)  # and which of all points the target was built of

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def newest(self) -> Keyframe:
        return self._frames[-1]

    @property
    def num_neighbors(self) -> int | None:
        """For the normals of voxel filtered points of the sensor; None: by their noise.

        What is thick is curved where the sensor is precise.
        """
        return self._config.num_neighbors if self._joined.is_fine else None

    @property
    def is_sparse(self) -> bool:
        """Whether the newest keyframe shows little of the surfaces between its points."""
        return self._filtered[-1].is_sparse

    def add(self, frame: Keyframe) -> None:
        """Join a keyframe; the oldest one leaves when there are too many."""
        self._frames.append(frame)
        self._filtered.append(EMPTY)
        self._target = None

    def restart(self, frames: list[Keyframe]) -> None:
        """Join these keyframes only; the first of them counts as the newest."""
        self._frames.clear()
        self._filtered.clear()
        for frame in reversed(frames):
            self.add(frame)

    def target(self, voxel_size: float, position: np.ndarray, reach: float) -> PreparedCloud:
        """The map, prepared, as it is seen from `position` (3,): points within `reach`, and no backs of surfaces.

        Built when first needed after a change, and when the position shows another part of it. After a change to a
        smaller voxel older keyframes remain coarser for a few positions, which spreads the cost.
        """
        if voxel_size != self._voxel_size:
            self._voxel_size, self._target = voxel_size, None
        if self._target is None or not np.array_equal(position, self._position):
            self._refine_surfaces()
            self._position = position.copy()
            is_shown = self._is_visible(position, reach, CHECKED_EVERY)
            if self._target is None or np.mean(is_shown != self._is_shown) > MAX_CHANGE:
                self._is_shown, self._rows = is_shown, self._choose(self._is_visible(position, reach))
                self._target, self._fine_target = self._build(), None
        return self._target

    def fine_target(self, voxel_size: float, position: np.ndarray, reach: float) -> PreparedCloud:
        """The surfaces of `target` with a point per FINE_VOXEL, and normals that are means of the keyframes' own.

        The mean of a whole voxel lies off a curved or narrow surface. For a noisy sensor this is `target` itself: its
        surfaces are too thick for normals from so few points.
        """
        target = self.target(voxel_size, position, reach)
        if not self._joined.is_fine or len(target) == 0:
            return target
        if self._fine_target is None:
            self._fine_target = self._build_fine(target)
        return self._fine_target

    def _filter(self, frame: Keyframe, step: int) -> Surface:
        """Every `step`-th point of a keyframe in the map's frame, voxel filtered: fine ones of a precise sensor.

        Few neighbours of a sparse one give normals whose noise along a wall outweighs the ground.
        """
        if len(frame.points) == 0:
            return EMPTY._replace(voxel_size=self._voxel_size)
        points, num_threads = frame.points[::step].astype(np.float64), self._config.num_threads
        voxel = FINE_VOXEL * self._voxel_size
        expected = self._fine_neighbors
        cloud, tree = small_gicp.preprocess_points(points, voxel, expected, num_threads)
        thickness, spacing = thickness_and_spacing(cloud.points()[:, :3], tree, NORMAL_NEIGHBORS, num_threads)
        is_fine, is_sparse = thickness < PRECISE_THICKNESS * voxel, spacing > SPARSE_SPACING * voxel
        self._fine_neighbors = (SPARSE_NEIGHBORS if is_sparse else NORMAL_NEIGHBORS) if is_fine else NO_NORMALS
        if is_fine and self._fine_neighbors != expected:
            small_gicp.estimate_normals(cloud, tree, self._fine_neighbors, num_threads)
        if not is_fine:
            cloud, _ = small_gicp.preprocess_points(points, self._voxel_size, NORMAL_NEIGHBORS, num_threads)
        points, normals = cloud.points()[:, :3], cloud.normals()[:, :3]
        if is_fine and is_sparse:
            normals = without_ring_planes(points, normals, tree, num_threads)
        normals = normals * -np.sign(np.sum(normals * points, axis=1))[:, None]
        points, normals = se3.apply(frame.T_map_sensor, points), normals @ frame.T_map_sensor[:3, :3].T
        return Surface(points, normals, is_fine, is_sparse, self._voxel_size)

    def _refine_surfaces(self) -> None:
        """Filter the keyframes that were added, and of those that are coarser than the voxel the newest ones."""
        coarse = [i for i, surface in enumerate(self._filtered) if not surface.suits(self._voxel_size)]
        if not coarse:
            return
        num_added = sum(surface is EMPTY for surface in self._filtered)
        chosen = coarse[-max(num_added, MAX_REFINED) :]
        step = -(-sum(len(self._frames[i].points) for i in chosen) // MAX_FILTERED_POINTS)
        for i in chosen:
            self._filtered[i] = self._filter(self._frames[i], step)
        self._joined = Surface(
            np.vstack([surface.points for surface in self._filtered]),
            np.vstack([surface.normals for surface in self._filtered]),
            self._filtered[-1].is_fine,
            self._filtered[-1].is_sparse,
            self._voxel_size,
        )
        self._target = None

    def _is_visible(self, position: np.ndarray, reach: float, step: int = 1) -> np.ndarray:
        """Which of every `step`-th point of the keyframes are within reach of a position (3,) and face it."""
        points, normals = self._joined.points[::step], self._joined.normals[::step]
        rays = position - points
        ranges = row_norms(rays)
        facing = row_dots(rays, normals)
        return (ranges < reach) & (facing > BACK_FACING * ranges)

    def _choose(self, is_visible: np.ndarray) -> np.ndarray:
        """Rows of the visible points, about MAX_POINTS at most, drawn at random."""
        rows = np.flatnonzero(is_visible)
        if len(rows) <= MAX_POINTS:
            return rows
        return rows[np.random.default_rng(0).random(len(rows)) < MAX_POINTS / len(rows)]

    def _build(self) -> PreparedCloud:
        count = len(self._frames)
        view = np.arange(count) - max(0, count - NUM_VIEWS)
        index = np.repeat(np.maximum(view, NO_VIEW), [len(surface.points) for surface in self._filtered])
        origins = np.array([frame.T_map_sensor[:3, 3] for frame in list(self._frames)[-NUM_VIEWS:]])
        points = self._joined.points.take(self._rows, axis=0)
        return prepare_cloud(points, self._voxel_size, self._config, origins, index[self._rows], self.num_neighbors)

    def _build_fine(self, target: PreparedCloud) -> PreparedCloud:
        points, normals = (values.take(self._rows, axis=0) for values in self._joined[:2])
        points = (points - target.centre) / target.voxel_size
        means = voxel_means(points, np.hstack([points, normals]), FINE_VOXEL)
        points, normals = np.ascontiguousarray(means[:, :3]), means[:, 3:]
        normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        cloud = small_gicp.PointCloud(points)
        level = Level(cloud, small_gicp.KdTree(cloud, self._config.num_threads))
        return PreparedCloud(target.centre, target.voxel_size, points, normals, level, self._config)
