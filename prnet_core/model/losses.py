"""The loss, term by term (paper, section 4.3), and our matching term.

Two forms: "printed" is the paper's formula as printed; "exact" is ours (docs/paper.md, "Where the code differs from
the paper").
"""

import torch
from torch import Tensor

from ..geometry.transforms import invert
from .config import LossForm, PRNetConfig
from .dual_softmax import dual_softmax_loss, true_columns
from .prnet import PRNetOutput, RegistrationPass
from .processes import num_processes, sum_over_processes


def local_ground_truth(T_target_source: Tensor, T_done: Tensor) -> Tensor:
    """R^{p*}, t^{p*}: the transform that remains after T_done, of T_target_source (all (B, 4, 4)).

    T^{p*} = T_target_source T_done^-1, that is R^{p*} = R* R_done^T and t^{p*} = t* - R^{p*} t_done.
    """
    return T_target_source @ invert(T_done)


def motion_loss(T_predicted: Tensor, T_true: Tensor) -> Tensor:
    """L_m = |R^T R* - I|^2 + |t - t*|^2 of transforms (B, 4, 4), squared Frobenius norms, mean over the batch."""
    identity = torch.eye(3, device=T_true.device)
    rotation = (T_predicted[:, :3, :3].transpose(1, 2) @ T_true[:, :3, :3] - identity).square().sum(dim=(1, 2))
    translation = (T_predicted[:, :3, 3] - T_true[:, :3, 3]).square().sum(dim=1)
    return (rotation + translation).mean()


def cycle_loss(T_forward: Tensor, T_backward: Tensor, form: LossForm = "exact") -> Tensor:
    """L_c of the transforms X to Y and Y to X, each (B, 4, 4), mean over the batch.

    "printed": |R_xy R_yx - I|^2 + |t_xy - t_yx|^2, which is not zero on an exact inverse pair.
    "exact": |R_xy R_yx - I|^2 + |R_yx t_xy + t_yx|^2, which is.
    """
    R_xy, R_yx = T_forward[:, :3, :3], T_backward[:, :3, :3]
    t_xy, t_yx = T_forward[:, :3, 3], T_backward[:, :3, 3]
    identity = torch.eye(3, device=R_xy.device)
    rotation = (R_xy @ R_yx - identity).square().sum(dim=(1, 2))
    difference = t_xy - t_yx if form == "printed" else (R_yx @ t_xy.unsqueeze(-1)).squeeze(-1) + t_yx
    return (rotation + difference.square().sum(dim=1)).mean()


def global_feature_loss(mean_source: Tensor, mean_target: Tensor, form: LossForm = "exact") -> Tensor:
    """L_g of the mean features Psi (B, C) of X and Y, mean over the batch.

    "printed": |Psi_X - Psi_Y|, a norm. "exact": its square, as a mean over channels: its gradient vanishes with it,
    and its size does not depend on the number of channels.
    """
    difference = mean_source - mean_target
    return difference.norm(dim=-1).mean() if form == "printed" else difference.square().mean()


def matching_loss(step: RegistrationPass, matches: Tensor) -> Tensor:
    """Cross entropy of the matching matrix, both directions, over keypoints whose true match is one too.

    matches: (B, N), for each source point the index of its true match in the target, or -1.
    """
    true_target = matches.gather(1, step.source_keypoints)
    is_match = true_target.unsqueeze(2) == step.target_keypoints.unsqueeze(1)  # (B, K, K)
    known, picked = is_match.any(dim=2), is_match.int().argmax(dim=2)
    forward = -step.log_matching.gather(2, picked.unsqueeze(-1)).squeeze(-1)
    backward = -step.log_matching_backward.transpose(1, 2).gather(2, picked.unsqueeze(-1)).squeeze(-1)
    count = sum_over_processes(known.sum()).clamp_min(1) / num_processes()
    return ((forward + backward) * known).sum() / (2 * count)


def prnet_loss(
    output: PRNetOutput, T_target_source: Tensor, config: PRNetConfig, matches: Tensor | None = None
) -> dict[str, Tensor]:
    """L = sum_p gamma^(p-1) (L_m + 0.1 L_c + 0.1 L_g), plus the matching term where the matches are known.

    L_m is that of X to Y in the "printed" form, the mean of both directions in the "exact" one. The gradient of a
    pass does not reach the passes before it.

    T_target_source: the true transform (B, 4, 4). Returns scalars: "total" and, undiscounted and summed over the
    passes, "motion", "cycle", "global_feature", "matching". Computed in float32, also under autocast.
    """
    with torch.autocast(T_target_source.device.type, enabled=False):
        return _sum_over_passes(output, T_target_source, config, matches)


def _sum_over_passes(
    output: PRNetOutput, T_target_source: Tensor, config: PRNetConfig, matches: Tensor | None
) -> dict[str, Tensor]:
    terms = {name: T_target_source.new_zeros(()) for name in ("total", "motion", "cycle", "global_feature", "matching")}
    T_left = T_target_source
    for index, step in enumerate(output.passes):
        total = T_left.new_zeros(())
        if config.motion_weight:
            motion, cycle, global_feature = _paper_terms(step, T_left, config)
            total = motion + config.cycle_weight * cycle + config.global_feature_weight * global_feature
            total = config.motion_weight * total
            terms["motion"] = terms["motion"] + motion
            terms["cycle"] = terms["cycle"] + cycle
            terms["global_feature"] = terms["global_feature"] + global_feature
        if config.matching_weight and (matches is not None or step.dual_log_probabilities):
            if step.dual_log_probabilities:
                labels = true_columns(step.source, output.target, T_left, output.spacing)
                matching = dual_softmax_loss(*step.dual_log_probabilities, *labels, config.dustbin_weight)
            else:
                matching = matching_loss(step, matches)
            total = total + config.matching_weight * matching
            terms["matching"] = terms["matching"] + matching
        terms["total"] = terms["total"] + config.discount**index * total
        T_left = local_ground_truth(T_left, step.T_step.detach())
    return terms


def _paper_terms(step: RegistrationPass, T_left: Tensor, config: PRNetConfig) -> tuple[Tensor, Tensor, Tensor]:
    """Motion, cycle and global feature loss of a pass; without a backward transform there is no cycle."""
    motion, cycle = motion_loss(step.T_step, T_left), T_left.new_zeros(())
    if step.T_step_backward is not None:
        if config.loss_form == "exact":
            motion = 0.5 * (motion + motion_loss(step.T_step_backward, invert(T_left)))
        cycle = cycle_loss(step.T_step, step.T_step_backward, config.loss_form)
    return motion, cycle, global_feature_loss(step.mean_source, step.mean_target, config.loss_form)
