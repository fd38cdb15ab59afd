"""What the odometry keeps is bounded, also while it searches on old keyframes."""

import gc
import weakref

import numpy as np
from odometry_scenes import scan

from prnet_core.odometry.keyframes import MAX_PREPARED, Keyframes
from prnet_core.registration import Registration, RegistrationConfig
from prnet_core.registration.preprocess import prepare_cloud


def test_keyframes_prepared_for_a_search_are_bounded_and_kept_for_the_next_one():
    keyframes = Keyframes(max_frames=2 * MAX_PREPARED, max_points=500, num_protected=2)
    frames = [keyframes.add(scan(i)[0], scan(i)[1], np.eye(6), np.zeros(6)) for i in range(MAX_PREPARED + 3)]
    config = RegistrationConfig()
    clouds = [keyframes.prepared(frame, config, 0.3) for frame in frames]
    assert len(keyframes._prepared) == MAX_PREPARED
    assert keyframes.prepared(frames[-1], config, 0.3) is clouds[-1]
    assert keyframes.prepared(frames[-1], config, 0.4) is not clouds[-1]
    assert keyframes.prepared(frames[0], config, 0.3) is not clouds[0]


def test_a_keyframe_takes_twelve_bytes_a_point():
    keyframes = Keyframes(max_frames=3, max_points=500, num_protected=1)
    frame = keyframes.add(scan(0)[0], np.eye(4), np.eye(6), np.zeros(6))
    assert frame.points.shape == (500, 3) and frame.points.dtype == np.float32
    for i in range(5):
        keyframes.add(scan(i)[0], scan(i)[1], np.eye(6), np.zeros(6))
    assert len(keyframes) == 3


def test_clouds_are_freed_with_the_registration_not_by_the_garbage_collector():
    registration = Registration(None)
    source, target = (prepare_cloud(scan(i)[0], 0.2, registration.config, np.zeros((1, 3))) for i in (1, 0))
    is_freed = weakref.ref(source)
    gc.disable()
    try:
        registration.register_prepared(source, target)
        del source
        assert is_freed() is None
    finally:
        gc.enable()
