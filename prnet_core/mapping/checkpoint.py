"""Checkpoints of a map that is being built: another process continues it when the first one has ended.

A keyframe is written once; poses, constraints and the state of the builder are one small file that is replaced.
"""

import zipfile
from pathlib import Path

import numpy as np

from prnet_core.io.safe_write import replacing
from prnet_core.mapping.from_odometry import OdometryMapper
from prnet_core.mapping.keyframe_map import MapKeyframe, PoseConstraint

_STATE = "state.npz"


class MapCheckpoint:
    """Writes and reads the state of an OdometryMapper, and the number of the trajectory of its poses."""

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._numbers: dict[int, int] = {}  # of the keyframes' files, by id of the keyframe
        self._next = 0

    def write(self, mapper: OdometryMapper, trajectory: int) -> None:
        """Write what has changed since the last call. Raises OSError; the last state is then unchanged."""
        built = mapper.builder.map
        numbers = []
        for keyframe in built.keyframes:
            if id(keyframe) not in self._numbers:
                with replacing(self._file(self._next)) as temporary:
                    np.save(temporary, keyframe.points)
                self._numbers[id(keyframe)] = self._next
                self._next += 1
            numbers.append(self._numbers[id(keyframe)])
        with replacing(self.folder / _STATE) as temporary:
            np.savez(
                temporary,
                trajectory=trajectory,
                numbers=numbers,
                stamps=[keyframe.stamp for keyframe in built.keyframes],
                poses=built.poses,
                ends=[(c.first, c.second, c.is_closure) for c in built.constraints],
                transforms=[c.T_first_second for c in built.constraints],
                covariances=[c.covariance for c in built.constraints],
                **mapper.state(),
            )
        kept = set(numbers)
        for key, number in list(self._numbers.items()):
            if number not in kept:
                self._file(number).unlink(missing_ok=True)
                del self._numbers[key]

    def read(self, mapper: OdometryMapper) -> int | None:
        """Restore the written state in a new mapper; the number of the trajectory, or None where there is no state.

        Raises ValueError where the state is damaged; the mapper is then as it was.
        """
        try:
            with np.load(self.folder / _STATE, allow_pickle=False) as file:
                state = {name: file[name] for name in file.files}
            numbers = [int(number) for number in state.pop("numbers")]
            clouds = [np.load(self._file(number), allow_pickle=False) for number in numbers]
            keyframes = [
                MapKeyframe(points, float(stamp)) for points, stamp in zip(clouds, state.pop("stamps"), strict=True)
            ]
            rows = zip(state.pop("ends"), state.pop("transforms"), state.pop("covariances"), strict=True)
            constraints = [
                PoseConstraint(int(first), int(second), transform, covariance, bool(is_closure))
                for (first, second, is_closure), transform, covariance in rows
            ]
            poses, trajectory = list(state.pop("poses")), int(state.pop("trajectory"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(f"{self.folder}: the kept state of the map is damaged: {error}") from error
        built = mapper.builder.map
        built.keyframes, built.poses, built.constraints = keyframes, poses, constraints
        mapper.restore(state)
        self._numbers = {id(keyframe): number for keyframe, number in zip(keyframes, numbers, strict=True)}
        self._next = max(numbers, default=-1) + 1
        return trajectory

    def clear(self) -> None:
        """Delete all files: a new map starts."""
        for file in self.folder.glob("*.np[yz]"):
            file.unlink(missing_ok=True)
        self._numbers, self._next = {}, 0

    def _file(self, number: int) -> Path:
        return self.folder / f"{number:06d}.npy"
