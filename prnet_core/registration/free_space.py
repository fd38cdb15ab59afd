"""Free-space verification: a point of one cloud must not lie where a ray of the other went through.

Lengths are in voxels. Only solid points count: seen at an angle by their own sensor, facing the other sensor, and on a
surface that is thinner than the noise that the voxel filter leaves.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from prnet_core.geometry import se3
from prnet_core.geometry.rows import row_dots, row_norms
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.sample import Sample
from prnet_core.registration.views import View

NUM_RAYS = 6  # nearest rays that a point is compared with
SEEN_RAY = 3  # index of the ray that must be near for the point to be seen
RAY_SPACINGS = 3.0  # times the spacing of the rays; the chord is at least and at most
MIN_CHORD, MAX_CHORD = 0.01, 0.06
MAX_OFFSET = 0.5  # of the mean direction of these rays, in distances of the farthest: more is outside the field of view
RAY_VOXELS, MAX_VOXEL_CHORD = 1.5, 0.15  # the voxel filter leaves one ray a voxel: near surfaces have fewer rays
MIN_INCIDENCE = 0.25  # cosine between a normal and a ray
MAX_THICKNESS = 0.6
MARGIN, RANGE_MARGIN, THICKNESS_MARGIN = 0.75, 0.01, 2.0  # along a ray: voxels, share of the range, thicknesses
SURFACE_DISTANCE = 2.0  # a point this near to the other cloud is near its surface
CLEAR_DISTANCE = 1.0  # a point this near to the other cloud, and more by its noise, is not passed through
NONE_THROUGH, NONE_VISIBLE = 0.002, 0.05  # shares added to both: a point or two decide nothing
FEW_AGREEING, FEW_VISIBLE = 0.002, 0.004
MAX_VIEWS = 3  # of a cloud made of several scans, those nearest to the other sensor

CLUSTER_DISTANCE = 4.0  # between neighbouring points of a moving object
MAX_CLUSTER = 400
ACROSS = 0.5  # cosine between a normal and an axis that it constrains


@dataclass(frozen=True)
class FreeSpace:
    """Shares of the tested points of one cloud, as another cloud's rays see them.

    through: points that a ray of the other cloud passed on its way to something behind them.
    visible: points that the other sensor saw or should have seen: inside its rays, and not behind what they hit.
    near: visible points that lie near the other cloud. agreeing: visible points that lie on a surface of it.
    largest: those of `through` in their largest cluster, as a moving object makes it.
    across, across_agreeing: the same of the visible points whose surface stands across the least constrained axis.
    """

    through: float
    visible: float
    agreeing: float
    near: float = 0.0
    across: float = 0.0
    across_agreeing: float = 0.0
    largest: float = 0.0

    @property
    def violation(self) -> float:
        """Share of the visible points that are passed through, pulled towards a few percent when few are visible."""
        return (self.through + NONE_THROUGH) / (self.visible + NONE_VISIBLE)

    @property
    def static_violation(self) -> float:
        """The violation without its largest cluster."""
        return (self.through - self.largest + NONE_THROUGH) / (self.visible + NONE_VISIBLE)

    @property
    def seen_agreement(self) -> float:
        """Share of the visible points that lie on a surface of the other cloud."""
        return (self.agreeing + FEW_AGREEING) / (self.visible + FEW_VISIBLE)


def measure_free_space(
    sample: Sample,
    other: PreparedCloud,
    T_other_cloud: np.ndarray,
    surface_distance: np.ndarray,
    agrees: np.ndarray,
    axis: np.ndarray,
) -> tuple[FreeSpace | None, np.ndarray]:
    """Test a cloud's sample against another cloud's rays under a transform (4, 4) in voxel units.

    surface_distance: (S,) of the sample's points to the other cloud under that transform; agrees: (S,) which of them
    lie on a surface of it; axis: (3,) in the other cloud's frame, the direction constrained least. Returns the shares,
    None when the other cloud has no sensor origin, and which visible points (S,) lie near the other cloud; without an
    origin, which of all.
    """
    is_near = agrees | (surface_distance < SURFACE_DISTANCE)
    if not other.views:
        return None, is_near
    points = se3.apply(T_other_cloud, sample.points)
    normals = sample.normals @ T_other_cloud[:3, :3].T
    visible, through = seen_by(other, sample, T_other_cloud)
    through &= ~agrees & (surface_distance > CLEAR_DISTANCE + THICKNESS_MARGIN * sample.thickness)
    across = visible & (np.abs(normals @ axis) > ACROSS)
    near = visible & is_near
    masks = (through, visible, visible & agrees, near, across, across & agrees)
    largest = largest_cluster(points[through]) / len(points)
    return FreeSpace(*(float(mask.mean()) for mask in masks), largest), near  # type: ignore[call-arg]


def seen_by(other: PreparedCloud, sample: Sample, T_other_cloud: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which solid points (S,) of a sample are visible to another cloud's sensor, and which its rays pass through."""
    points = se3.apply(T_other_cloud, sample.points)
    normals = sample.normals @ T_other_cloud[:3, :3].T
    visible, through = np.zeros(len(points), bool), np.zeros(len(points), bool)
    for view in nearest_views(other.views, points.mean(axis=0)):
        facing = np.flatnonzero(sample.is_solid & _faces(view, points, normals))
        if len(facing):
            thickness, num_threads = sample.thickness[facing], other.config.num_threads
            seen, passed = _against(view, points[facing], thickness, num_threads)
            visible[facing] |= seen
            through[facing] |= passed
    return visible, through


