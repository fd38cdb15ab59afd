"""From raw points to a centred, voxel filtered cloud with normals, in units of the voxel."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import small_gicp

from prnet_core.geometry.normals import estimated_viewpoint
from prnet_core.geometry.voxels import count_voxels
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.range_noise import precise_range
from prnet_core.registration.result import RegistrationError
from prnet_core.registration.sample import Sample, make_sample, thickness_and_spacing
from prnet_core.registration.views import View, make_views

MAX_COORDINATE = 1e12  # larger ones are no points: some drivers send the largest float32 for a ray without a return
MAX_VOXELS_AWAY = 400_000  # small_gicp's voxel index has 21 bits
MOST_LEFT = 0.7  # share of a cloud's points that the automatic voxel size leaves at most
NO_NORMALS = 1  # neighbours, which are too few for a normal
NOISY_THICKNESS = 0.22  # voxels: surfaces so thick need more neighbours for their normals,
NOISY_NEIGHBORS = 2  # times as many, but not those of
SPARSE_SPACING = 2.0  # voxels between points: there the neighbours of a curved surface are as thick without noise


@dataclass(frozen=True)
class Level:
    """One resolution of a cloud, as small_gicp takes it."""

    cloud: small_gicp.PointCloud
    tree: small_gicp.KdTree


@dataclass(frozen=True)
class Origins:
    """Where a cloud was seen from: positions (K, 3) in its centred frame, voxels.

    For K > 1 the unfiltered points (N, 3) and the index (N,) of each point's position are kept for the views.
    """

    positions: np.ndarray
    points: np.ndarray | None = None
    view_index: np.ndarray | None = None


@dataclass(frozen=True)
class PreparedCloud:
    """A cloud ready to be registered. Coordinates are (p - centre) / voxel_size, float64.

    What only some calls need (views, sample, filtered levels) is computed at the first use, and kept.
    """

    centre: np.ndarray  # (3,) in the clouds' unit
    voxel_size: float
    points: np.ndarray  # (N, 3) voxel filtered
    normals: np.ndarray  # (N, 3) unit length, sign arbitrary
    level: Level  # None when there are no points
    config: RegistrationConfig  # with the number of neighbours that suits the cloud's noise
    origins: Origins | None = None  # None where no sensor position is known
    features: dict = field(default_factory=dict)  # filled by `feature_hypotheses`

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def views(self) -> tuple[View, ...]:
        """The rays of each sensor position; empty without one."""
        if self.origins is None or len(self) == 0:
            return ()
        origins = self.origins
        return make_views(origins.positions, origins.points, origins.view_index, self.points)  # type: ignore[arg-type]

    @cached_property
    def viewpoint(self) -> np.ndarray:
        """(3,) where the points may have been seen from, by themselves. The cloud must have points."""
        return estimated_viewpoint(self.points, self.normals)

    def seen_from(self, use_origins: bool) -> np.ndarray:
        """(K, 3) the positions to orient normals by: the sensor's or, without `use_origins`, the estimated one.

        A pair whose clouds do not both have sensor positions uses the estimates of both: away from the sensor is into
        an object, away from the estimate out of it.
        """
        if use_origins and self.origins is not None:
            return self.origins.positions
        return self.viewpoint[None]

    @cached_property
    def sample(self) -> Sample:
        """The points that a transform is verified with. The cloud must have points."""
        return make_sample(
            self.points,
            self.normals,
            self.level.tree,
            self.views,
            self.config.verified_points,
            self.config.num_neighbors,
            self.config.num_threads,
        )

    @cached_property
    def feature_voxel(self) -> float:
        """The voxel, in voxels of the cloud, that leaves the wanted number of points with features."""
        return choose_voxel_size(self.points, self.config.feature_points)

    @cached_property
    def coarse_level(self) -> Level:
        """The cloud filtered again with the coarse voxel."""
        return self._filtered(self.config.coarse_factor)

    @cached_property
    def fine_level(self) -> Level:
        """The cloud filtered again with the voxel of the fine stage."""
        return self._filtered(self.config.fine_factor)

    def _filtered(self, voxels: float) -> Level:
        return Level(
            *small_gicp.preprocess_points(
                self.points,
                downsampling_resolution=voxels,
                num_neighbors=self.config.num_neighbors,
                num_threads=self.config.num_threads,
            )
        )


def clean_points(points: np.ndarray, config: RegistrationConfig) -> np.ndarray:
    """The usable points of an (N, 3) or (N, >3) array as float64 (M, 3): see `usable_points`."""
    points = np.asarray(points)
    return points[usable_points(points, config), :3].astype(np.float64, copy=False)


def usable_points(points: np.ndarray, config: RegistrationConfig) -> np.ndarray:
    """Which points (N, 3) or (N, >3) are measurements, (N,): real coordinates within the range, and not the origin.

    No point is at the sensor itself: many drivers write (0, 0, 0) for a ray without a return. Raises
    RegistrationError when the array is not two-dimensional with at least three columns.
    """
    if points.ndim != 2 or points.shape[1] < 3:
        raise RegistrationError(f"points must be (N, 3), not {points.shape}")
    points = points[:, :3].astype(np.float64, copy=False)
    magnitudes = np.abs(points)
    if magnitudes.max(initial=0.0) < MAX_COORDINATE:  # false with a NaN
        usable = magnitudes @ np.ones(3) > 0.0
    else:
        with np.errstate(invalid="ignore"):
            x, y, z = magnitudes.T
            usable = (x < MAX_COORDINATE) & (y < MAX_COORDINATE) & (z < MAX_COORDINATE)
            usable &= (x > 0.0) | (y > 0.0) | (z > 0.0)
    if config.min_range > 0.0 or np.isfinite(config.max_range):
        distance = np.linalg.norm(np.where(usable[:, None], points, 0.0), axis=1)
        usable &= (distance >= config.min_range) & (distance <= config.max_range)
    return usable


def precise_points(points: np.ndarray, config: RegistrationConfig, origin: np.ndarray | None) -> np.ndarray:
    """The clean points (M, 3) of an (N, 3) array, those of a scan as far as its sensor is precise: `precise_range`.

    origin: (3,) position of the sensor; without one, or with several, all clean points.
    """
    points = clean_points(points, config)
    if origin is None or np.shape(origin) != (3,):
        return points
    ranges = np.linalg.norm(points - origin, axis=1)
    limit = precise_range(points - origin)
    return points if limit == np.inf else points[ranges <= limit]


def choose_voxel_size(points: np.ndarray, target_points: int, most_left: float = MOST_LEFT) -> float:
    """Voxel size that leaves about `target_points` of the points (N, 3), by the cloud's own scale.

    A cloud with fewer points than that gets about its point spacing (`most_left` of its points left; points that are
    there twice count once). Equivariant to a change of unit. Returns 0.0 when the points have no extent.
    """
    if len(points) < 2:
        return 0.0
    centred = points - np.median(points, axis=0)
    extent = float(np.quantile(np.linalg.norm(centred, axis=1), 0.9))
    if extent == 0.0:
        return 0.0
    step = max(1, len(points) // 40_000)
    columns = np.ascontiguousarray(centred[::step].T) / extent
    columns -= columns.min(axis=1, keepdims=True)
    low, high = np.log(1e-3), np.log(1.0)
    wanted = min(target_points, most_left * count_voxels(columns, np.exp(low)))
    for _ in range(9):
        middle = 0.5 * (low + high)
        if count_voxels(columns, np.exp(middle)) > wanted:
            low = middle
        else:
            high = middle
    return float(np.exp(0.5 * (low + high)) * extent)


def check_origin(
    origin: np.ndarray | None, view_index: np.ndarray | None, num_points: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Origins as (K, 3) float64 and the index (N,) of each point's origin, or None for both.

    Raises RegistrationError for other shapes, values that are not finite, and several origins without an index.
    """
    if origin is None:
        return None, None
    origins = np.atleast_2d(np.asarray(origin, dtype=np.float64))
    if origins.ndim != 2 or origins.shape[1] != 3 or len(origins) == 0 or not np.isfinite(origins).all():
        raise RegistrationError(f"an origin must be three finite numbers, or (K, 3), not {np.shape(origin)}")
    if len(origins) == 1:
        return origins, None
    view_index = np.asarray(view_index)
    if view_index.shape != (num_points,) or not np.isin(view_index, np.arange(len(origins))).all():
        raise RegistrationError(f"{len(origins)} origins need a view index below {len(origins)} for each point")
    return origins, view_index


