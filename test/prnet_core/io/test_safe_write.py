"""A target is checked before the work, and a failure leaves the old file unchanged."""

import os
import stat

import numpy as np
import pytest

from prnet_core.io.cloud_files import read_cloud_file, write_cloud_file
from prnet_core.io.safe_write import check_target, replacing
from prnet_core.io.trajectories import Trajectory, read_kitti, read_tum, write_kitti, write_tum

UTM = np.array([[500123.12345678, 5400321.987654321, -12.3456789012], [1 / 3, 2e-9, 1e300]])


@pytest.mark.parametrize("suffix", [".ply", ".npy", ".xyz", ".txt"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_saved_clouds_are_the_same_to_the_last_digit(tmp_path, suffix, dtype):
    points = UTM.clip(-1e9, 1e9).astype(dtype)
    write_cloud_file(tmp_path / f"a{suffix}", points)
    np.testing.assert_array_equal(read_cloud_file(tmp_path / f"a{suffix}").astype(dtype), points)


def test_saved_trajectories_are_the_same_to_the_last_digit(tmp_path):
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[:, :3, 3] = UTM
    stamps = np.array([1630577768.569102, 1630577768.6691023])
    write_tum(tmp_path / "a.tum", Trajectory(stamps, poses))
    write_kitti(tmp_path / "a.kitti", poses)
    np.testing.assert_array_equal(read_tum(tmp_path / "a.tum").stamps, stamps)
    np.testing.assert_array_equal(read_tum(tmp_path / "a.tum").poses, poses)
    np.testing.assert_array_equal(read_kitti(tmp_path / "a.kitti"), poses)


def test_an_empty_trajectory_is_written(tmp_path):
    write_tum(tmp_path / "a.tum", Trajectory(np.zeros(0), np.zeros((0, 4, 4))))
    assert (tmp_path / "a.tum").read_text() == ""


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("old")
    with pytest.raises(RuntimeError, match="half"), replacing(file) as temporary:
        temporary.write_text("new")
        raise RuntimeError("half way")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_the_mode_is_kept_and_a_new_file_has_the_usual_one(tmp_path):
    (tmp_path / "usual").touch()
    old = tmp_path / "old"
    old.touch(mode=0o640)
    for name in ("old", "new"):
        with replacing(tmp_path / name) as temporary:
            temporary.write_text(name)
            os.chmod(temporary, 0o600)
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "old", "new")}
    assert modes["old"] == 0o640 and modes["new"] == modes["usual"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    file, link = tmp_path / "real" / "a.txt", tmp_path / "link.txt"
    file.write_text("old")
    link.symlink_to(file)
    with replacing(check_target(link)) as temporary:
        temporary.write_text("new")
    assert link.is_symlink() and file.read_text() == "new"


def test_a_pipe_is_written_into_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(check_target(pipe)) as temporary:
        temporary.write_text("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_weights_do_not_replace_a_device(tmp_path):
    """safetensors by itself renames a file onto its target."""
    import torch

    from prnet_core.model import PRNetConfig, save_network

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    network = torch.nn.Linear(2, 2)
    network.config = PRNetConfig()
    save_network(network, pipe, {})
    assert len(os.read(reader, 65536)) > 24
    os.close(reader)
    assert pipe.is_fifo()


def test_targets_that_cannot_be_written(tmp_path):
    (tmp_path / "a.txt").touch()
    for path, error in (
        (tmp_path / "missing" / "a.txt", FileNotFoundError),
        (tmp_path / "a.txt" / "b.txt", FileNotFoundError),
        (tmp_path, IsADirectoryError),
    ):
        with pytest.raises(error, match=str(path)):
            check_target(path)
    with pytest.raises(ValueError, match=r"a\.txt: written as \.npy \.ply, not \.txt"):
        check_target(tmp_path / "a.txt", (".ply", ".npy"))
    check_target(tmp_path / "b.ply", (".ply", ".npy"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
