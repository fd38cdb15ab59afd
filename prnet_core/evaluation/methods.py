"""The systems of the tables, by name. Another one is a class with a `register` and a line in METHODS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3

REFINE_SUFFIX = "+refine"


class Method(Protocol):
    """A system that registers one pair."""

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """source (N, 3), target (M, 3) in the unit sphere -> T_target_source (4, 4) float64."""
        ...


class Identity:
    """Nothing moved: the trivial row."""

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.eye(4)


class ConstantRotation:
    """The mean of the protocol's rotation range (22.5 degrees about each axis), no translation."""

    T_target_source = se3.make_transform(Rotation.from_euler("XYZ", [22.5] * 3, degrees=True).as_matrix(), np.zeros(3))

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return self.T_target_source


class Centroid:
    """The difference of the centroids, no rotation."""

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return centroid_start(source, target)


class Refined:
    """Another method, then GICP from where it ended."""

    def __init__(self, method: Method) -> None:
        self.method = method

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        from prnet_core.evaluation.classical_methods import refine

        return refine(source, target, self.method.register(source, target))


@dataclass(frozen=True)
class MethodOptions:
    """What a method may need: weights by network name (none: the packaged ones), the device of the networks."""

    weights: dict[str, Path] = field(default_factory=dict)
    device: str = "auto"


def _icp(options: MethodOptions) -> Method:
    from prnet_core.evaluation.classical_methods import ICP

    return ICP()


def _go_icp(options: MethodOptions) -> Method:
    from prnet_core.evaluation.go_icp import GoICP

    return GoICP()


def _fgr(options: MethodOptions) -> Method:
    from prnet_core.evaluation.classical_methods import FGR

    return FGR()


def _prnet(options: MethodOptions) -> Method:
    from prnet_core.evaluation.learned_methods import NetworkMethod
    from prnet_core.model import load_network

    return NetworkMethod(load_network(options.weights.get("prnet"), options.device))


def _baseline(name: str) -> Callable[[MethodOptions], Method]:
    def make(options: MethodOptions) -> Method:
        from prnet_core import baselines
        from prnet_core.evaluation.learned_methods import NetworkMethod

        if name not in options.weights:
            raise ValueError(f"{name} needs weights: {name}=FILE (train them with configs/{name}.yaml)")
        load = getattr(baselines, f"load_{name}")
        return NetworkMethod(load(options.weights[name], options.device))

    return make


METHODS: dict[str, Callable[[MethodOptions], Method]] = {
    "identity": lambda options: Identity(),
    "constant": lambda options: ConstantRotation(),
    "centroid": lambda options: Centroid(),
    "icp": _icp,
    "goicp": _go_icp,
    "fgr": _fgr,
    "dcp": _baseline("dcp"),
    "pointnetlk": _baseline("pointnetlk"),
    "prnet": _prnet,
}
TRIVIAL = ("identity", "constant", "centroid")


def make_method(name: str, options: MethodOptions = MethodOptions()) -> Method:
    """The method called `name`, or NAME+refine. Raises ValueError for a name that is not known."""
    base = name.removesuffix(REFINE_SUFFIX)
    if base not in METHODS:
        raise ValueError(f"unknown method {name!r}: {', '.join(METHODS)}, each also with {REFINE_SUFFIX}")
    method = METHODS[base](options)
    return Refined(method) if name.endswith(REFINE_SUFFIX) else method


def centroid_start(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """T_target_source that puts the source's centroid on the target's."""
    translation = target.mean(axis=0, dtype=np.float64) - source.mean(axis=0, dtype=np.float64)
    return se3.make_transform(np.eye(3), translation)
