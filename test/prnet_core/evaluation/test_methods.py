import subprocess

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from prnet_core.evaluation.classical_methods import Refinement
from prnet_core.evaluation.learned_methods import NetworkMethod
from prnet_core.evaluation.method import Centroid
from prnet_core.evaluation.methods import MethodOptions, Refined, make_method
from prnet_core.evaluation.metrics import geodesic_errors_deg
from prnet_core.geometry import se3
from prnet_core.pairs.protocol import Protocol, protocol_pair

WHOLE = Protocol("whole", num_kept=1024)
"""Without a crop: X and Y are the same points."""


@pytest.fixture(scope="module")
def shape():
    """Points on three unequal boxes: no symmetry."""
    rng = np.random.default_rng(0)
    boxes = [((0.9, 0.2, 0.2), (0, 0, 0)), ((0.2, 0.6, 0.15), (0.4, 0.3, 0.1)), ((0.15, 0.2, 0.5), (-0.4, 0, 0.3))]
    points = []
    for size, centre in boxes:
        cloud = rng.uniform(-0.5, 0.5, (700, 3))
        axis = rng.integers(0, 3, 700)
        cloud[np.arange(700), axis] = np.sign(cloud[np.arange(700), axis]) * 0.5
        points.append(cloud * size + centre)
    points = rng.permutation(np.concatenate(points))[:2048]
    points -= points.mean(axis=0)
    return points / np.linalg.norm(points, axis=1).max()


def error_deg(method, pair):
    source, target, true = pair
    estimated = method.register(source, target)
    assert estimated.shape == (4, 4) and np.linalg.det(estimated[:3, :3]) == pytest.approx(1)
    return geodesic_errors_deg(estimated[None], true[None])[0]


def test_refinement_is_exact_where_the_points_are_the_same(shape):
    for index in range(5):
        source, target, true = protocol_pair(shape, index, "objects")
        turn = Rotation.from_rotvec([3, -2, 2], degrees=True).as_matrix()
        initial_guess = true @ se3.make_transform(turn, np.array([0.01, 0.0, -0.02]))
        refined = Refinement(source, target).refine(initial_guess)
        assert geodesic_errors_deg(refined[None], true[None])[0] < 0.01


def test_refinement_of_noisy_points_never_raises_their_residual(shape):
    def residual(transform, source, target):
        distances, _ = cKDTree(target).query(se3.apply(transform, source.astype(float)))
        return np.mean(np.sort(distances)[: int(0.8 * len(distances))] ** 2)

    for index in range(6):
        source, target, true = protocol_pair(shape, index, "noise")
        refined = Refinement(source, target).refine(true)
        assert residual(refined, source, target) <= residual(true, source, target) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["icp", "icp+refine"])
def test_icp_solves_small_motions_of_the_protocol(shape, name):
    from dataclasses import replace

    from prnet_core.pairs.protocol import PROTOCOLS

    small = replace(PROTOCOLS["objects"], max_angle_deg=15.0)
    errors = [error_deg(make_method(name), protocol_pair(shape, i, small)) for i in range(8)]
    assert np.median(errors) < 1


def test_fgr_solves_pairs_of_the_same_points(shape):
    pytest.importorskip("open3d")
    method = make_method("fgr")
    errors = [error_deg(method, protocol_pair(shape, i, "objects")) for i in range(5)]
    assert np.median(errors) < 1


def test_trivial_methods(shape):
    source, target, true = protocol_pair(shape, 0, WHOLE)
    np.testing.assert_array_equal(make_method("identity").register(source, target), np.eye(4))
    assert error_deg(make_method("constant"), (source, target, true)) < 45
    centred = make_method("centroid").register(source, target)
    np.testing.assert_allclose(se3.apply(centred, source).mean(axis=0), target.mean(axis=0), atol=1e-6)


def test_unknown_method_lists_what_there_is():
    with pytest.raises(ValueError, match="unknown method 'ndt'.*icp.*prnet"):
        make_method("ndt")


def test_plus_refine_wraps_any_method():
    method = make_method("identity+refine")
    assert isinstance(method, Refined) and isinstance(method.method, type(make_method("identity")))


def test_several_hypotheses_prefer_the_smaller_rotation_of_a_symmetric_object():
    """A box seen whole agrees with itself under four rotations; the network's own transform is the flipped one."""
    torch = pytest.importorskip("torch")
    from prnet_core.evaluation.several_hypotheses import SeveralHypotheses
    from prnet_core.model import PRNet, PRNetConfig

    rng = np.random.default_rng(0)
    faces = rng.choice([-1.0, 1.0], 1000)[:, None] * np.eye(3)[rng.integers(3, size=1000)]
    box = np.where(faces != 0, faces, rng.uniform(-1, 1, (1000, 3))) * (0.7, 0.5, 0.3)
    true = se3.make_transform(se3.rotation_exp(np.array([0.1, 0.2, 0.15])), np.array([0.05, 0.1, 0.0]))
    flipped = true @ se3.make_transform(np.diag([1.0, -1.0, -1.0]), np.zeros(3))

    class Both(PRNet):
        def register(self, source, target):
            return torch.from_numpy(flipped)[None]

        def hypotheses(self, source, target, count):
            return torch.from_numpy(np.stack([flipped, true]))[None]

    method = SeveralHypotheses(Both(PRNetConfig.small()))
    target = se3.apply(true, box)
    assert se3.rotation_angle((se3.invert(true) @ method.register(box, target))[:3, :3]) < np.radians(2)


