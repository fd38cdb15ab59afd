"""Shape loaders on tiny files of the published forms."""

from pathlib import Path

import numpy as np
import pytest

from prnet_core.shapes.load import load_shapes
from prnet_core.shapes.meshes import read_mesh, sample_surface
from prnet_core.shapes.modelnet import split_categories
from prnet_core.shapes.shape_sets import ShapeError, make_shape_set, to_unit_sphere

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"

CUBE = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def off_text(header: str) -> str:
    rows = [" ".join(map(str, v)) for v in CUBE] + ["4 " + " ".join(map(str, f)) for f in FACES]
    return header + "\n".join(rows) + "\n"


def obj_text() -> str:
    rows = ["v " + " ".join(map(str, v)) for v in CUBE]
    rows += ["f " + " ".join(f"{i + 1}/1/1" for i in face) for face in FACES]
    return "# a cube\n" + "\n".join(rows) + "\n"


def assert_in_unit_sphere(points: np.ndarray) -> None:
    assert points.dtype == np.float32
    np.testing.assert_allclose(points.mean(axis=1), 0, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(points, axis=2).max(axis=1), 1, atol=1e-5)


def test_npz_with_int16_points_is_scaled_and_split(tmp_path):
    points = np.arange(4 * 5 * 3).reshape(4, 5, 3).astype(np.int16)
    np.savez(
        tmp_path / "s.npz",
        points=points,
        scale=np.float32(0.5),
        names=list("abcd"),
        classes=list("xxyy"),
        split=["train", "test", "train", "test"],
        group=[0, 0, 1, 1],
    )
    shapes = load_shapes(tmp_path / "s.npz", "test")
    assert len(shapes) == 2 and shapes.points.dtype == np.float32
    np.testing.assert_array_equal(shapes.points, points[[1, 3]] * np.float32(0.5))
    assert shapes.names.tolist() == ["b", "d"]
    assert shapes.classes.tolist() == ["x", "y"] and shapes.groups.tolist() == [0, 1]
    assert shapes.tensor().shape == (2, 5, 3)
    assert len(load_shapes(tmp_path / "s.npz")) == 4
    with pytest.raises(ShapeError, match="no split 'val'"):
        load_shapes(tmp_path / "s.npz", "val")


def test_npz_errors_name_the_problem(tmp_path):
    np.savez(tmp_path / "int.npz", points=np.zeros((1, 4, 3), np.int16))
    with pytest.raises(ShapeError, match="need an array 'scale'"):
        load_shapes(tmp_path / "int.npz")
    np.savez(tmp_path / "other.npz", clouds=np.zeros(3))
    with pytest.raises(ShapeError, match="no array 'points'"):
        load_shapes(tmp_path / "other.npz")
    np.savez(tmp_path / "nan.npz", points=np.full((1, 4, 3), np.nan, np.float16))
    with pytest.raises(ShapeError, match="not finite"):
        load_shapes(tmp_path / "nan.npz")
    np.savez(tmp_path / "flat.npz", points=np.zeros((1, 4, 3), np.float16))
    with pytest.raises(ShapeError, match="no splits"):
        load_shapes(tmp_path / "flat.npz", "test")
    with pytest.raises(ShapeError, match="does not exist"):
        load_shapes(tmp_path / "nowhere")


@pytest.mark.parametrize("header", ["OFF\n8 6 0\n", "OFF8 6 0\n", "OFF 8 6 0\n", "# made by hand\nOFF\n\n8 6 12\n"])
def test_off_header_in_every_form_that_occurs(tmp_path, header):
    (tmp_path / "cube.off").write_text(off_text(header))
    vertices, triangles = read_mesh(tmp_path / "cube.off")
    np.testing.assert_array_equal(vertices, CUBE)
    assert triangles.shape == (12, 3)


def test_errors_name_the_damaged_mesh(tmp_path):
    (tmp_path / "cut.off").write_text("\n".join(off_text("OFF\n8 6 0\n").splitlines()[:9]))
    with pytest.raises(ShapeError, match="cut.off"):
        read_mesh(tmp_path / "cut.off")
    (tmp_path / "ply.off").write_text("ply\n")
    with pytest.raises(ShapeError, match="does not begin with OFF"):
        read_mesh(tmp_path / "ply.off")


