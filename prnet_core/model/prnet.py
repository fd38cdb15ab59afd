"""PRNet: Partial Registration Network (Wang and Solomon, NeurIPS 2019)."""

from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..geometry.kabsch import procrustes
from ..geometry.robust import robust_hypotheses, robust_procrustes
from ..geometry.surface_alignment import SPACINGS_IN_RADIUS, Surfaces
from ..geometry.transforms import make_transform, transform_points
from .action_head import ActionHead
from .config import PRNetConfig
from .dgcnn import DGCNN
from .dual_softmax import DualSoftmax, cosines, joint_log_probability
from .evaluation_mode import evaluation_mode
from .invariant_dgcnn import InvariantDGCNN
from .keypoints import select_keypoints, take
from .matched_surfaces import MatchedSurfaces
from .out_of_memory import on_cpu_when_out_of_memory
from .precision import at_least_float32, bfloat16_is_fast
from .surface_cloud import SurfaceCloud
from .surface_inputs import surface_clouds
from .transformer import Transformer
from .value_head import make_value_head


@dataclass
class Matches:
    """Where points of one cloud (B, K, 3) are matched on another one, (B, M, 3).

    matched: (B, K, 3). confidence: (B, K), 0 to 1. normals: of the source (B, K, 3) and of the target (B, M, 3), where
    the clouds have them. similarity: cosines of the features (B, K, M), with the matching "dual".
    """

    source: Tensor
    matched: Tensor
    confidence: Tensor
    target: Tensor
    normals: tuple[Tensor, Tensor] | None = None
    similarity: Tensor | None = None


@dataclass
class RegistrationPass:
    """Results of one pass p, for the loss and for figures."""

    source: Tensor
    """X^p (B, N, 3), the source before this pass."""
    matches: Matches
    matches_backward: Matches | None
    """Of X^p on Y and of Y on X^p; the latter None at inference."""
    source_keypoints: Tensor
    target_keypoints: Tensor
    """Indices (B, K_X) and (B, K_Y)."""
    log_matching: Tensor
    log_matching_backward: Tensor | None
    """(B, K_X, K_Y) and (B, K_Y, K_X), rows sum to one."""
    mean_source: Tensor
    mean_target: Tensor
    """Global features Psi (B, C)."""
    temperature: Tensor | None
    """lambda (B,); None with the matching "dual"."""
    dual_log_probabilities: tuple[Tensor, Tensor] | None = None
    """The matching "dual" only (`DualSoftmax`): by row (B, N, M + 1) and by column (B, M, N + 1)."""
    T_step: Tensor | None = None
    """(B, 4, 4), takes X^p towards the target."""
    T_step_backward: Tensor | None = None
    """(B, 4, 4), takes the target towards X^p, from Y -> X matches; None at inference."""


@dataclass
class PRNetOutput:
    """T_target_source (B, 4, 4), composed over the passes, and the passes."""

    T_target_source: Tensor
    passes: list[RegistrationPass]
    target: Tensor
    """Y (B, M, 3)."""
    spacing: Tensor | None = None
    """(B,) of the points, with the features "surface"."""


@dataclass
class EncodedTarget:
    """What is the same in all passes: F_Y (B, M, C) and, with a transformer, the keys and values that the source's
    decoder reads, and the target's own decoder as far as it does not read the source."""

    features: Tensor
    memory: tuple[Tensor, Tensor] | None = None
    attended: tuple[Tensor, Tensor] | None = None