def largest_cluster(points: np.ndarray) -> int:
    """Number of points (N, 3) in the largest cluster; 0 without points, or with too many to be one object."""
    if not 0 < len(points) <= MAX_CLUSTER:
        return 0
    pairs = cKDTree(points).query_pairs(CLUSTER_DISTANCE, output_type="ndarray")
    links = csr_matrix((np.ones(len(pairs)), pairs.T), shape=(len(points), len(points)))
    return int(np.bincount(connected_components(links, directed=False)[1]).max())


def nearest_views(views: tuple[View, ...], place: np.ndarray) -> list[View]:
    return sorted(views, key=lambda view: float(np.linalg.norm(view.origin - place)))[:MAX_VIEWS]


def _faces(view: View, points: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Which points (N, 3) a view sees at an angle, by their normals (N, 3)."""
    lines = points - view.origin
    along = row_dots(lines, normals)
    return np.abs(along) > MIN_INCIDENCE * np.maximum(row_norms(lines), 1e-9)


def _against(view: View, points: np.ndarray, thickness: np.ndarray, num_threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Which points (N, 3) are visible from a view, and which of them its rays pass through."""
    lines = points - view.origin
    ranges = row_norms(lines)
    directions = lines / np.maximum(ranges, 1e-9)[:, None]
    index, squared = view.tree.batch_knn_search(directions, NUM_RAYS, num_threads)
    index = index.T.astype(np.int64)  # (NUM_RAYS, N): numpy is slow where the last axis is short
    near = view.ranges[index]
    nearest, farthest = near.min(axis=0), near.max(axis=0)
    shift = view.directions[index].mean(axis=0) - directions
    offset = row_norms(shift)
    chord = np.clip(RAY_SPACINGS * view.spacing, MIN_CHORD, MAX_CHORD)
    chord = np.maximum(chord, np.minimum(RAY_VOXELS / nearest, MAX_VOXEL_CHORD))
    seen = (squared[:, SEEN_RAY] < chord**2) & (offset < MAX_OFFSET * np.sqrt(squared[:, -1]))
    slack = MARGIN + RANGE_MARGIN * ranges
    visible = seen & (ranges <= farthest + slack)
    return visible, seen & (ranges < nearest - slack - THICKNESS_MARGIN * thickness)
