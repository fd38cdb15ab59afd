"""A scan is found in a map without a guess, equal rooms are ambiguous, foreign scans are rejected."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3
from prnet_core.mapping import KeyframeMap, Localizer, MapError, MapKeyframe
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.preprocess import precise_points
from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.rooms import table_place
from prnet_core.simulation.two_scans import room_pair, scan_from, sensor_pose


@pytest.fixture(scope="module")
def localizer(building_map):
    return Localizer(building_map, Registration(None))


def error(estimate, ground_truth):
    difference = se3.invert(ground_truth) @ estimate
    return float(np.linalg.norm(difference[:3, 3])), float(np.degrees(se3.rotation_angle(difference[:3, :3])))


def test_a_scan_is_found_however_it_is_rotated(localizer, place, scan_at):
    room = next(r for r in range(len(place.rooms)) if r not in place.twins)
    points, pose = scan_at(room, 0.4, -0.4, 200.0, seed=99)
    rotation = Rotation.random(random_state=4).as_matrix()
    for cloud, ground_truth in (
        (points, pose),
        (points @ rotation.T, pose @ se3.make_transform(rotation.T, np.zeros(3))),
    ):
        result = localizer.localize(cloud)
        assert result.status == "accepted", result.reason
        metres, degrees = error(result.T_map_sensor, ground_truth)
        assert metres < 0.1 and degrees < 1.0
        assert np.linalg.eigvalsh(result.covariance).min() > 0.0


def test_equal_rooms_are_ambiguous_and_the_true_pose_is_among_the_answers(localizer, place, scan_at):
    points, pose = scan_at(place.twins[0], 0.3, -0.2, 130.0, seed=98)
    result = localizer.localize(points)
    assert result.status == "ambiguous" and not result.usable and result.alternatives
    assert min(error(T, pose)[0] for T in [result.T_map_sensor, *result.alternatives]) < 0.1


def test_an_ambiguous_registration_of_the_full_search_is_not_accepted(localizer, scan_at, monkeypatch):
    register = localizer.registration.register_prepared
    monkeypatch.setattr(localizer, "hypotheses", lambda features, ranked: [])
    monkeypatch.setattr(
        localizer.registration,
        "register_prepared",
        lambda *clouds, **options: replace(register(*clouds, **options), status="ambiguous"),
    )
    result = localizer.localize(scan_at(0, 0.0, 0.0, 0.0)[0])
    assert result.status == "ambiguous" and not result.usable


def test_features_are_kept_beside_the_map_and_read_only_for_it(building_map, tmp_path, monkeypatch):
    few = KeyframeMap(building_map.keyframes[:3], building_map.poses[:3])
    first = Localizer(few, Registration(None), folder=tmp_path)
    monkeypatch.setattr(Localizer, "_features_of", lambda *_: pytest.fail("computed again"))
    again = Localizer(few, Registration(None), folder=tmp_path)
    for kept, computed in zip(again._features, first._features, strict=True):
        for name in ("points", "features", "signature", "descriptor"):
            np.testing.assert_array_equal(getattr(kept, name), getattr(computed, name))
    monkeypatch.undo()
    other = KeyframeMap(building_map.keyframes[1:4], building_map.poses[1:4])
    np.testing.assert_array_equal(
        Localizer(other, Registration(None), folder=tmp_path)._features[0].points, first._features[1].points
    )
    (tmp_path / "features.npz").write_bytes(b"PK damaged")
    assert len(Localizer(few, Registration(None), folder=tmp_path)._features) == 3
    assert len(Localizer(few, Registration(None), folder=tmp_path / "missing")._features) == 3


def test_a_foreign_scan_is_rejected(localizer):
    result = localizer.localize(room_pair(1, seed=7).source)
    assert result.status == "rejected" and not result.usable
    assert "of 18 keyframes" in result.reason


@pytest.mark.parametrize("points", [np.zeros((0, 3)), np.full((100, 3), np.nan), np.ones((100, 3))])
def test_a_scan_without_usable_points_is_rejected(localizer, points):
    result = localizer.localize(points)
    assert result.status == "rejected" and "usable points" in result.reason


def test_a_map_without_keyframes_is_an_error():
    with pytest.raises(MapError, match="no keyframes"):
        Localizer(KeyframeMap(), Registration(None))


def test_a_noisy_stereo_camera_is_localised_by_its_precise_points():
    place, camera = table_place(2), DepthCamera.table_top_stereo()
    scene, keyframe_map = place.scene(), KeyframeMap()

    def scan(angle_deg):
        angle = np.radians(angle_deg)
        pose = sensor_pose((1.1 * np.cos(angle), 1.1 * np.sin(angle), 1.25), angle_deg + 90.0) @ place.camera_view()
        return scan_from(camera, scene, pose, np.random.default_rng(int(angle_deg))), pose

    for angle in (10.0, 40.0):
        points, pose = scan(angle)
        points = precise_points(points, RegistrationConfig(), np.zeros(3))
        keyframe_map.add(MapKeyframe(points.astype(np.float32), angle), pose)
    found, pose = scan(18.0)
    localizer = Localizer(keyframe_map, Registration(None))
    for result in (localizer.localize(found), localizer.localize_near(found, pose)):
        assert result.status == "accepted", result.reason
        metres, degrees = error(result.T_map_sensor, pose)
        assert metres < 0.03 and degrees < 2.0