class PRNet(nn.Module):
    """Registers a partial source to a partial target in P passes.

    Clouds are expected centred and scaled together to about the unit sphere; `prnet_core.registration`
    does that for scans in metres. With the features "surface" they are `SurfaceCloud`s.
    """

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        self.config = config
        self.dgcnn = InvariantDGCNN(config) if config.features == "surface" else DGCNN(config)
        if config.transformer != "none":
            self.transformer = Transformer(config)
        if config.matching == "dual":
            self.dual_softmax = DualSoftmax()
        else:
            self.value_head = make_value_head(config)
            self.action_head = ActionHead(config.matching)

    def forward(
        self,
        source: Tensor | SurfaceCloud,
        target: Tensor | SurfaceCloud,
        num_passes: int | None = None,
        generator: torch.Generator | None = None,
    ) -> PRNetOutput:
        """source X (B, N, 3), target Y (B, M, 3), finite; N and M may differ.

        In training mode matches are sampled and both directions are computed; in evaluation mode matches are
        the most probable ones and only X -> Y is. Raises ValueError on an invalid shape or a point that is not
        finite.
        """
        if self.config.features == "surface" and not isinstance(source, SurfaceCloud):
            check_clouds(source, target)
            source, target = surface_clouds(source, target)
        surface = isinstance(source, SurfaceCloud)
        source_points, target_points = (source.points, target.points) if surface else (source, target)
        check_clouds(source_points, target_points)
        T_target_source = torch.eye(4, device=source_points.device, dtype=source_points.dtype)
        T_target_source = T_target_source.expand(source_points.shape[0], 4, 4)
        encoded_target = self._encode(target)
        is_dual = self.config.matching == "dual"
        radius = SPACINGS_IN_RADIUS * target.spacing if is_dual else None
        passes = []
        for _ in range(num_passes or self.config.num_passes):
            with torch.autocast(source_points.device.type, enabled=False):  # points and poses keep their precision
                moved = source.moved(T_target_source) if surface else transform_points(T_target_source, source)
            step = self._match(moved, target, encoded_target, generator)
            passes.append(step)
            with torch.autocast(source_points.device.type, enabled=False):
                if is_dual and self.training and not self.config.motion_weight:
                    step.T_step = torch.eye(4, device=source_points.device).expand(len(moved), 4, 4)
                else:
                    step.T_step = self._fit(step.matches, radius)
                if step.matches_backward is not None:
                    step.T_step_backward = self._fit(step.matches_backward, radius)
                T_target_source = step.T_step @ T_target_source
            if self.training:
                T_target_source = T_target_source.detach()
        return PRNetOutput(T_target_source, passes, target_points, target.spacing if surface else None)

    def _encode(self, target: Tensor | SurfaceCloud) -> EncodedTarget:
        features = self.dgcnn(target)
        if self.config.transformer == "none":
            return EncodedTarget(features)
        return EncodedTarget(features, self.transformer.memory(features), self.transformer.decoder.attend(features))

    def _match(
        self,
        source: Tensor | SurfaceCloud,
        target: Tensor | SurfaceCloud,
        encoded_target: EncodedTarget,
        generator: torch.Generator | None = None,
    ) -> RegistrationPass:
        """A pass without its transforms."""
        features = self._features(source, encoded_target)
        means = [at_least_float32(x).mean(dim=1) for x in features]
        points = [cloud.points if isinstance(cloud, SurfaceCloud) else cloud for cloud in (source, target)]
        if self.config.matching == "dual":
            normals = (source.normals, target.normals) if isinstance(source, SurfaceCloud) else None
            return self._match_all(points, normals, features, means)
        return self._match_keypoints(points, features, means, generator)

    def _features(self, source: Tensor | SurfaceCloud, target: EncodedTarget) -> tuple[Tensor, Tensor]:
        """Phi_X (B, N, C), Phi_Y (B, M, C)."""
        local = self.dgcnn(source)
        if target.memory is None or target.attended is None:
            return local, target.features
        decoder = self.transformer.decoder
        source_residual = decoder.read(decoder.attend(local), target.memory)
        target_residual = decoder.read(target.attended, self.transformer.memory(local))
        return local + source_residual, target.features + target_residual

    def _match_all(
        self,
        points: list[Tensor],
        normals: tuple[Tensor, Tensor] | None,
        features: tuple[Tensor, Tensor],
        means: list[Tensor],
    ) -> RegistrationPass:
        """All points are matched: each row's best match."""
        similarity = cosines(*features)
        both = self.dual_softmax(similarity)
        joint = joint_log_probability(*both)
        confidence, best = joint.max(dim=-1)
        matches = Matches(points[0], take(points[1], best), confidence.exp(), points[1], normals, similarity)
        every = [torch.arange(x.shape[1], device=x.device).expand(x.shape[0], -1) for x in points]
        return RegistrationPass(points[0], matches, None, *every, joint, None, *means, None, both)

    def _match_keypoints(
        self,
        points: list[Tensor],
        features: tuple[Tensor, Tensor],
        means: list[Tensor],
        generator: torch.Generator | None,
    ) -> RegistrationPass:
        temperature = self.value_head(*means)
        chosen = [select_keypoints(x, self.config.num_keypoints, self.config.keypoints) for x in features]
        scores = self.action_head.scores(*map(take, features, chosen))
        x, y = map(take, points, chosen)
        forward, log_forward = self._soft_matches(x, y, scores, temperature, generator)
        backward = log_backward = None
        if self.training:
            backward, log_backward = self._soft_matches(y, x, scores.transpose(1, 2), temperature, generator)
        return RegistrationPass(points[0], forward, backward, *chosen, log_forward, log_backward, *means, temperature)

    def _soft_matches(
        self, x: Tensor, y: Tensor, scores: Tensor, temperature: Tensor, generator: torch.Generator | None
    ) -> tuple[Matches, Tensor]:
        """Where each keypoint (B, K_X, 3) is matched, and the log of the matching matrix (B, K_X, K_Y)."""
        with torch.autocast(y.device.type, enabled=False):
            matching, log_matching = self.action_head(scores, temperature, self.training, generator)
            return Matches(x, matching @ y, log_matching.amax(dim=-1).exp(), y), log_matching

    def _fit(self, matches: Matches, radius: Tensor | None) -> Tensor:
        """The transform (B, 4, 4) of matches, with autocast off. radius: (B,) of the robust Procrustes, or None."""
        if self.training or not self.config.robust_procrustes:
            return procrustes(matches.source, matches.matched)
        return robust_procrustes(
            matches.source,
            matches.matched,
            matches.confidence,
            matches.target,
            radius,
            matches.normals,
            matches.similarity,
        )

    @on_cpu_when_out_of_memory
    @torch.no_grad()  # not inference_mode: roma keeps a constant of its first call, which training then could not use
    def register(
        self,
        source: Tensor | SurfaceCloud,
        target: Tensor | SurfaceCloud,
        num_passes: int | None = None,
        bfloat16: bool | None = None,
    ) -> Tensor:
        """T_target_source (B, 4, 4), deterministic, without gradient, the weights left as they are.

        Clouds (B, N, 3) may lie anywhere: each is centred first, in its own dtype, which is also the result's (at
        least float32); with the features "surface" their normals and patches are computed from themselves
        (`surface_clouds`). bfloat16: compute features in it; None does where the device has it in hardware.
        """
        if isinstance(source, SurfaceCloud):
            return self._register(source, target, num_passes, bfloat16)
        is_surface = self.config.features == "surface"
        (check_clouds if is_surface else check_shapes)(source, target)  # the forward pass looks for points not finite
        dtype = torch.promote_types(source.dtype, torch.float32)
        source_centre, target_centre = (cloud.to(dtype).mean(dim=1, keepdim=True) for cloud in (source, target))
        source, target = source - source_centre, target - target_centre
        T = self._register(source.float(), target.float(), num_passes, bfloat16)
        rotation, translation = T[:, :3, :3].to(dtype), T[:, :3, 3].to(dtype)
        moved_centre = (rotation @ source_centre.transpose(1, 2)).squeeze(-1)
        return make_transform(rotation, translation + target_centre.squeeze(1) - moved_centre)

    @torch.no_grad()
    def hypotheses(
        self, source: Tensor | SurfaceCloud, target: Tensor | SurfaceCloud, count: int, bfloat16: bool | None = None
    ) -> Tensor:
        """The best `count` transforms (B, count, 4, 4) that differ from each other, from the matches of the first pass.

        Clouds as for `forward`. For verification against the whole clouds; more groups of matches are tried than by
        `register`.
        """
        if self.config.matching == "dual":
            return self.matched_surfaces(source, target, bfloat16=bfloat16).hypotheses(count)
        m = self._first_matches(source, target, bfloat16)
        return robust_hypotheses(m.source, m.matched, m.confidence, m.target, None, count)

    @torch.no_grad()
    def matched_surfaces(
        self,
        source: Tensor | SurfaceCloud,
        target: Tensor | SurfaceCloud,
        samples: int = 1,
        bfloat16: bool | None = None,
    ) -> MatchedSurfaces:
        """The matches of the first pass, with the matching "dual"; clouds as for `forward`.

        Always `samples` clouds after each other are other points of one pair in one frame, whose transforms are ranked
        by all.
        """
        if not isinstance(source, SurfaceCloud):
            source, target = surface_clouds(source, target)
        m = self._first_matches(source, target, bfloat16)
        radius = SPACINGS_IN_RADIUS * target.spacing
        surfaces = Surfaces(source.points, source.normals, target.points, target.normals, m.similarity, radius)

        def split(values: Tensor) -> Tensor:
            return values.unflatten(0, (-1, samples))

        return MatchedSurfaces(split(m.matched), split(m.confidence), surfaces.regrouped(split))

    def _first_matches(self, source: Tensor | SurfaceCloud, target: Tensor | SurfaceCloud, bfloat16) -> Matches:
        if self.config.features == "surface" and not isinstance(source, SurfaceCloud):
            source, target = surface_clouds(source, target)
        with self._evaluation(bfloat16):
            return self._match(source, target, self._encode(target)).matches

    def _register(self, source, target, num_passes: int | None, bfloat16: bool | None) -> Tensor:
        with self._evaluation(bfloat16):
            return self(source, target, num_passes).T_target_source

    @contextmanager
    def _evaluation(self, bfloat16: bool | None):
        device = next(self.parameters()).device
        use_bfloat16 = bfloat16_is_fast(device) if bfloat16 is None else bfloat16
        with evaluation_mode(self), torch.autocast(device.type, torch.bfloat16, use_bfloat16):
            yield


def check_clouds(source: Tensor, target: Tensor) -> None:
    """Raise ValueError, by name, unless both are (B, N >= 1, 3) floating, of one batch, and finite.

    Reads one value from the device.
    """
    check_shapes(source, target)
    if not (torch.isfinite(source).all() & torch.isfinite(target).all()):
        name = "target" if torch.isfinite(source).all() else "source"
        raise ValueError(f"{name} holds NaN or inf: drop those points first")


def check_shapes(source: Tensor, target: Tensor) -> None:
    """Raise ValueError, by name, unless both are (B, N >= 1, 3) floating, of one batch."""
    for name, cloud in (("source", source), ("target", target)):
        if cloud.ndim != 3 or cloud.shape[-1] != 3 or cloud.shape[1] == 0:
            raise ValueError(f"{name} must be (B, N, 3) with N >= 1, got {tuple(cloud.shape)}")
        if not cloud.is_floating_point():
            raise ValueError(f"{name} must be floating point, got {cloud.dtype}")
    if source.shape[0] != target.shape[0]:
        raise ValueError(f"source has a batch of {source.shape[0]}, target of {target.shape[0]}")
