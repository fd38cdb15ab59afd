"""A map as a folder that other programs can read.

map.json        format and version, units, number of keyframes, constraints
map.ply         all points in the map's frame, one per voxel
poses.tum       stamp x y z qx qy qz qw of every keyframe: the sensor in the map's frame
keyframes/      000000.ply ... in the sensor's frame
"""

import glob
import json
import os
import shutil
from pathlib import Path

import numpy as np

from prnet_core.geometry import se3
from prnet_core.io.cloud_files import CloudFileError, read_cloud_file
from prnet_core.io.ply_files import write_ply
from prnet_core.io.safe_write import check_folder
from prnet_core.io.trajectories import Trajectory, read_tum, write_tum
from prnet_core.mapping.exchange import replace_folder
from prnet_core.mapping.keyframe_map import KeyframeMap, MapError, MapKeyframe, PoseConstraint

FORMAT, VERSION = "prnet_map", 1


def check_map_target(folder: Path | str) -> Path:
    """The folder where a map is to be written, links resolved. Raises MapError where it cannot be written.

    A folder that holds something other than a map is not replaced.
    """
    stated, folder = folder, Path(os.path.realpath(folder))
    parent = folder.parent
    if folder.is_symlink():
        raise MapError(f"{stated} cannot be written: its links lead in a circle")
    if folder.exists() and not folder.is_dir():
        raise MapError(f"{folder} is a file, a map is a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "map.json").is_file():
        raise MapError(f"{folder} is a folder that holds no map: it is not replaced")
    if not parent.is_dir():
        raise MapError(f"{folder} cannot be written: there is no folder {parent}")
    try:
        check_folder(parent)
    except OSError as error:
        raise MapError(f"{folder} cannot be written: {error}") from error
    return folder


def save_map(keyframe_map: KeyframeMap, folder: Path | str, voxel_size: float) -> Path:
    """Write a map beside `folder` and exchange the two: an old map stays whole until then.

    voxel_size: of map.ply, metres. Raises MapError when it cannot be written, or has no keyframes.
    """
    folder = check_map_target(folder)
    if len(keyframe_map) == 0:
        raise MapError("the map has no keyframes: nothing to save")
    _remove_remains(folder)
    new = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        (new / "keyframes").mkdir(parents=True)
        _write(keyframe_map, new, voxel_size)
        replace_folder(new, folder)
    except OSError as error:
        raise MapError(f"{folder} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


def _remove_remains(folder: Path) -> None:
    """Remove the unfinished folders of writers that were killed."""
    for path in folder.parent.glob(f".{glob.escape(folder.name)}.*.part"):
        number = path.name.split(".")[-2]
        if number.isdecimal() and not Path(f"/proc/{number}").exists():
            shutil.rmtree(path, ignore_errors=True)


def load_map(folder: Path | str) -> KeyframeMap:
    """Read a map. Raises MapError naming the file and the problem."""
    folder = Path(folder)
    record = _read_record(folder)
    try:
        trajectory = read_tum(folder / "poses.tum")
    except (OSError, ValueError) as error:
        raise MapError(f"{folder / 'poses.tum'}: {error}") from error
    if len(trajectory) != record["keyframes"]:
        raise MapError(f"{folder}: {len(trajectory)} poses for {record['keyframes']} keyframes")
    if not np.isfinite(trajectory.poses).all():
        raise MapError(f"{folder / 'poses.tum'}: a pose is not finite")
    keyframe_map = KeyframeMap()
    for index, (stamp, pose) in enumerate(zip(trajectory.stamps, trajectory.poses, strict=True)):
        path = folder / "keyframes" / f"{index:06d}.ply"
        try:
            points = read_cloud_file(path)
        except (OSError, CloudFileError) as error:
            raise MapError(f"{path}: {error}") from error
        keyframe_map.add(MapKeyframe(np.asarray(points, dtype=np.float32), float(stamp)), se3.orthonormal(pose))
    keyframe_map.constraints = [_constraint(row, folder, len(keyframe_map)) for row in record["constraints"]]
    return keyframe_map


def _write(keyframe_map: KeyframeMap, folder: Path, voxel_size: float) -> None:
    for index, keyframe in enumerate(keyframe_map.keyframes):
        write_ply(folder / "keyframes" / f"{index:06d}.ply", keyframe.points)
    write_ply(folder / "map.ply", keyframe_map.fused_points(voxel_size).astype(np.float32))
    stamps = np.array([keyframe.stamp for keyframe in keyframe_map.keyframes])
    write_tum(folder / "poses.tum", Trajectory(stamps, np.array(keyframe_map.poses)))
    record = {
        "format": FORMAT,
        "version": VERSION,
        "unit": "metre",
        "keyframes": len(keyframe_map),
        "constraints": [vars(constraint) for constraint in keyframe_map.constraints],
    }
    (folder / "map.json").write_text(json.dumps(record, default=np.ndarray.tolist))


def _read_record(folder: Path) -> dict:
    path = folder / "map.json"
    if not path.is_file():
        raise MapError(f"{folder} is no map: it has no map.json")
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise MapError(f"{path}: not readable ({error})") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise MapError(f"{path}: not a map of this program (format {FORMAT!r})")
    if record.get("version") != VERSION:
        raise MapError(f"{path}: version {record.get('version')!r}, this program reads version {VERSION}")
    if record.get("unit") != "metre":
        raise MapError(f"{path}: the unit is {record.get('unit')!r}, not 'metre'")
    if type(record.get("keyframes")) is not int or not isinstance(record.get("constraints"), list):
        raise MapError(f"{path}: 'keyframes' or 'constraints' is missing")
    if record["keyframes"] < 1:
        raise MapError(f"{folder}: the map is empty: it has no keyframes")
    return record


def _constraint(row: dict, folder: Path, count: int) -> PoseConstraint:
    try:
        constraint = PoseConstraint(
            int(row["first"]),
            int(row["second"]),
            np.array(row["T_first_second"], dtype=np.float64).reshape(4, 4),
            np.array(row["covariance"], dtype=np.float64).reshape(6, 6),
            bool(row["is_closure"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise MapError(f"{folder / 'map.json'}: a constraint is damaged ({error})") from error
    if not (np.isfinite(constraint.T_first_second).all() and np.isfinite(constraint.covariance).all()):
        raise MapError(f"{folder / 'map.json'}: a constraint is not finite")
    if not (0 <= constraint.first < count and 0 <= constraint.second < count):
        raise MapError(f"{folder / 'map.json'}: a constraint names a keyframe that does not exist")
    return constraint
