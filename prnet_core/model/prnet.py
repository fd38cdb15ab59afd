"""PRNet: Partial Registration Network (Wang and Solomon, NeurIPS 2019)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..geometry import make_transform, procrustes, robust_procrustes, transform_points
from .action_head import ActionHead
from .config import PRNetConfig
from .dgcnn import DGCNN
from .keypoints import select_keypoints, take
from .out_of_memory import on_cpu_when_out_of_memory
from .precision import at_least_float32, bfloat16_is_fast
from .transformer import Transformer
from .value_head import make_value_head


@dataclass
class RegistrationPass:
    """What one pass p computed, for the loss and for looking at."""

    source: Tensor
    """X^p (B, N, 3), the source as this pass found it."""
    T_step: Tensor
    """(B, 4, 4), takes X^p towards the target."""
    T_step_backward: Tensor | None
    """(B, 4, 4), takes the target towards X^p, from Y -> X matches; None at inference."""
    source_keypoints: Tensor
    target_keypoints: Tensor
    """Indices (B, K_X) and (B, K_Y)."""
    log_matching: Tensor
    log_matching_backward: Tensor | None
    """(B, K_X, K_Y) and (B, K_Y, K_X), rows sum to one."""
    mean_source: Tensor
    mean_target: Tensor
    """Global features (B, C)."""
    temperature: Tensor
    """lambda (B,)."""


@dataclass
class PRNetOutput:
    """T_target_source (B, 4, 4), composed over the passes, and the passes."""

    T_target_source: Tensor
    passes: list[RegistrationPass]


class PRNet(nn.Module):
    """Registers a partial source to a partial target in P passes.

    Clouds are expected centred and scaled together to about the unit sphere; `prnet_core.registration`
    does that for scans in metres.
    """

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        self.config = config
        self.dgcnn = DGCNN(config)
        self.transformer = Transformer(config)
        self.value_head = make_value_head(config)
        self.action_head = ActionHead(config.matching)

    def forward(
        self, source: Tensor, target: Tensor, num_passes: int | None = None, generator: torch.Generator | None = None
    ) -> PRNetOutput:
        """source X (B, N, 3), target Y (B, M, 3), finite; N and M may differ.

        In training mode matches are sampled and both directions are computed; in evaluation mode matches are
        the most probable ones and only X -> Y is. Raises ValueError on a wrong shape or a point that is not
        finite.
        """
        check_clouds(source, target)
        T_target_source = torch.eye(4, device=source.device, dtype=source.dtype).expand(source.shape[0], 4, 4)
        target_local = self.dgcnn(target)
        target_memory = self.transformer.encoder(target_local)
        passes = []
        for _ in range(num_passes or self.config.num_passes):
            with torch.autocast(source.device.type, enabled=False):  # points and poses keep their precision
                moved = transform_points(T_target_source, source)
            step = self._register_once(moved, target, target_local, target_memory, generator)
            passes.append(step)
            with torch.autocast(source.device.type, enabled=False):
                T_target_source = step.T_step @ T_target_source
            if self.training:
                T_target_source = T_target_source.detach()
        return PRNetOutput(T_target_source, passes)

    def _register_once(
        self, source: Tensor, target: Tensor, target_local: Tensor, target_memory: Tensor, generator
    ) -> RegistrationPass:
        config = self.config
        source_local = self.dgcnn(source)
        source_features = source_local + self.transformer(source_local, target_memory)
        target_features = target_local + self.transformer(target_local, self.transformer.encoder(source_local))
        mean_source, mean_target = (at_least_float32(x).mean(dim=1) for x in (source_features, target_features))
        temperature = self.value_head(mean_source, mean_target)

        source_keypoints = select_keypoints(source_features, config.num_keypoints, config.keypoints)
        target_keypoints = select_keypoints(target_features, config.num_keypoints, config.keypoints)
        x, y = take(source, source_keypoints), take(target, target_keypoints)
        scores = self.action_head.scores(
            take(source_features, source_keypoints), take(target_features, target_keypoints)
        )
        T_step, log_forward = self._match(x, y, scores, temperature, generator)
        T_backward = log_backward = None
        if self.training:
            T_backward, log_backward = self._match(y, x, scores.transpose(1, 2), temperature, generator)
        return RegistrationPass(
            source, T_step, T_backward, source_keypoints, target_keypoints, log_forward, log_backward,
            mean_source, mean_target, temperature,
        )  # fmt: skip

    def _match(self, x: Tensor, y: Tensor, scores: Tensor, temperature: Tensor, generator) -> tuple[Tensor, Tensor]:
        with torch.autocast(x.device.type, enabled=False):
            matching, log_matching = self.action_head(scores, temperature, self.training, generator)
            matched = matching @ y
            if self.training or not self.config.robust_procrustes:
                return procrustes(x, matched), log_matching
            confidence = log_matching.amax(dim=-1).exp()
            return robust_procrustes(x, matched, confidence, target_cloud=y), log_matching

    @on_cpu_when_out_of_memory
    @torch.no_grad()  # not inference_mode: roma keeps a constant of its first call, which training then could not use
    def register(
        self, source: Tensor, target: Tensor, num_passes: int | None = None, bfloat16: bool | None = None
    ) -> Tensor:
        """T_target_source (B, 4, 4), deterministic, without gradient, the weights left as they are.

        The clouds may lie anywhere: each is centred first, in its own dtype, which is also the result's (at
        least float32). bfloat16: compute features in it; None does where the device has it in hardware.
        """
        check_shapes(source, target)  # the forward pass checks that all points are finite
        dtype = torch.promote_types(source.dtype, torch.float32)
        source_centre, target_centre = (cloud.to(dtype).mean(dim=1, keepdim=True) for cloud in (source, target))
        was_training = self.training
        self.eval()
        device = source.device
        use_bfloat16 = bfloat16_is_fast(device) if bfloat16 is None else bfloat16
        try:
            with torch.autocast(device.type, torch.bfloat16, use_bfloat16):
                T = self((source - source_centre).float(), (target - target_centre).float(), num_passes).T_target_source
        finally:
            self.train(was_training)
        rotation = T[:, :3, :3].to(dtype)
        moved_centre = (rotation @ source_centre.transpose(1, 2)).squeeze(-1)
        return make_transform(rotation, T[:, :3, 3] + target_centre.squeeze(1) - moved_centre)


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
