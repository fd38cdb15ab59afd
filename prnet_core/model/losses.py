"""The loss, term by term (paper, section 4.3), and our matching term."""

import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from ..geometry import invert
from .config import PRNetConfig
from .dual_softmax import dual_softmax_loss, true_columns
from .prnet import PRNetOutput, RegistrationPass
from .processes import num_processes, sum_over_processes


def local_ground_truth(T_target_source: Tensor, T_done: Tensor) -> Tensor:
    """R^{p*}, t^{p*}: the motion that is left, when T_done of T_target_source is done.

    T^{p*} = T_target_source T_done^-1, that is R^{p*} = R* R_done^T and t^{p*} = t* - R^{p*} t_done.
    """
    return T_target_source @ invert(T_done)


def motion_loss(T_predicted: Tensor, T_true: Tensor) -> Tensor:
    """L_m = |R^T R* - I|^2 + |t - t*|^2, squared Frobenius norms, mean over the batch."""
    identity = torch.eye(3, device=T_true.device)
    rotation = (T_predicted[:, :3, :3].transpose(1, 2) @ T_true[:, :3, :3] - identity).square().sum(dim=(1, 2))
    translation = (T_predicted[:, :3, 3] - T_true[:, :3, 3]).square().sum(dim=1)
    return (rotation + translation).mean()


def cycle_loss(T_forward: Tensor, T_backward: Tensor, form: str = "exact") -> Tensor:
    """L_c = |R_xy R_yx - I|^2 + |R_yx t_xy + t_yx|^2: zero on an exact inverse pair.

    form "paper" has the translation as printed, |t_xy + t_yx|^2, which is not zero there.
    """
    R_xy, R_yx = T_forward[:, :3, :3], T_backward[:, :3, :3]
    t_xy, t_yx = T_forward[:, :3, 3], T_backward[:, :3, 3]
    identity = torch.eye(3, device=R_xy.device)
    rotation = (R_xy @ R_yx - identity).square().sum(dim=(1, 2))
    carried = t_xy if form == "paper" else (R_yx @ t_xy.unsqueeze(-1)).squeeze(-1)
    return (rotation + (carried + t_yx).square().sum(dim=1)).mean()


def global_feature_loss(mean_source: Tensor, mean_target: Tensor) -> Tensor:
    """L_g: squared distance of the mean features (B, C) of X and Y, mean over channels and batch."""
    return mse_loss(mean_source, mean_target)


def matching_loss(step: RegistrationPass, matches: Tensor) -> Tensor:
    """Cross entropy of the matching matrix, both directions, over key points whose true match is one too.

    matches: (B, N), for each source point the index of its true match in the target, or -1.
    """
    # Where each target point stands among the target's key points, or -1.
    batch, num_targets = matches.shape[0], int(max(matches.max(), step.target_keypoints.max())) + 1
    place = torch.full((batch, num_targets + 1), -1, dtype=torch.long, device=matches.device)
    order = torch.arange(step.target_keypoints.shape[1], device=matches.device).expand_as(step.target_keypoints)
    place.scatter_(1, step.target_keypoints, order)
    true_target = matches.gather(1, step.source_keypoints)
    columns = place.gather(1, true_target.where(true_target >= 0, num_targets))
    known = columns >= 0
    picked = columns.clamp_min(0)
    forward = -step.log_matching.gather(2, picked.unsqueeze(-1)).squeeze(-1)
    backward = -step.log_matching_backward.transpose(1, 2).gather(2, picked.unsqueeze(-1)).squeeze(-1)
    count = sum_over_processes(known.sum()).clamp_min(1) / num_processes()
    return ((forward + backward) * known).sum() / (2 * count)


def prnet_loss(
    output: PRNetOutput, T_target_source: Tensor, config: PRNetConfig, matches: Tensor | None = None
) -> dict[str, Tensor]:
    """L = sum_p gamma^(p-1) (L_m + 0.1 L_c + 0.1 L_g), plus the matching term where the matches are known.

    T_target_source: the true motion (B, 4, 4). Returns scalars: "total" and, undiscounted and summed over
    the passes, "motion", "cycle", "global_feature", "matching". Computed in float32 whatever the autocast.
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
                labels = true_columns(step.source, output.target, T_left)
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
        motion = 0.5 * (motion + motion_loss(step.T_step_backward, invert(T_left)))
        cycle = cycle_loss(step.T_step, step.T_step_backward, config.cycle)
    return motion, cycle, global_feature_loss(step.mean_source, step.mean_target)
