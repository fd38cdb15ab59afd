"""Boxes, elliptic cylinders and ellipsoids, of which simulated scenes consist.

Each solid is the cube [-1, 1]^3, the cylinder x^2 + y^2 <= 1 with |z| <= 1, or the unit ball under an affine map.
"""

from dataclasses import dataclass

import numpy as np

BOX, CYLINDER, ELLIPSOID = 0, 1, 2


@dataclass(frozen=True)
class Solids:
    """P solids of a scene.

    kinds (P,), centres (P, 3), axes (P, 3, 3) whose columns are the solid's axes in the world, half_sizes
    (P, 3) in metres along these axes.
    """

    kinds: np.ndarray
    centres: np.ndarray
    axes: np.ndarray
    half_sizes: np.ndarray

    def __len__(self) -> int:
        return len(self.kinds)

    def contain(self, points: np.ndarray, margin: float = 0.0) -> np.ndarray:
        """Whether points (N, 3) lie in any solid grown by `margin` metres: (N,) bool."""
        local = np.einsum("npi,pij->npj", points[:, None] - self.centres, self.axes)
        unit = np.abs(local) / (self.half_sizes + margin)
        radius_2d, radius_3d = np.hypot(unit[..., 0], unit[..., 1]), np.linalg.norm(unit, axis=-1)
        inside = np.where(
            self.kinds == BOX,
            unit.max(-1) < 1.0,
            np.where(self.kinds == CYLINDER, np.maximum(radius_2d, unit[..., 2]) < 1.0, radius_3d < 1.0),
        )
        return inside.any(axis=1)


class SolidsBuilder:
    """Collects solids. Positions and full extents in metres, yaw in radians about z."""

    def __init__(self):
        self._solids: list[tuple[int, np.ndarray, np.ndarray, np.ndarray]] = []

    def add(self, kind: int, centre, size, yaw: float = 0.0, tilt: np.ndarray | None = None) -> None:
        """One solid of full extents `size` (3,); `tilt` (3, 3) rotates it before the yaw."""
        cos, sin = np.cos(yaw), np.sin(yaw)
        axes = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        axes = axes if tilt is None else axes @ tilt
        self._solids.append((kind, np.asarray(centre, float), axes, np.maximum(np.asarray(size, float) / 2, 1e-3)))

    def box(self, centre, size, yaw: float = 0.0) -> None:
        """A box with upright sides."""
        self.add(BOX, centre, size, yaw)

    def pole(self, x: float, y: float, z: float, height: float, diameter: float) -> None:
        """Upright cylinder standing at height z."""
        self.add(CYLINDER, (x, y, z + height / 2), (diameter, diameter, height))

    def pipe(self, centre, length: float, diameter: float, yaw: float) -> None:
        """Lying cylinder along the direction of the yaw."""
        along_x = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
        self.add(CYLINDER, centre, (diameter, diameter, length), yaw, along_x)

    def blob(self, centre, size, yaw: float = 0.0) -> None:
        """An ellipsoid."""
        self.add(ELLIPSOID, centre, size, yaw)

    def add_solids(self, solids: Solids, T_world_solids: np.ndarray) -> None:
        """Copies of `solids`, moved by a rigid transform (4, 4)."""
        rotation, translation = T_world_solids[:3, :3], T_world_solids[:3, 3]
        for kind, centre, axes, half_sizes in zip(
            solids.kinds, solids.centres, solids.axes, solids.half_sizes, strict=True
        ):
            self._solids.append((int(kind), rotation @ centre + translation, rotation @ axes, half_sizes))

    def solids(self) -> Solids:
        """All solids collected so far. Raises ValueError when there is none."""
        if not self._solids:
            raise ValueError("a scene needs at least one solid")
        return Solids(*(np.array(column) for column in zip(*self._solids, strict=True)))
