"""The features of a map's keyframes, stored in its folder: computing them again takes 50 ms per keyframe."""

import logging
import zipfile
from pathlib import Path

import numpy as np

from prnet_core.io.safe_write import replacing
from prnet_core.mapping.place_features import PlaceFeatures

VERSION = 1  # to be increased when the result of place_features changes
NAME = "features.npz"

_log = logging.getLogger(__name__)


def read_features(folder: Path, key: np.ndarray) -> list[PlaceFeatures] | None:
    """The features in the file of a map's folder; None where it is missing or damaged, or its key differs."""
    try:
        with np.load(folder / NAME, allow_pickle=False) as file:
            if not np.array_equal(file["key"], _with_version(key)):
                return None
            arrays = {name: file[name] for name in ("points", "features", "signature", "descriptor", "counts")}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    ends = np.cumsum(arrays["counts"], axis=0)
    if len(ends) == 0 or tuple(ends[-1]) != (len(arrays["points"]), len(arrays["signature"])):
        return None
    if len(arrays["features"]) != len(arrays["points"]) or len(arrays["descriptor"]) != len(ends):
        return None
    points, features = (np.split(arrays[name], ends[:-1, 0]) for name in ("points", "features"))
    signatures = np.split(arrays["signature"], ends[:-1, 1])
    return [PlaceFeatures(*parts) for parts in zip(points, features, signatures, arrays["descriptor"], strict=True)]


def write_features(folder: Path, key: np.ndarray, features: list[PlaceFeatures]) -> None:
    """Write the features of all keyframes. If the folder cannot be written, they are computed again next time."""
    try:
        with replacing(folder / NAME) as temporary:
            np.savez(
                temporary,
                key=_with_version(key),
                points=np.vstack([place.points for place in features]),
                features=np.vstack([place.features for place in features]),
                signature=np.vstack([place.signature for place in features]),
                descriptor=np.array([place.descriptor for place in features]),
                counts=np.array([(len(place.points), len(place.signature)) for place in features]),
            )
    except OSError as error:
        _log.info("the features of the map are not kept: %s", error)


def _with_version(key: np.ndarray) -> np.ndarray:
    return np.concatenate([[float(VERSION)], key])
