"""Real scans beside the checkout, in ../shared/data/scans: the figures promised for them."""

from pathlib import Path

import numpy as np
import pytest

from prnet_core.geometry import se3
from prnet_core.io.cloud_files import read_cloud_file
from prnet_core.io.scan_folders import ScanFolder
from prnet_core.registration import Registration

SCANS = Path(__file__).resolve().parents[4] / "shared" / "data" / "scans"
pytestmark = pytest.mark.skipif(not SCANS.is_dir(), reason="needs the scans in ../shared/data/scans")


def difference(result, truth):
    """Degrees and metres between the motion found and the true one."""
    error = se3.invert(truth) @ result.T_target_source
    return np.degrees(se3.rotation_angle(error[:3, :3])), np.linalg.norm(error[:3, 3])


def test_a_parked_car_stands_still():
    clouds = [read_cloud_file(SCANS / "multibrand_single" / f"pjlab_static_{i}.pcd") for i in (468, 568)]
    result = Registration(None).register(*clouds)
    degrees, metres = difference(result, np.eye(4))
    assert result.status == "accepted"
    assert metres < 0.002
    assert degrees < 0.02


@pytest.mark.parametrize(("target", "source"), [(20, 30), (44, 54), (68, 78)])
def test_lidar_scans_five_seconds_apart(target, source):
    scans = ScanFolder(SCANS / "lidar_hilti" / "part_a")
    i, j = target - 20, source - 20
    result = Registration(None).register(scans[j], scans[i])
    degrees, metres = difference(result, se3.invert(scans.poses[i]) @ scans.poses[j])
    assert result.status == "accepted"
    assert degrees < 2.0 and metres < 0.3


@pytest.mark.parametrize(("target", "source"), [("bun000", "bun045"), ("bun000", "chin"), ("bun090", "top3")])
def test_bunny_scans(target, source):
    scans = ScanFolder(SCANS / "bunny")
    names = [file.stem for file in scans.files]
    i, j = names.index(target), names.index(source)
    result = Registration(None).register(scans[j], scans[i])
    degrees, metres = difference(result, se3.invert(scans.poses[i]) @ scans.poses[j])
    assert result.status == "accepted"
    assert degrees < 5.0 and metres < 0.01


def test_a_lidar_scan_and_a_bunny_do_not_match():
    room = ScanFolder(SCANS / "lidar_hilti" / "part_a")[0]
    bunny = ScanFolder(SCANS / "bunny")[0]
    assert Registration(None).register(bunny * 200.0, room).status == "rejected"


def test_unit_and_offset_do_not_change_the_motion():
    scans = ScanFolder(SCANS / "lidar_hilti" / "part_a")
    source, target = scans[41], scans[40]
    metres = Registration(None).register(source, target).T_target_source
    millimetres = Registration(None).register(1e3 * source, 1e3 * target).T_target_source
    offset = np.array([1e6, -1e6, 1e3])
    shift = se3.make_transform(np.eye(3), offset)
    far = Registration(None).register(source + offset, target + offset).T_target_source
    size = np.linalg.norm(metres[:3, 3])
    assert np.linalg.norm(millimetres[:3, 3] / 1e3 - metres[:3, 3]) < 1e-4 * size
    np.testing.assert_allclose(millimetres[:3, :3], metres[:3, :3], atol=1e-6)
    near = se3.invert(shift) @ far @ shift
    assert np.linalg.norm(near[:3, 3] - metres[:3, 3]) < 1e-4 * size
    np.testing.assert_allclose(near[:3, :3], metres[:3, :3], atol=1e-6)
