import dataclasses

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from prnet_core.geometry.transforms import invert, make_transform
from prnet_core.model import PRNet, PRNetConfig, prnet_loss
from prnet_core.model.losses import (
    cycle_loss,
    global_feature_loss,
    local_ground_truth,
    matching_loss,
    motion_loss,
)

CONFIG = PRNetConfig(
    edge_conv_channels=(8, 8), num_neighbours=4, embedding=16, feed_forward=16, temperature_channels=(8,), num_passes=3
)


def transforms(count, seed):
    rotation = torch.from_numpy(Rotation.random(count, random_state=seed).as_matrix())
    return make_transform(rotation, torch.randn(count, 3, dtype=torch.float64))


def test_motion_loss():
    A, B = transforms(4, 0), transforms(4, 1)
    expected = np.mean(
        [
            np.linalg.norm(a[:3, :3].T @ b[:3, :3] - np.eye(3)) ** 2 + np.linalg.norm(a[:3, 3] - b[:3, 3]) ** 2
            for a, b in zip(A.numpy(), B.numpy(), strict=True)
        ]
    )
    assert motion_loss(A, B).item() == pytest.approx(expected)
    assert motion_loss(A, A).item() == pytest.approx(0.0, abs=1e-12)


def test_cycle_loss_is_zero_on_an_exact_inverse_pair():
    T = transforms(3, 2)
    assert cycle_loss(T, invert(T)).item() == pytest.approx(0.0, abs=1e-12)


def test_printed_cycle_loss_by_value():
    """L_c = |R_xy R_yx - I|^2 + |t_xy - t_yx|^2, written out."""
    A, B = transforms(4, 6).numpy(), transforms(4, 7).numpy()
    expected = 0.0
    for a, b in zip(A, B, strict=True):
        rotation = a[:3, :3] @ b[:3, :3]
        for i in range(3):
            for j in range(3):
                expected += (rotation[i, j] - (i == j)) ** 2 / 4
            expected += (a[i, 3] - b[i, 3]) ** 2 / 4
    assert cycle_loss(torch.from_numpy(A), torch.from_numpy(B), "printed").item() == pytest.approx(expected)


def test_global_feature_loss_in_both_forms():
    x, y = torch.randn(2, 5), torch.randn(2, 5)
    squared = ((x - y) ** 2).sum(dim=1)
    assert global_feature_loss(x, y).item() == pytest.approx(float(squared.sum() / 10))
    assert global_feature_loss(x, y, "printed").item() == pytest.approx(float(squared.sqrt().mean()))


def test_printed_total_loss_by_value():
    """L = sum_p gamma^(p-1) (L_m + alpha L_c + beta L_g) with R^{p*} = R* R_done^T, t^{p*} = t* - R^{p*} t_done."""
    torch.manual_seed(3)
    config = dataclasses.replace(CONFIG, loss_form="printed")
    network = PRNet(config).train()
    T_true = transforms(2, 8).float()
    output = network(torch.randn(2, 20, 3), torch.randn(2, 18, 3))
    expected = 0.0
    for b in range(2):
        R_done, t_done = np.eye(3), np.zeros(3)
        for p, step in enumerate(output.passes):
            forward, backward = step.T_step[b].detach().numpy(), step.T_step_backward[b].detach().numpy()
            R_left = T_true[b, :3, :3].numpy() @ R_done.T
            t_left = T_true[b, :3, 3].numpy() - R_left @ t_done
            motion = np.sum((forward[:3, :3].T @ R_left - np.eye(3)) ** 2) + np.sum((forward[:3, 3] - t_left) ** 2)
            cycle = np.sum((forward[:3, :3] @ backward[:3, :3] - np.eye(3)) ** 2)
            cycle += np.sum((forward[:3, 3] - backward[:3, 3]) ** 2)
            feature = np.sqrt(np.sum((step.mean_source[b] - step.mean_target[b]).detach().numpy() ** 2))
            expected += 0.9**p * (motion + 0.1 * cycle + 0.1 * feature) / 2
            R_done, t_done = forward[:3, :3] @ R_done, forward[:3, :3] @ t_done + forward[:3, 3]
    assert prnet_loss(output, T_true, config)["total"].item() == pytest.approx(expected, rel=1e-4)


def test_the_form_of_weights_saved_by_version_0_1_is_read():
    values = CONFIG.to_dict()
    del values["loss_form"]
    assert PRNetConfig.from_dict(values | {"cycle": "paper"}).loss_form == "printed"
    assert PRNetConfig.from_dict(values | {"cycle": "exact"}) == CONFIG


def test_local_ground_truth_is_what_is_left():
    T, done = transforms(3, 3), transforms(3, 4)
    torch.testing.assert_close(local_ground_truth(T, done) @ done, T)


def test_passes_are_discounted_and_compared_with_their_local_ground_truth():
    torch.manual_seed(0)
    network = PRNet(CONFIG).train()
    source, target = torch.randn(2, 20, 3), torch.randn(2, 18, 3)
    T_true = transforms(2, 5).float()
    output = network(source, target)
    expected, done = 0.0, torch.eye(4).expand(2, 4, 4)
    for p, step in enumerate(output.passes):
        left = T_true @ torch.linalg.inv(done)
        motion = 0.5 * (motion_loss(step.T_step, left) + motion_loss(step.T_step_backward, torch.linalg.inv(left)))
        cycle = cycle_loss(step.T_step, step.T_step_backward)
        aligned = (step.mean_source - step.mean_target).square().mean()
        expected += 0.9**p * (motion + 0.1 * cycle + 0.1 * aligned)
        done = step.T_step @ done
    assert prnet_loss(output, T_true, CONFIG)["total"].item() == pytest.approx(expected.item(), rel=1e-4)


def test_matching_loss_counts_keypoints_whose_match_is_one_too():
    torch.manual_seed(1)
    network = PRNet(CONFIG).train()
    output = network(torch.randn(2, 12, 3), torch.randn(2, 10, 3), num_passes=1)
    step = output.passes[0]
    matches = torch.randint(-1, 10, (2, 12))
    terms = []
    for b in range(2):
        targets = step.target_keypoints[b].tolist()
        for row, point in enumerate(step.source_keypoints[b].tolist()):
            match = int(matches[b, point])
            if match in targets:
                column = targets.index(match)
                terms.append(
                    -0.5 * (step.log_matching[b, row, column] + step.log_matching_backward[b, column, row]).item()
                )
    assert terms
    assert matching_loss(step, matches).item() == pytest.approx(np.mean(terms), rel=1e-5)


def test_no_known_match_costs_nothing():
    network = PRNet(CONFIG).train()
    output = network(torch.randn(2, 12, 3), torch.randn(2, 10, 3), num_passes=1)
    assert matching_loss(output.passes[0], torch.full((2, 12), -1)).item() == 0.0
