"""Fine-tuning of a network with rotation-invariant inputs: its pairs, and a short run."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from prnet_core.fine_tuning import FineTuneConfig, ScanTransform, fine_tune  # noqa: E402
from prnet_core.fine_tuning.far_transforms import far_transforms  # noqa: E402
from prnet_core.fine_tuning.run import between  # noqa: E402
from prnet_core.fine_tuning.surface_examples import MIN_OVERLAP, SurfaceExamples  # noqa: E402
from prnet_core.model import PRNet, PRNetConfig  # noqa: E402
from prnet_core.model.surface_cloud import SurfaceCloud  # noqa: E402

CONFIG = FineTuneConfig(
    examples_per_scan=4, epochs=1, learning_rate=1e-3, num_points=96, max_seconds=None, held_out_pairs=4,
    hidden_share=0.0, batch_size=4, num_validations=1,
)  # fmt: skip


def small_network() -> PRNet:
    """An untrained network of the preset, narrow."""
    torch.manual_seed(0)
    values = PRNetConfig.invariant().to_dict() | {"edge_conv_channels": (16, 16, 16), "embedding": 16}
    return PRNet(PRNetConfig.from_dict(values)).eval()


@pytest.mark.parametrize("is_known", [False, True])
def test_the_transform_and_the_matches_of_a_pair_fit_its_clouds(room_scans, is_known):
    scans, transforms = room_scans
    config = FineTuneConfig(num_points=200, hidden_share=0.0)
    examples = SurfaceExamples(scans, transforms if is_known else [], config, augment=True)
    batch = examples.stack([examples.draw(place, np.random.default_rng(place)) for place in (1, 2, 3)])
    assert isinstance(batch.source, SurfaceCloud) and batch.source.patches.shape == (3, 200, 32, 5)
    T = batch.T_target_source
    moved = batch.source.points @ T[:, :3, :3].transpose(1, 2) + T[:, None, :3, 3]
    for row in range(3):
        matched = batch.matches[row] >= 0
        assert matched.float().mean() >= MIN_OVERLAP
        target = batch.target.points[row][batch.matches[row][matched]]
        assert (moved[row][matched] - target).norm(dim=1).max() <= batch.source.spacing[row] + 1e-5


def test_a_run_tunes_and_leaves_the_given_network_as_it_was(room_scans):
    scans, transforms = room_scans
    network = small_network()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    report = fine_tune(network, scans, CONFIG, transforms=transforms)
    assert report.steps == len(report.loss_curve) == 5 and report.skipped_steps == 0
    assert np.isfinite([report.before.error_deg, report.after.error_deg]).all()
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_pairs_of_scans_far_apart_are_composed_of_those_of_neighbours(room_scans):
    scans, transforms = room_scans
    far = SurfaceExamples.usable_transforms(scans, transforms)
    assert {(t.source, t.target) for t in far} == {(i, j) for i in range(6) for j in range(6) if i != j}
    chained = {(t.source, t.target): t.T_target_source for t in far}
    expected = np.eye(4)
    for transform in transforms:  # from each scan to the one before it
        expected = expected @ transform.T_target_source
    np.testing.assert_allclose(chained[5, 0], expected, atol=1e-12)
    np.testing.assert_allclose(chained[0, 5], np.linalg.inv(expected), atol=1e-12)


def test_scans_that_hardly_overlap_or_are_not_connected_make_no_pairs(room_scans):
    scans, transforms = room_scans
    scans = [*scans, scans[0][scans[0][:, 0] > 2.0], scans[0]]
    cut = ScanTransform(6, 0, np.eye(4))
    far = SurfaceExamples.usable_transforms(scans, [*transforms, cut])
    assert 7 not in {t.source for t in far}
    assert far_transforms(scans, [cut], 0.9) == []


def test_clouds_that_look_like_scans_have_their_sensor_at_the_origin(room_scans):
    scans, transforms = room_scans
    config = FineTuneConfig(num_points=200)
    assert SurfaceExamples(scans, transforms, config, augment=True).know_origins
    assert not SurfaceExamples([0.1 * scan for scan in scans], transforms, config, augment=True).know_origins


def test_kept_weights_lie_between_the_original_and_the_tuned_ones():
    original, tuned = small_network(), small_network()
    before = {name: value.clone() for name, value in original.state_dict().items()}
    with torch.no_grad():
        for parameter in tuned.parameters():
            parameter += 1.0
    half, whole = (between(original, tuned, share).state_dict() for share in (0.5, 1.0))
    for name, value in tuned.state_dict().items():
        assert torch.equal(whole[name], value) and torch.equal(original.state_dict()[name], before[name])
        torch.testing.assert_close(half[name], 0.5 * (before[name] + value))