def within_reach(points: np.ndarray, voxel_size: float) -> np.ndarray:
    """Which points (N, 3) are not too many voxels away from their median, (N,). There must be points."""
    if max(points.max(), -points.min()) < 0.5 * MAX_VOXELS_AWAY * voxel_size:  # nor from each other
        return np.ones(len(points), bool)
    middle = np.median(points[:: max(1, len(points) // 10_000)], axis=0)
    return (np.abs(points - middle) < MAX_VOXELS_AWAY * voxel_size).all(axis=1)


def prepare_cloud(
    points: np.ndarray,
    voxel_size: float,
    config: RegistrationConfig,
    origins: np.ndarray | None = None,
    view_index: np.ndarray | None = None,
    num_neighbors: int | None = None,
) -> PreparedCloud:
    """Centre, scale to voxels, filter, and estimate normals.

    Points (N, 3) are finite float64. num_neighbors: for the normals; None: as configured, and more for noisy dense
    clouds.

    origins: (K, 3) positions of the sensor in the points' frame and unit, or None; with K > 1, view_index (N,) names
    the origin of each point. Without points, or with a voxel size of 0 (all points are one), the cloud is empty.
    """
    if len(points) and voxel_size > 0.0:
        within = within_reach(points, voxel_size)
        if not within.all():
            points = points[within]
            view_index = None if view_index is None else view_index[within]
    if len(points) == 0 or voxel_size == 0.0:
        nothing = np.zeros((0, 3))
        return PreparedCloud(np.zeros(3), voxel_size, nothing, nothing, None, config)  # type: ignore[arg-type]
    centre = points.mean(axis=0)
    scaled = points - centre
    scaled /= voxel_size
    cloud, tree = small_gicp.preprocess_points(
        scaled,
        downsampling_resolution=1.0,
        num_neighbors=num_neighbors or NO_NORMALS,
        num_threads=config.num_threads,
    )
    filtered = np.ascontiguousarray(cloud.points()[:, :3])
    if num_neighbors is None:
        thickness, spacing = thickness_and_spacing(filtered, tree, config.num_neighbors, config.num_threads)
        is_noisy = thickness > NOISY_THICKNESS and spacing < SPARSE_SPACING
        num_neighbors = (NOISY_NEIGHBORS if is_noisy else 1) * config.num_neighbors
        small_gicp.estimate_normals_covariances(cloud, tree, num_neighbors, config.num_threads)
    config = replace(config, num_neighbors=num_neighbors)
    seen_from = None
    if origins is not None:
        positions = (origins - centre) / voxel_size
        seen_from = Origins(positions) if len(positions) == 1 else Origins(positions, scaled, view_index)
    return PreparedCloud(
        centre=centre,
        voxel_size=voxel_size,
        points=filtered,
        normals=np.ascontiguousarray(cloud.normals()[:, :3]),
        level=Level(cloud, tree),
        config=config,
        origins=seen_from,
    )