def test_several_hypotheses_are_of_prnet_alone():
    with pytest.raises(ValueError, match="unknown method 'icp.hypotheses'"):
        make_method("icp+hypotheses")
    with pytest.raises(ValueError, match="unknown method 'prnet.hypotheses.refine'"):
        make_method("prnet+hypotheses+refine")


def test_a_network_sees_normalised_clouds_and_its_answer_comes_back_in_the_pairs_units(shape):
    torch = pytest.importorskip("torch")

    class TrueMotion(torch.nn.Module):
        """Answers with the given rotation and no translation, as if the centred clouds were full."""

        def __init__(self, rotation):
            super().__init__()
            self.unused = torch.nn.Linear(1, 1)
            self.rotation = torch.from_numpy(rotation)

        def register(self, source, target):
            assert abs(float(source.mean())) < 1e-6 and abs(float(target.mean())) < 1e-6
            assert 0.8 < float(source.norm(dim=-1).max()) < 1.5
            transform = torch.eye(4, dtype=torch.float64)[None]
            transform[0, :3, :3] = self.rotation
            return transform

    source, target, true = protocol_pair(10 * shape, 0, WHOLE)
    estimated = NetworkMethod(TrueMotion(true[:3, :3])).register(source, target)
    np.testing.assert_allclose(estimated, true, atol=1e-5)


def test_weights_under_a_label_are_a_method_of_their_own(tmp_path):
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="prnet:tuned needs weights: prnet:tuned=FILE"):
        make_method("prnet:tuned")
    with pytest.raises(ValueError, match="configs/dcp.yaml"):
        make_method("dcp")
    with pytest.raises(ValueError, match="unknown method 'icp:tuned'"):
        make_method("icp:tuned")
    from test.tiny_network import save_tiny_network

    weights = save_tiny_network(tmp_path)
    method = make_method("prnet:tuned+refine", MethodOptions({"prnet:tuned": weights}, "cpu"))
    assert method.method.network.config.embedding != make_method("prnet").network.config.embedding


def test_go_icp_gets_points_from_all_over_the_source(shape, monkeypatch):
    from prnet_core.evaluation.go_icp import GoICP

    method = GoICP.__new__(GoICP)
    method.program = "goicp"
    source = shape[np.argsort(shape[:, 0])]

    def first_points(command, cwd, **_):
        used = np.loadtxt(cwd / "data", skiprows=1)[: int(command[3])]
        middle = np.median(source[:, 0])
        assert 0.3 < np.mean(used[:, 0] < middle) < 0.7
        (cwd / "output").write_text("1 0 0 0 1 0 0 0 1 0 0 0")

    monkeypatch.setattr(subprocess, "run", first_points)
    np.testing.assert_allclose(method.register(source, source), np.eye(4), atol=1e-9)


def test_go_icp_falls_back_and_counts_when_the_time_is_up(shape):
    pytest.importorskip("py_simple_go_icp_interface")
    from prnet_core.evaluation.go_icp import GoICP

    source, target, true = protocol_pair(shape, 1, WHOLE)
    method = GoICP(timeout_s=20)
    assert error_deg(method, (source, target, true)) < 3
    hurried = GoICP(timeout_s=0.001)
    hurried.register(source, target)
    assert hurried.num_timeouts == 1


def test_go_icp_answer_is_brought_back_from_its_cube(shape, monkeypatch):
    """Without its program: what the program would answer for centred clouds becomes T_target_source."""
    from prnet_core.evaluation.go_icp import GoICP

    source, target, true = protocol_pair(shape, 2, WHOLE)
    method = GoICP.__new__(GoICP)
    method.num_timeouts = 0
    seen = {}

    def answer(source_local, target_local, folder):
        seen["radius"] = max(np.linalg.norm(cloud, axis=1).max() for cloud in (source_local, target_local))
        return np.vstack([true[:3, :3], np.zeros(3)])

    monkeypatch.setattr(method, "_run", answer)
    np.testing.assert_allclose(method.register(source, target), true, atol=1e-5)
    assert seen["radius"] == pytest.approx(1.0)

    def too_long(*_):
        raise subprocess.TimeoutExpired("goicp", 1)

    monkeypatch.setattr(method, "_run", too_long)
    assert method.register(source, target).shape == (4, 4) and method.num_timeouts == 1


def test_centroids_of_clouds_of_different_sizes():
    transform = Centroid().register(np.zeros((3, 3)), np.ones((5, 3)))
    np.testing.assert_array_equal(transform[:3, 3], 1)
