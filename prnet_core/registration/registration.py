"""The whole registration of two clouds in one call."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from prnet_core.geometry import se3
from prnet_core.registration.config import RegistrationConfig
from prnet_core.registration.decision import decide
from prnet_core.registration.preprocess import (
    MOST_LEFT,
    PreparedCloud,
    check_origin,
    choose_voxel_size,
    precise_points,
    prepare_cloud,
    usable_points,
)
from prnet_core.registration.result import (
    ACCEPTED,
    REJECTED,
    RegistrationError,
    RegistrationResult,
)
from prnet_core.registration.ring_gaps import surface_voxel_size
from prnet_core.registration.search import Hypotheses, Search
from prnet_core.registration.uncertainty import transform_covariance
from prnet_core.registration.verify import confidence

if TYPE_CHECKING:
    from prnet_core.model import PRNet


class Registration:
    """Finds the rigid transform between two clouds: hypotheses, refinement, verification.

    `network` may be None (classical hypotheses only) and may be replaced between two calls.
    """

    def __init__(self, network: PRNet | None = None, config: RegistrationConfig | None = None):
        self.network = network
        self.config = config or RegistrationConfig()

    def register(
        self,
        source: np.ndarray,
        target: np.ndarray,
        T_target_source_guess: np.ndarray | None = None,
        *,
        source_origin: np.ndarray | None = None,
        target_origin: np.ndarray | None = None,
        deadline: float | None = None,
    ) -> RegistrationResult:
        """Register source (N, 3) to target (M, 3), both in the same unit (metres for a metric covariance).

        T_target_source_guess: (4, 4) or None. source_origin, target_origin: (3,) where the sensor was, in its cloud's
        frame and unit (zeros for a scan in the sensor's frame); None for objects and fused clouds. With origins the
        transform is verified by free space, and far points of a stereo camera that are too noisy are left out.
        deadline: seconds that the call may take instead of the configured `max_scan_time`. Clouds that cannot be
        registered (empty, too few points, no extent) give the status 'rejected'
        with a reason. Raises RegistrationError for arrays of an invalid shape.
        """
        began = time.perf_counter()
        guess = None if T_target_source_guess is None else check_guess(T_target_source_guess)
        origins = (source_origin, target_origin)
        source, target = (precise_points(p, self.config, o) for p, o in zip((source, target), origins, strict=True))
        voxel_size = self.config.voxel_size or max(map(self.pair_voxel_size_for, (source, target)))
        prepared_source = self.prepare(source, voxel_size, source_origin)
        prepared_target = self.prepare(target, voxel_size, target_origin)
        seconds = time.perf_counter() - began
        left = None if deadline is None else deadline - seconds
        result = self.register_prepared(prepared_source, prepared_target, guess, deadline=left)
        result.timings["preprocess"] = time.perf_counter() - began - sum(result.timings.values())
        return result

    def voxel_size_for(self, points: np.ndarray, most_left: float = MOST_LEFT) -> float:
        """The configured voxel size, or the one that suits the scale of clean points (N, 3); 0 without extent.

        most_left: share of the points that the voxel filter leaves at most.
        """
        return self.config.voxel_size or choose_voxel_size(points, self.config.target_points, most_left)

    def pair_voxel_size_for(self, points: np.ndarray) -> float:
        """The voxel size for a pair of clean clouds (N, 3), one of them these: see `surface_voxel_size`."""
        return surface_voxel_size(points, self.voxel_size_for(points), self.config.num_neighbors)

    def prepare(
        self,
        points: np.ndarray,
        voxel_size: float,
        origin: np.ndarray | None = None,
        view_index: np.ndarray | None = None,
    ) -> PreparedCloud:
        """Clean, centre, filter and index a cloud (N, 3) once, for several calls of `register_prepared`.

        origin: (3,) position of the sensor in the points' frame (zeros for a scan in the sensor's own frame), or (K, 3)
        of several scans that were joined, with `view_index` (N,) naming the row of `origin` of each point; None when
        it is not known. Raises RegistrationError for arrays of an invalid shape.
        """
        points = np.asarray(points)
        usable = usable_points(points, self.config)
        origins, view_index = check_origin(origin, view_index, len(points))
        return prepare_cloud(
            points[usable, :3].astype(np.float64, copy=False),
            voxel_size,
            self.config,
            origins,
            None if view_index is None else view_index[usable],
        )

    def register_prepared(
        self,
        source: PreparedCloud,
        target: PreparedCloud,
        T_target_source_guess: np.ndarray | None = None,
        *,
        hypotheses: Hypotheses = "all",
        deadline: float | None = None,
    ) -> RegistrationResult:
        """`register` for clouds from `prepare` with one voxel size; raises RegistrationError when it differs.

        hypotheses: 'all', or one kind: 'guess' for the guess alone (the cost of a tracked scan), 'features', 'network'.
        deadline: seconds that the search may take instead of the configured `max_scan_time`; the first hypothesis is
        always tried.
        """
        if source.voxel_size != target.voxel_size:
            raise RegistrationError(f"voxel sizes differ: {source.voxel_size} and {target.voxel_size}")
        guess = T_target_source_guess
        for name, cloud in (("source", source), ("target", target)):
            if len(cloud) < self.config.min_points:
                reason = f"the {name} has {len(cloud)} usable points, {self.config.min_points} are needed"
                return RegistrationResult(np.eye(4) if guess is None else guess, REJECTED, reason)
        seconds = self.config.max_scan_time if deadline is None else deadline
        search = Search(source, target, self.network, self.config, time.perf_counter() + seconds)
        best = search.best(
            None if guess is None else to_voxels(guess, source, target),
            to_voxels(np.eye(4), source, target),
            hypotheses,
        )
        decision = decide(search, best, guess)
        if decision.status != ACCEPTED and hypotheses == "all":
            decision = decide(search, search.best_of_rest(best), guess)
        best, status = decision.best, decision.status
        quality = best.quality
        return RegistrationResult(
            T_target_source=from_voxels(best.transform, source, target),
            status=status,
            reason=decision.reason,
            inlier_ratio=quality.inlier_ratio,
            confidence=confidence(quality),
            residual=quality.residual * source.voxel_size,
            overlap_source=quality.overlap_source,
            overlap_target=quality.overlap_target,
            violation=quality.violation,
            agreement=quality.agreement,
            covariance=transform_covariance(quality, target, status, self.config),
            degeneracy=quality.degeneracy,
            hypothesis=best.hypothesis,
            alternatives=[from_voxels(other.transform, source, target) for other in decision.alternatives],
            timings=search.timings,
        )


def check_guess(guess: np.ndarray) -> np.ndarray:
    """The guess as float64 (4, 4); raises RegistrationError when it is not a rigid transform."""
    guess = np.asarray(guess, dtype=np.float64)
    if guess.shape != (4, 4):
        raise RegistrationError(f"a guess must be (4, 4), not {guess.shape}")
    if not se3.is_rigid(guess):
        raise RegistrationError("a guess must be a rigid transform: R R^T = I, det R = +1")
    return se3.orthonormal(guess)


def to_voxels(transform: np.ndarray, source: PreparedCloud, target: PreparedCloud) -> np.ndarray:
    """A transform of the clouds' frames as one of their centred frames in voxels."""
    rotation = transform[:3, :3]
    translation = rotation @ source.centre + transform[:3, 3] - target.centre
    return se3.make_transform(rotation, translation / target.voxel_size)


def from_voxels(transform: np.ndarray, source: PreparedCloud, target: PreparedCloud) -> np.ndarray:
    """Inverse of `to_voxels`; the rotation is made exactly orthonormal."""
    rotation = se3.nearest_rotation(transform[:3, :3])
    translation = transform[:3, 3] * target.voxel_size + target.centre - rotation @ source.centre
    return se3.make_transform(rotation, translation)
