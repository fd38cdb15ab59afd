"""Meshes of two collections become the file of shapes that a training loads."""

import sys
from pathlib import Path

import numpy as np
import pytest

from prnet_core.shapes.load import load_shapes

trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
SCRIPTS = str(Path(__file__).resolve().parents[2] / "scripts")


def test_meshes_of_collections_become_shapes(tmp_path, monkeypatch, capsys):
    for path, mesh in (
        ("first/boxes/long.obj", trimesh.creation.box((3.0, 1.0, 1.0))),
        ("first/balls/ball.stl", trimesh.creation.icosphere(subdivisions=2)),
        ("second/ring.ply", trimesh.creation.annulus(r_min=0.5, r_max=1.0, height=0.3)),
    ):
        file = tmp_path / "collections" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        mesh.export(file)
    (tmp_path / "collections" / "second" / "damaged.obj").write_text("nothing")
    out = tmp_path / "train.npz"
    monkeypatch.setattr(sys, "path", [SCRIPTS, *sys.path])
    monkeypatch.setattr(sys, "argv", ["make_training_shapes.py", str(tmp_path / "collections"), "--out", str(out)])
    import make_training_shapes

    make_training_shapes.main()
    shapes = load_shapes(out)
    assert sorted(shapes.names) == ["balls/ball", "boxes/long", "ring"]
    assert shapes.points.shape == (3, 2048, 3)
    assert np.linalg.norm(shapes.points, axis=2).max(axis=1) == pytest.approx(1.0, abs=1e-3)
    ball = shapes.points[list(shapes.names).index("balls/ball")]
    np.testing.assert_allclose(np.linalg.norm(ball, axis=1), 1.0, atol=0.05)
    written = capsys.readouterr().out
    assert "1 files could not be used" in written and "damaged.obj" in written
