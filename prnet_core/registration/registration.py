"""The whole registration of two clouds in one call."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.judge import judge
from prnet_core.registration.preprocess import PreparedCloud, choose_voxel_size, clean_points, prepare_cloud
from prnet_core.registration.result import REJECTED, RegistrationError, RegistrationResult
from prnet_core.registration.search import Search
from prnet_core.registration.uncertainty import motion_covariance

if TYPE_CHECKING:
    from prnet_core.model import PRNet


class Registration:
    """Finds the rigid motion between two clouds: starts, refinement, evidence, judgement.

    `network` may be None (classical starts only) and may be replaced between two calls.
    """

    def __init__(self, network: PRNet | None = None, config: RegistrationConfig | None = None):
        self.network = network
        self.config = config or RegistrationConfig()

    def register(
        self,
        source: np.ndarray,
        target: np.ndarray,
        T_target_source_guess: np.ndarray | None = None,
    ) -> RegistrationResult:
        """Register source (N, 3) to target (M, 3), both in the same unit (metres for a metric covariance).

        T_target_source_guess: (4, 4) or None. Clouds that cannot be registered (empty, too few points, no
        extent) give the status 'rejected' with a reason. Raises RegistrationError for arrays of the wrong shape.
        """
        began = time.perf_counter()
        guess = None if T_target_source_guess is None else check_guess(T_target_source_guess)
        clouds = [clean_points(points, self.config) for points in (source, target)]
        voxel_size = self.config.voxel_size or max(map(self.voxel_size_for, clouds))
        prepared = [self.prepare(points, voxel_size) for points in clouds]
        result = self.register_prepared(*prepared, guess)
        result.timings["preprocess"] = time.perf_counter() - began - sum(result.timings.values())
        return result

    def voxel_size_for(self, points: np.ndarray) -> float:
        """The configured voxel size, or the one that suits the scale of clean points (N, 3); 0 without extent."""
        return self.config.voxel_size or choose_voxel_size(points, self.config.target_points)

    def prepare(self, points: np.ndarray, voxel_size: float) -> PreparedCloud:
        """Clean, centre, filter and index a cloud (N, 3) once, for several calls of `register_prepared`."""
        return prepare_cloud(clean_points(points, self.config), voxel_size, self.config)

    def register_prepared(
        self, source: PreparedCloud, target: PreparedCloud, T_target_source_guess: np.ndarray | None = None
    ) -> RegistrationResult:
        """`register` for clouds from `prepare` with one voxel size; raises RegistrationError when it differs."""
        if source.voxel_size != target.voxel_size:
            raise RegistrationError(f"voxel sizes differ: {source.voxel_size} and {target.voxel_size}")
        guess = T_target_source_guess
        for name, cloud in (("source", source), ("target", target)):
            if len(cloud) < self.config.min_points:
                reason = f"the {name} has {len(cloud)} usable points, {self.config.min_points} are needed"
                return RegistrationResult(np.eye(4) if guess is None else guess, REJECTED, reason)
        search = Search(source, target, self.network, self.config)
        best = search.best(
            None if guess is None else to_voxels(guess, source, target), to_voxels(np.eye(4), source, target)
        )
        evidence = best.evidence
        status, reason = judge(evidence, self.config)
        return RegistrationResult(
            T_target_source=from_voxels(best.motion, source, target),
            status=status,
            reason=reason,
            inlier_ratio=evidence.inlier_ratio,
            confidence=evidence.confidence,
            residual=evidence.residual * source.voxel_size,
            overlap_source=evidence.overlap_source,
            overlap_target=evidence.overlap_target,
            covariance=motion_covariance(evidence, target, status, self.config),
            degeneracy=evidence.degeneracy,
            start=best.start,
            timings=search.timings,
        )


def check_guess(guess: np.ndarray) -> np.ndarray:
    """The guess as float64 (4, 4); raises RegistrationError when it is no rigid motion."""
    guess = np.asarray(guess, dtype=np.float64)
    if guess.shape != (4, 4):
        raise RegistrationError(f"a guess must be (4, 4), not {guess.shape}")
    rotation = guess[:3, :3]
    rigid = np.isfinite(guess).all() and np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-3)
    if not rigid or np.linalg.det(rotation) < 0.0:
        raise RegistrationError("a guess must be a rigid motion: R R^T = I, det R = +1")
    return se3.make_transform(se3.nearest_rotation(rotation), guess[:3, 3])


def to_voxels(transform: np.ndarray, source: PreparedCloud, target: PreparedCloud) -> np.ndarray:
    """A motion of the clouds' frames as a motion of their centred frames in voxels."""
    rotation = transform[:3, :3]
    translation = rotation @ source.centre + transform[:3, 3] - target.centre
    return se3.make_transform(rotation, translation / target.voxel_size)


def from_voxels(transform: np.ndarray, source: PreparedCloud, target: PreparedCloud) -> np.ndarray:
    """Inverse of `to_voxels`; the rotation is made exactly orthonormal."""
    rotation = se3.nearest_rotation(transform[:3, :3])
    translation = transform[:3, 3] * target.voxel_size + target.centre - rotation @ source.centre
    return se3.make_transform(rotation, translation)
