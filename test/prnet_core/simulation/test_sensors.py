"""Simulated LiDARs and depth cameras: geometry, noise, point times, moving objects."""

import numpy as np
import pytest

from prnet_core.simulation.depth_camera import DepthCamera
from prnet_core.simulation.lidar import NonRepetitiveLidar, SpinningLidar
from prnet_core.simulation.moving_scene import MovingObject, MovingScene
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.solids import SolidsBuilder
from prnet_core.simulation.two_scans import standing

IDENTITY = np.eye(4)
LIDARS = [
    SpinningLidar(range_noise=0.02, dropout=0.1, max_range=50.0),
    NonRepetitiveLidar(range_noise=0.02, range_noise_per_metre=0.0, dropout=0.1),
]


def wall(distance):
    """A wall at x = distance, 100 m wide and high."""
    builder = SolidsBuilder()
    builder.box((distance + 0.5, 0.0, 0.0), (1.0, 100.0, 100.0))
    return RayScene.from_solids(builder.solids())


@pytest.mark.parametrize("lidar", LIDARS)
def test_lidar_noise_is_along_the_ray_and_as_large_as_stated(lidar):
    points, times = lidar.scan(wall(4.0), standing(IDENTITY), 0.0, np.random.default_rng(0))
    exact = points * (4.0 / points[:, :1])
    error = np.linalg.norm(points, axis=1) - np.linalg.norm(exact, axis=1)
    assert len(points) > 1500
    assert np.std(error) == pytest.approx(0.02, rel=0.1)
    assert abs(np.mean(error)) < 0.002
    assert times.shape == (len(points),)
    assert (np.diff(times) >= 0).all() and 0.0 <= times.min() and times.max() < lidar.sweep


def test_lidar_noise_grows_with_the_range():
    lidar = SpinningLidar(range_noise=0.0, range_noise_per_metre=0.001, dropout=0.0, max_range=80.0)
    points, _ = lidar.scan(wall(30.0), standing(IDENTITY), 0.0, np.random.default_rng(0))
    assert np.std(points[:, 0]) == pytest.approx(0.03, rel=0.1)


def test_lidar_loses_its_share_of_returns():
    whole, lossy = (
        len(
            SpinningLidar(dropout=share, max_range=80.0).scan(
                wall(4.0), standing(IDENTITY), 0.0, np.random.default_rng(0)
            )[0]
        )
        for share in (0.0, 0.25)
    )
    assert lossy / whole == pytest.approx(0.75, abs=0.03)


def test_a_moving_lidar_sees_a_distorted_wall():
    """Towards a wall at 2 m/s: each point is measured from where the sensor is at its time."""

    def driving(times):
        poses = np.tile(np.eye(4), (*np.shape(times), 1, 1))
        poses[..., 0, 3] = 2.0 * np.asarray(times)
        return poses

    lidar = SpinningLidar(range_noise=0.0, dropout=0.0, max_range=80.0)
    points, times = lidar.scan(wall(4.0), driving, 0.5, np.random.default_rng(0))
    np.testing.assert_allclose(points[:, 0], 4.0 - 2.0 * (0.5 + times), atol=0.002)


@pytest.mark.parametrize("beams", [16, 32, 64, 128])
def test_models_have_their_rings(beams):
    points, _ = SpinningLidar.with_beams(beams).scan(wall(4.0), standing(IDENTITY), 0.0, np.random.default_rng(0))
    elevation = np.degrees(np.arcsin(points[:, 2] / np.linalg.norm(points, axis=1)))
    assert len(np.unique(np.round(elevation / 0.1))) >= beams - 1  # the lowest ring may miss the wall


def test_an_unknown_number_of_beams_is_refused():
    with pytest.raises(ValueError, match="17 beams"):
        SpinningLidar.with_beams(17)


def test_the_non_repetitive_pattern_covers_more_with_time():
    lidar, random = NonRepetitiveLidar(), np.random.default_rng(0)
    cells = set()
    counts = []
    for frame in range(3):
        points, _ = lidar.scan(wall(4.0), standing(IDENTITY), 0.1 * frame, random)
        cells |= {tuple(cell) for cell in np.floor(points[:, 1:] / points[:, :1] / 0.01).astype(int)}
        counts.append(len(cells))
    assert counts[2] > 1.5 * counts[0]
    angle = np.degrees(np.arctan2(np.linalg.norm(points[:, 1:], axis=1), points[:, 0]))
    assert 30.0 < angle.max() <= 36.0


def test_depth_noise_grows_with_the_square_of_the_range():
    camera = DepthCamera.kinect_like()
    optical = np.array([[0.0, 0, 1, 0], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    spread = []
    for distance in (1.0, 3.0):
        frame = camera.frame(wall(distance), optical, np.random.default_rng(0))
        spread.append(np.nanstd(frame[..., 2]))
        assert np.nanmedian(frame[..., 2]) == pytest.approx(distance, rel=0.02)
    assert spread[1] / spread[0] == pytest.approx(9.0, rel=0.3)


def test_stereo_has_correlated_noise_holes_and_bleeding_edges():
    builder = SolidsBuilder()
    builder.box((2.0, 0.0, 0.0), (0.1, 100.0, 100.0))
    builder.box((1.0, 0.0, 0.0), (0.1, 0.3, 0.3))
    scene = RayScene.from_solids(builder.solids())
    optical = np.array([[0.0, 0, 1, 0], [-1, 0, 0, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
    frame = DepthCamera.table_top_stereo().frame(scene, optical, np.random.default_rng(0))
    depth = frame[..., 2]
    assert frame.dtype == np.float32 and frame.shape == (240, 320, 3)
    lost = np.isnan(depth).mean()
    assert 0.08 < lost < 0.2
    between = (depth > 1.2) & (depth < 1.6)
    assert between.sum() > 20  # between the object and the wall: in the air
    background = depth[20:60, 20:300]
    noise = background - np.nanmedian(background)
    correlation = np.nanmean(noise[:, 1:] * noise[:, :-1]) / np.nanmean(noise**2)
    assert correlation > 0.7


def test_a_moving_object_is_seen_where_it_is_at_each_time():
    def crossing(times):
        poses = np.tile(np.eye(4), (*np.shape(times), 1, 1))
        poses[..., 0, 3], poses[..., 1, 3] = 5.0, 3.0 * np.asarray(times) - 3.0
        return poses

    builder = SolidsBuilder()
    builder.box((0.0, 0.0, 0.0), (0.4, 0.4, 0.4))
    scene = MovingScene(wall(10.0), [MovingObject.from_solids(builder.solids(), crossing)])
    times = np.array([0.0, 1.0, 1.05, 2.0])
    directions = np.tile([1.0, 0.0, 0.0], (4, 1))
    distance = scene.cast(np.zeros((4, 3)), directions, times).distance
    np.testing.assert_allclose(distance, [10.0, 4.8, 4.8, 10.0], atol=1e-4)
    everywhere = np.random.default_rng(0).normal(size=(500, 3))
    times = np.random.default_rng(1).uniform(0.0, 2.0, 500)
    one_by_one = [
        scene.cast(np.zeros((1, 3)), ray[None], time[None]).distance[0]
        for ray, time in zip(everywhere, times, strict=True)
    ]
    np.testing.assert_allclose(scene.cast(np.zeros(3), everywhere, times).distance, one_by_one, rtol=1e-5)
