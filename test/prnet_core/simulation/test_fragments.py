"""Fused depth images of cluttered rooms."""

import numpy as np

from prnet_core.simulation.cluttered_rooms import cluttered_room
from prnet_core.simulation.fragments import FRAGMENT_VOXEL, room_fragments


def fragments_of(seed, count=2):
    rng = np.random.default_rng(seed)
    scene = cluttered_room(rng)
    return scene, room_fragments(scene, rng, count)


def test_fragments_lie_on_the_room_to_noise_and_drift():
    scene, fragments = fragments_of(0)
    assert len(fragments) == 2
    for fragment in fragments:
        distance = scene.rays.surface_distance(fragment.points)
        assert len(fragment.points) > 2000
        assert np.median(distance) < FRAGMENT_VOXEL
        assert np.percentile(distance, 95) < 0.15


def test_a_seed_gives_the_same_fragments():
    for first, again in zip(fragments_of(1)[1], fragments_of(1)[1], strict=True):
        np.testing.assert_array_equal(first.points, again.points)
        np.testing.assert_array_equal(first.T_world_sensor, again.T_world_sensor)
