"""Fine-tuning of a network with rotation-invariant inputs: its pairs, and a short run."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from prnet_core.fine_tuning import FineTuneConfig, fine_tune  # noqa: E402
from prnet_core.fine_tuning.surface_examples import SurfaceExamples  # noqa: E402
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


@pytest.mark.parametrize("known_share", [0.0, 1.0])
def test_the_transform_and_the_matches_of_a_pair_fit_its_clouds(room_scans, known_share):
    scans, transforms = room_scans
    config = FineTuneConfig(num_points=200, known_transform_share=known_share, hidden_share=0.0)
    examples = SurfaceExamples(scans, transforms, config, augment=True)
    batch = examples.stack([examples.draw(place, np.random.default_rng(place)) for place in (1, 2, 3)])
    assert isinstance(batch.source, SurfaceCloud) and batch.source.patches.shape == (3, 200, 32, 5)
    T = batch.T_target_source
    moved = batch.source.points @ T[:, :3, :3].transpose(1, 2) + T[:, None, :3, 3]
    for row in range(3):
        matched = batch.matches[row] >= 0
        assert matched.float().mean() >= config.min_overlap
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
