"""Errors of estimated transforms: the paper's metrics and geodesic angles."""

import numpy as np
from scipy.spatial.transform import Rotation

SHARE_LIMITS_DEG = (1, 5, 15)


def euler_angles_deg(rotations: np.ndarray) -> np.ndarray:
    """Angles (n, 3) in degrees about x, y, z of rotations (n, 3, 3), R = Rx Ry Rz, the protocol's convention."""
    return Rotation.from_matrix(rotations).as_euler("XYZ", degrees=True)


def geodesic_errors_deg(estimated: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Angle (n,) in degrees of R_true^-1 R_estimated, for transforms (n, 4, 4)."""
    difference = np.swapaxes(true[:, :3, :3], 1, 2) @ estimated[:, :3, :3]
    return np.degrees(Rotation.from_matrix(difference).magnitude())


def compute_metrics(estimated: np.ndarray, true: np.ndarray) -> dict[str, float]:
    """All metrics of estimated and true T_target_source, both (n, 4, 4).

    mse_r_deg2, rmse_r_deg, mae_r_deg, r2_r   of the three Euler angles (degrees), over all pairs and angles;
                                              R2 is the mean over the three angles, as in the paper
    mse_t, rmse_t, mae_t, r2_t                of the three coordinates of t (units of the unit sphere)
    median_geodesic_deg                       median over pairs of the angle between estimate and ground truth
    share_within_1_deg, ..._5_..., ..._15_... fraction of pairs with this angle below the limit

    R2 is NaN for fewer than two pairs. Raises ValueError for other shapes, for no pairs, or for estimates that are not
    finite.
    """
    estimated, true = np.asarray(estimated, dtype=np.float64), np.asarray(true, dtype=np.float64)
    if estimated.shape != true.shape or estimated.shape[1:] != (4, 4) or len(true) == 0:
        raise ValueError(f"expected two (n, 4, 4), n > 0, got {estimated.shape} and {true.shape}")
    if not np.isfinite(estimated).all():
        raise ValueError("an estimate is not finite")
    result = {}
    angles = euler_angles_deg(estimated[:, :3, :3]), euler_angles_deg(true[:, :3, :3])
    translations = estimated[:, :3, 3], true[:, :3, 3]
    for of, unit, (guess, label) in (("r", "_deg", angles), ("t", "", translations)):
        squared = np.square(guess - label)
        result[f"mse_{of}{unit and unit + '2'}"] = float(squared.mean())
        result[f"rmse_{of}{unit}"] = float(np.sqrt(squared.mean()))
        result[f"mae_{of}{unit}"] = float(np.abs(guess - label).mean())
        result[f"r2_{of}"] = _r2(squared, label)
    geodesic = geodesic_errors_deg(estimated, true)
    result["median_geodesic_deg"] = float(np.median(geodesic))
    for limit in SHARE_LIMITS_DEG:
        result[f"share_within_{limit}_deg"] = float((geodesic < limit).mean())
    return result


def class_mean_metrics(estimated: np.ndarray, true: np.ndarray, classes: np.ndarray) -> dict[str, float]:
    """mae_r_deg, mae_t and the fraction within 1 degree, each averaged over classes."""
    per_class = [compute_metrics(estimated[classes == name], true[classes == name]) for name in np.unique(classes)]
    keys = ("mae_r_deg", "mae_t", "share_within_1_deg")
    return {f"class_mean_{key}": float(np.mean([one[key] for one in per_class])) for key in keys}


def _r2(squared_errors: np.ndarray, labels: np.ndarray) -> float:
    variance = np.square(labels - labels.mean(axis=0)).mean(axis=0)
    if len(labels) < 2 or (variance == 0).any():
        return float("nan")
    return float((1 - squared_errors.mean(axis=0) / variance).mean())