def test_surface_samples_are_uniform_over_area_not_over_faces():
    vertices = np.array([[0, 0, 0], [3, 0, 0], [0, 3, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], float)
    points = sample_surface(vertices, np.array([[0, 1, 2], [3, 4, 5]]), 4000, np.random.default_rng(0))
    assert (points[:, 2] == 0).mean() == pytest.approx(0.9, abs=0.02)
    np.testing.assert_allclose(points[points[:, 2] == 0].mean(axis=0), [1, 1, 0], atol=0.05)


def test_modelnet_off_meshes(tmp_path):
    for split, name in (("train", "cup_0001"), ("test", "cup_0002")):
        (tmp_path / "cup" / split).mkdir(parents=True)
        (tmp_path / "cup" / split / f"{name}.off").write_text(off_text("OFF8 6 0\n"))
    shapes = load_shapes(tmp_path, "test", num_points=128)
    assert shapes.names.tolist() == ["cup_0002"] and shapes.classes.tolist() == ["cup"]
    assert shapes.points.shape == (1, 128, 3)
    assert_in_unit_sphere(shapes.points)
    both = load_shapes(tmp_path, num_points=128)
    assert not np.array_equal(both.points[0], both.points[1]), "each mesh has a sample of its own"
    np.testing.assert_array_equal(load_shapes(tmp_path, num_points=128).points, both.points)


def test_modelnet_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    rng = np.random.default_rng(0)
    for split, count in (("train", 3), ("test", 2)):
        with h5py.File(tmp_path / f"ply_data_{split}0.h5", "w") as file:
            file["data"] = rng.normal(size=(count, 16, 3)).astype(np.float32)
            file["label"] = np.arange(count, dtype=np.uint8)[:, None]
    (tmp_path / "shape_names.txt").write_text("airplane\nbathtub\nbed\n")
    shapes = load_shapes(tmp_path, "test")
    assert shapes.classes.tolist() == ["airplane", "bathtub"]
    assert_in_unit_sphere(shapes.points)
    assert len(load_shapes(tmp_path)) == 5
    seen, unseen = split_categories(load_shapes(tmp_path), num_seen=2)
    assert set(seen.classes) == {"airplane", "bathtub"} and set(unseen.classes) == {"bed"}


def test_shapenet_meshes_and_point_files(tmp_path):
    model = tmp_path / "02691156" / "abc" / "models"
    model.mkdir(parents=True)
    (model / "model_normalized.obj").write_text(obj_text())
    (tmp_path / "02958343").mkdir()
    np.savez(tmp_path / "02958343" / "def.npz", points=np.random.default_rng(0).normal(size=(50, 3)))
    shapes = load_shapes(tmp_path, num_points=40)
    assert shapes.names.tolist() == ["abc", "def"]
    assert shapes.classes.tolist() == ["02691156", "02958343"]
    assert_in_unit_sphere(shapes.points)


def test_folder_of_scans_keeps_the_listed_order_and_drops_what_is_not_finite(tmp_path):
    (tmp_path / "scans").mkdir()
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        cloud = rng.normal(size=(30, 4)).astype(np.float32)
        cloud[3, 1] = np.nan
        np.save(tmp_path / "scans" / f"{name}.npy", cloud)
    (tmp_path / "scans.txt").write_text("b\na\n")
    shapes = load_shapes(tmp_path, num_points=64)
    assert shapes.names.tolist() == ["b", "a"]
    assert shapes.points.shape == (2, 64, 3)
    assert_in_unit_sphere(shapes.points)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ShapeError, match="no scans"):
        load_shapes(tmp_path / "empty")


def test_a_file_that_is_no_cloud_is_left_out_and_named(tmp_path, caplog):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(30, 3)))
    (tmp_path / "LICENSE.txt").write_text("Copyright, and other words\n")
    assert load_shapes(tmp_path, num_points=16).names.tolist() == ["a"]
    assert "LICENSE.txt" in caplog.text
    (tmp_path / "a.npy").write_bytes(b"nothing")
    with pytest.raises(ShapeError, match="none of 2 files"):
        load_shapes(tmp_path, num_points=16)


def test_select_and_unit_sphere_of_a_single_point():
    shapes = make_shape_set(np.zeros((3, 2, 3)), ["a", "b", "c"])
    assert shapes.select(np.array([2, 0])).names.tolist() == ["c", "a"]
    assert shapes.groups.tolist() == [0, 1, 2]
    assert np.isfinite(to_unit_sphere(np.ones((1, 3)))).all()


def test_the_real_sets():
    folder = SHARED / "shapes"
    if not folder.is_dir():
        pytest.skip("../shared/data/shapes is not here")
    shapes = load_shapes(folder / "modelnet40.npz", "test")
    assert shapes.points.shape == (220, 2048, 3)
    np.testing.assert_allclose(shapes.points.mean(axis=1), 0, atol=1e-3)
