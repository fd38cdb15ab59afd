"""The covariance of a refined transform, and the direction that the scene does not constrain."""

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.alignment import AlignmentQuality, least_constrained_axis
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.preprocess import PreparedCloud
from prnet_core.registration.result import ACCEPTED, AMBIGUOUS, REJECTED, UNKNOWN_VARIANCE

MAX_CERTAIN_VARIANCE = 0.25  # voxels^2, by the point-to-plane distances


def transform_covariance(
    quality: AlignmentQuality, target: PreparedCloud, status: str, config: RegistrationConfig
) -> np.ndarray:
    """Covariance (6, 6), x y z rx ry rz, of a small transform in the target's frame, in the clouds' unit and radians.

    sigma^2 (sum J^T J)^-1 of the point-to-plane distances, with the inliers counted as independent only in groups
    of `correlated_points`. A free direction that these distances leave uncertain, too, has the width of the coarse
    search; a rejected transform is unknown, but near a prediction as uncertain as a weak one.
    """
    if (status == REJECTED and not config.is_tracked) or quality.num_inliers == 0:
        return np.eye(6) * UNKNOWN_VARIANCE
    eigenvalues, directions, free, slides = _directions(quality, config)
    independent = quality.num_inliers / config.correlated_points
    residual = max(quality.residual, 0.01)
    variances = residual**2 / (independent * np.maximum(eigenvalues, 1e-9))
    uncertain = slides | (free & (variances > MAX_CERTAIN_VARIANCE))
    variances = np.where(uncertain, config.coarse_distance_voxels**2, variances)
    if status not in (ACCEPTED, AMBIGUOUS):
        variances = variances * config.weak_variance_factor
    to_target = twist_to_target(quality, target)
    return to_target @ (directions * variances) @ directions.T @ to_target.T


def twist_to_target(quality: AlignmentQuality, target: PreparedCloud) -> np.ndarray:
    """(6, 6): a twist (v, radius omega) about the inliers' centroid in voxels -> (v, omega) in the target's frame."""
    unscale = np.diag([target.voxel_size] * 3 + [1.0 / quality.radius] * 3)
    centroid = quality.centroid * target.voxel_size + target.centre
    return se3.adjoint(se3.make_transform(np.eye(3), centroid)) @ unscale


def free_direction(quality: AlignmentQuality, config: RegistrationConfig) -> str | None:
    """The direction that the scene does not constrain, as text, or None when it constrains all."""
    _, directions, free, slides = _directions(quality, config)
    if not (free | slides).any():
        return None
    direction = directions[:, np.argmax(free | slides)]
    is_translation = np.linalg.norm(direction[:3]) > np.linalg.norm(direction[3:])
    axis = direction[:3] if is_translation else direction[3:]
    axis = axis / np.linalg.norm(axis) * np.sign(axis[np.argmax(np.abs(axis))])
    text = "(" + ", ".join(f"{value + 0.0:.2f}" for value in axis) + ")"
    return f"{'translation along' if is_translation else 'rotation about'} {text}"


def _directions(
    quality: AlignmentQuality, config: RegistrationConfig
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues (6,) and directions (6, 6), as columns, of the information; which are free, and which slide.

    Free: the surfaces hardly constrain it. Slides: the direction nearest to the least constrained axis, where too
    little of what stands across that axis agrees.
    """
    eigenvalues, directions = np.linalg.eigh(quality.information)
    slides = np.zeros(6, dtype=bool)
    across = quality.across_agreement
    if across is not None and across < config.min_across_agreement:
        axis = least_constrained_axis(quality.information)
        slides[np.abs(axis @ directions[:3]).argmax()] = True
    return eigenvalues, directions, eigenvalues < config.min_information, slides
