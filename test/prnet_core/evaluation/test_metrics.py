import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from prnet_core.evaluation.metrics import class_mean_metrics, compute_metrics
from prnet_core.geometry import se3


def transforms(angles_deg, translations=None):
    rotations = Rotation.from_euler("XYZ", angles_deg, degrees=True).as_matrix()
    if translations is None:
        translations = np.zeros((len(rotations), 3))
    return np.stack([se3.make_transform(r, t) for r, t in zip(rotations, translations, strict=True)])


def test_perfect_estimates():
    rng = np.random.default_rng(0)
    true = transforms(rng.uniform(0, 45, (20, 3)), rng.uniform(-0.5, 0.5, (20, 3)))
    metrics = compute_metrics(true, true)
    assert metrics["mae_r_deg"] == metrics["rmse_t"] == 0
    assert metrics["r2_r"] == metrics["r2_t"] == metrics["share_within_1_deg"] == 1


def test_trivial_predictors_have_the_known_errors():
    """The reference values of the protocol: identity 25.98 / 22.5 / 0.289 / 0.25, R2 = -3; constant 12.99 / 11.25."""
    rng = np.random.default_rng(0)
    n = 20_000
    true = transforms(rng.uniform(0, 45, (n, 3)), rng.uniform(-0.5, 0.5, (n, 3)))
    identity = compute_metrics(np.broadcast_to(np.eye(4), true.shape), true)
    assert identity["rmse_r_deg"] == pytest.approx(25.98, abs=0.2)
    assert identity["mae_r_deg"] == pytest.approx(22.5, abs=0.2)
    assert identity["rmse_t"] == pytest.approx(0.289, abs=0.003)
    assert identity["mae_t"] == pytest.approx(0.25, abs=0.003)
    assert identity["r2_r"] == pytest.approx(-3, abs=0.1)
    assert identity["r2_t"] == pytest.approx(0, abs=0.01)
    assert identity["mse_r_deg2"] == pytest.approx(identity["rmse_r_deg"] ** 2)
    constant = compute_metrics(np.repeat(transforms([[22.5] * 3]), n, axis=0), true)
    assert constant["rmse_r_deg"] == pytest.approx(12.99, abs=0.1)
    assert constant["mae_r_deg"] == pytest.approx(11.25, abs=0.1)


def test_geodesic_error_is_the_angle_of_the_difference():
    true = transforms([[10, 20, 30]] * 4)
    estimated = true.copy()
    for i, angle in enumerate((0.5, 3.0, 10.0, 170.0)):
        estimated[i, :3, :3] = estimated[i, :3, :3] @ Rotation.from_rotvec([0, 0, angle], degrees=True).as_matrix()
    metrics = compute_metrics(estimated, true)
    assert metrics["median_geodesic_deg"] == pytest.approx(6.5)
    shares = [metrics[f"share_within_{limit}_deg"] for limit in (1, 5, 15)]
    assert shares == [0.25, 0.5, 0.75]


def test_mean_over_classes_weighs_classes_not_pairs():
    true = transforms([[0, 0, 0]] * 4)
    estimated = transforms([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 9]])
    assert compute_metrics(estimated, true)["mae_r_deg"] == pytest.approx(0.75)
    means = class_mean_metrics(estimated, true, np.array(["a", "a", "a", "b"]))
    assert means["class_mean_mae_r_deg"] == pytest.approx(1.5)
    assert means["class_mean_share_within_1_deg"] == 0.5


def test_nonsense_is_refused():
    one = np.eye(4)[None]
    with pytest.raises(ValueError, match="n, 4, 4"):
        compute_metrics(one, np.eye(4))
    with pytest.raises(ValueError, match="not finite"):
        compute_metrics(one * np.nan, one)
