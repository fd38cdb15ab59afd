"""The range up to which a sensor measures precisely enough, from one scan: stereo noise grows with the square of range.

A plane is linear in the inverse range: 1/r = a . d for the unit directions d of its points. What neighbouring rays
leave of such a fit is the noise of the sensor, relative to the range.
"""

import numpy as np
import small_gicp

MAX_RELATIVE_NOISE = 0.012  # of the range: farther points are left out
NUM_RAYS = 1500  # far enough apart that a stereo matcher's shared errors differ
NUM_FITS, NUM_NEIGHBORS, NUM_PARAMETERS = 300, 8, 3
NUM_BINS = 6  # of range, with as many fits each
MIN_RAYS = 200
QUANTILE = 0.2  # of the fits of a bin: most planes, few edges
MAX_SPREAD = 1.8  # median fit against that quantile: noise is alike everywhere at a range, rough surfaces are not
MIN_GROWTH = 0.5  # power of the range that the relative noise grows with, in the median of all pairs of bins
MIN_KEPT = 0.25  # share of the points that remains


def precise_range(points: np.ndarray) -> float:
    """Range beyond which the noise of a scan (N, 3), in its sensor's frame, is too large; inf for most sensors."""
    ranges = np.linalg.norm(points, axis=1)
    chosen = np.flatnonzero(ranges > 0.0)
    chosen = chosen[:: max(1, len(chosen) // NUM_RAYS)]
    if len(chosen) < MIN_RAYS:
        return np.inf
    centres, noise = relative_noise(points[chosen], ranges[chosen])
    order = np.argsort(centres)
    centres, noise = centres[order], noise[order]
    low, middle = (
        np.array([np.quantile(part, share) for part in np.array_split(noise, NUM_BINS)]) for share in (QUANTILE, 0.5)
    )
    middles = np.array([np.median(part) for part in np.array_split(centres, NUM_BINS)])
    first, second = np.triu_indices(NUM_BINS, 1)
    low = np.maximum(low, 1e-12)
    growth = np.median(np.log(low[second] / low[first]) / np.log(np.maximum(middles[second] / middles[first], 1.001)))
    if np.median(middle / low) > MAX_SPREAD or growth < MIN_GROWTH:
        return np.inf
    limit = MAX_RELATIVE_NOISE / float(np.median(low / middles))
    return max(limit, float(np.quantile(ranges, MIN_KEPT)))


def relative_noise(points: np.ndarray, ranges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranges (M,) of some of the points (N, 3), and the standard deviation (M,) of the range there, as its share."""
    directions = points / ranges[:, None]
    at = np.unique(np.linspace(0, len(points) - 1, NUM_FITS).astype(np.int64))
    neighbors = small_gicp.KdTree(directions).batch_knn_search(directions[at], NUM_NEIGHBORS)[0].astype(np.int64)
    inverse = ranges[at][:, None] / ranges[neighbors]
    basis = np.linalg.qr(directions[neighbors])[0]
    fitted = np.einsum("mki,mi->mk", basis, np.einsum("mki,mk->mi", basis, inverse))
    variance = np.sum((inverse - fitted) ** 2, axis=1) / (NUM_NEIGHBORS - NUM_PARAMETERS)
    return ranges[at], np.sqrt(variance)
