"""Go-ICP (Yang, Li and Jia, ICCV 2013), run as the program that `py-simple-go-icp-interface` builds from the
authors' sources. That package is GPL-3 and optional; it needs g++ and is only called as a program."""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prnet_core.evaluation.classical_methods import ICP
from prnet_core.geometry import se3

RADIUS = 1.0
"""As the authors advise: each cloud centred, both scaled into [-1, 1]^3; search space of t: [-0.5, 0.5]^3."""
ORDER_SEED = 0


@dataclass
class GoICP:
    """Branch and bound over all rotations with 10 % trimming, on `num_points` random points of the source.

    A pair that takes longer than `timeout_s` is registered by ICP from the centroids and counted in `num_timeouts`.
    Raises ImportError without the package, RuntimeError if its program does not build.
    """

    num_points: int = 400
    distance_grid: int = 100
    timeout_s: float = 10.0
    num_timeouts: int = 0

    def __post_init__(self) -> None:
        from py_simple_go_icp_interface.compile import compile_go_icp
        from py_simple_go_icp_interface.utils import GO_ICP_EXE

        compile_go_icp()
        self.program = GO_ICP_EXE

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        source_centre, target_centre = (cloud.mean(axis=0, dtype=np.float64) for cloud in (source, target))
        source_local, target_local = source - source_centre, target - target_centre
        radius = max(np.linalg.norm(cloud, axis=1).max() for cloud in (source_local, target_local))
        scale = RADIUS / radius
        with tempfile.TemporaryDirectory() as folder:
            try:
                local = self._run(scale * source_local, scale * target_local, Path(folder))
            except subprocess.TimeoutExpired:
                self.num_timeouts += 1
                return ICP().register(source, target)
        translation = target_centre + local[3] / scale - local[:3] @ source_centre
        return se3.make_transform(local[:3], translation)

    def _run(self, source: np.ndarray, target: np.ndarray, folder: Path) -> np.ndarray:
        """Rotation in rows 0-2 and translation in row 3, (4, 3).

        The program uses the first `num_points` of the source, which may be on one side of it: the source is permuted.
        """
        source = np.random.default_rng(ORDER_SEED).permutation(source)
        for name, points in (("model", target), ("data", source)):
            np.savetxt(folder / name, points, fmt="%.9f", header=str(len(points)), comments="")
        (folder / "config").write_text(
            "MSEThresh=0.001\n"
            "rotMinX=-3.1416\nrotMinY=-3.1416\nrotMinZ=-3.1416\nrotWidth=6.2832\n"
            "transMinX=-0.5\ntransMinY=-0.5\ntransMinZ=-0.5\ntransWidth=1.0\n"
            f"trimFraction=0.1\ndistTransSize={self.distance_grid}\ndistTransExpandFactor=2.0\n"
        )
        subprocess.run(
            [self.program, "model", "data", str(min(self.num_points, len(source))), "config", "output"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=self.timeout_s,
        )
        return np.array((folder / "output").read_text().split(), dtype=np.float64).reshape(4, 3)
