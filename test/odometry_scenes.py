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
    """Boxes of many sizes on 30 m of floor, on both sides of a free path: every place looks different."""
    layout = np.random.default_rng(42)
    parts = [np.c_[rng.uniform(-6, 36, 12000), rng.uniform(-6, 6, 12000), np.zeros(12000)]]
    for x, y in zip(layout.uniform(-6, 36, 60), layout.uniform(-6, 6, 60), strict=True):
        size = layout.uniform(0.2, 1.5, 3)
        y += np.sign(y) * max(0.0, 0.8 + size[1] / 2 - abs(y))
        box = rng.uniform(-0.5, 0.5, (1200, 3))
        face = rng.integers(3, size=1200)
        box[np.arange(1200), face] = np.sign(box[np.arange(1200), face]) * 0.5
        parts.append(box * size + [x, y, size[2] / 2])
    return np.vstack(parts)


def forest_scan(x, yaw, seed):
    """What a sensor at (x, 0), rotated by yaw, sees within 6 m; and the true pose."""
    pose = se3.make_transform(se3.rotation_exp(np.array([0, 0, yaw])), np.array([x, 0.0, 0.5]))
    points = se3.apply(se3.invert(pose), forest(np.random.default_rng(seed)))
    return visible(points[np.linalg.norm(points, axis=1) < 6.0]), pose


def visible(points, cell=0.05, tolerance=0.4):
    """The points that are at most `tolerance` metres behind the nearest one in their cell (radians) of directions."""
    distance = np.linalg.norm(points, axis=1)
    azimuth = np.floor((np.arctan2(points[:, 1], points[:, 0]) + np.pi) / cell).astype(int)
    elevation = np.floor((np.arcsin(points[:, 2] / distance) + np.pi / 2) / cell).astype(int)
    nearest = np.full((azimuth.max() + 1, elevation.max() + 1), np.inf)
    np.minimum.at(nearest, (azimuth, elevation), distance)
    return points[distance < nearest[azimuth, elevation] + tolerance]


def drive_through_the_forest(odometry, interval):
    """Eleven places, 1.2 m apart; the last update."""
    for i in range(11):
        update = odometry.register_scan(forest_scan(1.2 * i, 0.0, i)[0], interval * i)
        assert update.status in ("first", "accepted"), update.reason
    return update
