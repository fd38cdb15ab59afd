"""The appearance of a place in any orientation of the sensor: local features and one global descriptor of a scan."""

from dataclasses import dataclass

import numpy as np
import small_gicp

from prnet_core.registration.features import fpfh

NUM_RANGE_BINS = 24
NEIGHBORS = 40
RADIUS_VOXELS = 5.0
SIGNATURE_POINTS = 300
RANGE_WEIGHT = 0.4


@dataclass(frozen=True)
class PlaceFeatures:
    """points (M, 3), metres, in the sensor's frame; features (M, 33), FPFH.

    signature: (S, 34) float32, of at most 300 points the root of the feature and the scaled logarithm of the range.
    descriptor: (D,), unit length.
    """

    points: np.ndarray
    features: np.ndarray
    signature: np.ndarray
    descriptor: np.ndarray


def place_features(points: np.ndarray, voxel_size: float) -> PlaceFeatures:
    """Features of a scan (N, 3) with the sensor at the origin, at one voxel size for a whole map, metres.

    Normals point towards the sensor. Nothing changes when the scan is rotated about the sensor. Descriptor: the
    histogram of the ranges (logarithmic bins) beside the mean of the local features.
    """
    cloud, _ = small_gicp.preprocess_points(
        np.asarray(points, dtype=np.float64), downsampling_resolution=voxel_size, num_neighbors=15, num_threads=1
    )
    positions, normals = cloud.points()[:, :3], cloud.normals()[:, :3]
    away = np.sum(normals * positions, axis=1) > 0.0
    normals = np.where(away[:, None], -normals, normals)
    features = fpfh(positions, normals, RADIUS_VOXELS * voxel_size, NEIGHBORS)
    ranges = np.linalg.norm(positions, axis=1)
    edges = voxel_size * np.geomspace(1.0, 200.0, NUM_RANGE_BINS - 1)
    histogram = np.bincount(np.searchsorted(edges, ranges), minlength=NUM_RANGE_BINS) / max(1, len(ranges))
    parts = [np.sqrt(smooth(histogram)), np.sqrt(np.maximum(features.mean(axis=0), 0.0) / 6.0)]
    descriptor = np.concatenate([part / max(float(np.linalg.norm(part)), 1e-12) for part in parts])
    chosen = np.random.default_rng(0).permutation(len(positions))[:SIGNATURE_POINTS]
    scaled_range = RANGE_WEIGHT * np.log(ranges[chosen] / voxel_size + 1.0)
    signature = np.hstack([np.sqrt(np.maximum(features[chosen], 0.0)), scaled_range[:, None]])
    return PlaceFeatures(positions, features, signature.astype(np.float32), descriptor / np.sqrt(2.0))


def signature_distances(signature: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
    """Mean distance (K,) of the rows of a signature (S, 34) to the nearest row of each of the others, K of them.

    A set distance as in MaxSim: two places are similar when each part of one has a similar part in the other.
    """
    stacked = np.vstack(others)
    starts = np.cumsum([0] + [len(other) for other in others[:-1]])
    squared = np.sum(stacked**2, axis=1) - 2.0 * (signature @ stacked.T)
    nearest = np.minimum.reduceat(squared, starts, axis=1) + np.sum(signature**2, axis=1)[:, None]
    return np.sqrt(np.maximum(nearest, 0.0)).mean(axis=0)


def smooth(histogram: np.ndarray) -> np.ndarray:
    """The histogram, smoothed over neighbouring bins: a point near the edge of a bin may fall into either."""
    padded = np.pad(histogram, 1, mode="edge")
    return 0.25 * padded[:-2] + 0.5 * padded[1:-1] + 0.25 * padded[2:]
