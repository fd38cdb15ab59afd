"""Scenes for tests of the odometry: scans with samples of their own of a hall and of a forest of boxes."""

import numpy as np

from prnet_core.geometry import se3


def world(rng, count=6000):
    """Points on floor, walls and pillars of a hall, metres."""
    share = count // 6
    uniform = rng.uniform
    parts = [
        np.c_[uniform(-6, 6, share), uniform(-6, 6, share), np.full(share, -1.0)],
        np.c_[uniform(-6, 6, share), np.full(share, 6.0), uniform(-1, 2, share)],
        np.c_[uniform(-6, 6, share), np.full(share, -6.0), uniform(-1, 2, share)],
        np.c_[np.full(share, 6.0), uniform(-6, 6, share), uniform(-1, 2, share)],
    ]
    for x, y in ((2.0, 3.0), (-3.0, 1.0), (0.5, -4.0)):
        angle = uniform(0, 2 * np.pi, share // 3)
        parts.append(np.c_[x + 0.4 * np.cos(angle), y + 0.4 * np.sin(angle), uniform(-1, 2, share // 3)])
    return np.vstack(parts)


MOTION = np.array([0.15, 0.02, 0.0, 0.0, 0.0, 0.06])


def scan(index):
    """Scan number `index` of a steady motion, with samples of its own; and its true pose."""
    pose = se3.exp(MOTION * index)
    return se3.apply(se3.invert(pose), world(np.random.default_rng(index))), pose


def forest(rng):
    """Boxes and posts of many sizes along 30 m of floor: every place looks different."""
    layout = np.random.default_rng(42)
    parts = [np.c_[rng.uniform(-6, 36, 6000), rng.uniform(-6, 6, 6000), np.zeros(6000)]]
    for x, y in zip(layout.uniform(-6, 36, 60), layout.uniform(-6, 6, 60), strict=True):
        size = layout.uniform(0.2, 1.5, 3)
        box = rng.uniform(-0.5, 0.5, (300, 3))
        face = rng.integers(3, size=300)
        box[np.arange(300), face] = np.sign(box[np.arange(300), face]) * 0.5
        parts.append(box * size + [x, y, size[2] / 2])
    return np.vstack(parts)


def forest_scan(x, yaw, seed):
    """What is within 6 m of (x, 0), turned by yaw; and the true pose."""
    pose = se3.make_transform(se3.rotation_exp(np.array([0, 0, yaw])), np.array([x, 0.0, 0.5]))
    points = se3.apply(se3.invert(pose), forest(np.random.default_rng(seed)))
    return points[np.linalg.norm(points, axis=1) < 6.0], pose


def drive_through_the_forest(odometry, interval):
    """Eleven places, 1.2 m apart; the last update."""
    for i in range(11):
        update = odometry.register_scan(forest_scan(1.2 * i, 0.0, i)[0], interval * i)
        assert update.status in ("first", "accepted"), update.reason
    return update
