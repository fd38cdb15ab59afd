"""Procedural figures: a body with limbs and ears of ellipsoids, boxes and cylinders, seen from one side.

Range scans of statues, toys and fruit are smooth closed surfaces, which are rare in collections of CAD parts.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry.random_rotations import any_rotation
from prnet_core.simulation.ray_scene import RayScene
from prnet_core.simulation.smooth_field import SmoothField
from prnet_core.simulation.solids import BOX, CYLINDER, ELLIPSOID, Solids
from prnet_core.simulation.views import View, look_at_origin, unit

GRID = 72
"""Rays along each side of the image."""


def random_figure(rng: np.random.Generator) -> Solids:
    """A body with 4 to 11 parts grown from it or each other, often in mirrored pairs; radius 1, centred."""
    kinds, centres = [ELLIPSOID], [np.zeros(3)]
    axes, half_sizes = [np.eye(3)], [rng.uniform((0.6, 0.35, 0.35), (1.0, 0.8, 0.8))]
    mirrored = rng.random() < 0.6
    for _ in range(rng.integers(4, 12)):
        parent = rng.integers(len(kinds))
        outward = any_rotation(rng)[:, 2]
        surface = centres[parent] + axes[parent] @ (half_sizes[parent] * outward)
        outward = axes[parent] @ outward
        size = half_sizes[parent].max() * rng.uniform(0.25, 0.75)
        part_axes = any_rotation(rng)
        if rng.random() < 0.7:
            part_axes = Rotation.align_vectors([outward], [[1.0, 0.0, 0.0]])[0].as_matrix()
        halves = size * np.array([1.0, rng.uniform(0.25, 1.0), rng.uniform(0.25, 1.0)])
        centre = surface + outward * size * rng.uniform(0.0, 0.8)
        kind = rng.choice([ELLIPSOID, BOX, CYLINDER], p=(0.8, 0.12, 0.08))
        mirrors = [np.eye(3)] + ([np.diag([1.0, -1.0, 1.0])] if mirrored and rng.random() < 0.6 else [])
        for mirror in mirrors:
            kinds.append(kind)
            centres.append(mirror @ centre)
            axes.append(mirror @ part_axes)
            half_sizes.append(halves)
    centre_of_all = np.mean(centres, axis=0)
    reach = max(np.linalg.norm(c - centre_of_all) + 0.8 * h.max() for c, h in zip(centres, half_sizes, strict=True))
    centres = (np.array(centres) - centre_of_all) / reach
    return Solids(np.array(kinds), centres, np.array(axes), np.array(half_sizes) / reach)


def scan_figure(rng: np.random.Generator, num_views: int) -> list[View]:
    """A random figure seen from `num_views` directions, mostly less than 100 degrees apart.

    Half of the time the directions differ by turns about one axis, as on a turntable.
    """
    scene = RayScene.from_solids(random_figure(rng))
    bend = SmoothField(rng, rng.uniform(0.0, 0.06))
    base, axis = any_rotation(rng)[:, 2], any_rotation(rng)[:, 2]
    on_turntable = rng.random() < 0.5
    distance = np.exp(rng.uniform(np.log(2.5), np.log(8.0)))
    views = []
    for _ in range(num_views):
        turn = axis if on_turntable else any_rotation(rng)[:, 2]
        camera = distance * Rotation.from_rotvec(turn * np.radians(rng.uniform(-62.0, 62.0))).apply(base)
        pose = look_at_origin(camera, rng)
        views.append(View(bend.apply(_scan(scene, pose, rng)), pose))
    return views


def _scan(scene: RayScene, pose: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points that a light beside the camera illuminates and the camera sees, with noise along the ray."""
    camera = pose[:3, 3]
    tangent = np.linspace(-1.0, 1.0, GRID) * 1.2 / np.linalg.norm(camera)
    u, v = np.meshgrid(tangent, tangent)
    rays = unit(np.stack([u, v, np.ones_like(u)], axis=-1).reshape(-1, 3)) @ pose[:3, :3].T
    ranges = scene.cast(camera, rays).distance
    points = camera + rays[np.isfinite(ranges)] * ranges[np.isfinite(ranges), None]
    baseline = np.radians(rng.uniform(0.0, 20.0))
    light = Rotation.from_rotvec(baseline * unit(np.cross(camera, rng.normal(size=3)))).apply(camera)
    to_points = points - light
    reach = np.linalg.norm(to_points, axis=1)
    lit = scene.cast(light, to_points / reach[:, None]).distance > reach - 0.02
    points = points[lit & (rng.random(len(points)) >= rng.uniform(0.0, 0.2))]
    noise = rng.normal(size=(len(points), 1)) * rng.uniform(0.0, 0.006)
    return points + unit(points - camera) * noise
