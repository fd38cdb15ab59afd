"""Precomputed pairs of surface clouds: files of some pairs each, from which batches are drawn."""

from pathlib import Path

import numpy as np
import torch

from ..model.surface_cloud import SurfaceCloud
from ..pairs.pair_batch import PairBatch

FIELDS = ("points", "normals", "patches")
FEW_POINTS = 512
"""A batch has half as many pairs where they have more points than this."""


class SurfacePairFiles:
    """The pairs of all files FOLDER/train/*.pt; those of FOLDER/val are of other scenes.

    A file holds P pairs of N points: `source_points` and `target_points` (P, N, 3), `*_normals`, `*_patches`
    (P, N, K, 5), `T` (P, 4, 4), `overlap` (P,), `kind` (text). They are memory-mapped. Raises FileNotFoundError
    without any.
    """

    def __init__(self, folder: str | Path, batch_size: int, seed: int, device: torch.device) -> None:
        self.folder, self.batch_size, self.seed, self.device = Path(folder), batch_size, seed, device
        self._files = [_open(path) for path in sorted((self.folder / "train").glob("*.pt"))]
        if not self._files:
            raise FileNotFoundError(f"no pairs in {self.folder / 'train'}")
        self._places: dict[int, list[tuple[int, int]]] = {}
        for number, file in enumerate(self._files):
            places = self._places.setdefault(file["source_points"].shape[1], [])
            places += [(number, row) for row in range(len(file["T"]))]

    def __len__(self) -> int:
        return sum(len(places) for places in self._places.values())

    def batch(self, step: int) -> PairBatch:
        """The batch of a step: all pairs of one number of points, each chosen as often as its share in all."""
        rng = np.random.default_rng([self.seed, step])
        sizes = sorted(self._places)
        shares = np.array([len(self._places[size]) for size in sizes], float)
        size = int(rng.choice(sizes, p=shares / shares.sum()))
        count = self.batch_size if size <= FEW_POINTS else max(1, self.batch_size // 2)
        places = [self._places[size][i] for i in rng.integers(len(self._places[size]), size=count)]
        return _pairs([(self._files[number], slice(row, row + 1)) for number, row in places], self.device)

    def validation(self, pairs_each: int) -> dict[str, PairBatch]:
        """By kind, and for overlaps below and above 0.3: at most `pairs_each` pairs of the held-out scenes."""
        sets: dict[str, list] = {}
        for path in sorted((self.folder / "val").glob("*.pt")):
            file = _open(path)
            for row, overlap in enumerate(file["overlap"].tolist()):
                name = f"{file['kind']} {'< 0.3' if overlap < 0.3 else '> 0.3'}"
                places = sets.setdefault(name, [])
                if len(places) < pairs_each:
                    places.append((file, slice(row, row + 1)))
        return {name: _pairs(places, torch.device("cpu")) for name, places in sets.items()}


def _open(path: Path) -> dict:
    return torch.load(path, weights_only=True, mmap=True)


def _pairs(places: list[tuple[dict, slice]], device: torch.device) -> PairBatch:
    spacing = torch.ones(sum(len(file["T"][rows]) for file, rows in places))
    clouds = [
        SurfaceCloud(*(torch.cat([file[f"{side}_{name}"][rows] for file, rows in places]) for name in FIELDS), spacing)
        .to(device)
        .float()
        for side in ("source", "target")
    ]
    T_target_source = torch.cat([file["T"][rows] for file, rows in places]).to(device)
    matches = torch.full(clouds[0].points.shape[:2], -1, device=device)
    return PairBatch(*clouds, T_target_source, matches)
