"""The systems of the tables, by name. Another one is a class with a `register` and a line in METHODS.

Weights beside the usual ones get a row of their own under NETWORK:LABEL, as in `prnet:tuned`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.geometry import se3

REFINE_SUFFIX = "+refine"
LABEL = ":"


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
    """What a method may need: weights by NETWORK or NETWORK:LABEL (none: the packaged ones), the networks' device."""

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


def _network(options: MethodOptions, name: str) -> Method:
    """`name` is a network's, or NETWORK:LABEL; only PRNet has weights of its own."""
    from prnet_core.evaluation import baselines
    from prnet_core.evaluation.learned_methods import NetworkMethod
    from prnet_core.model import load_network

    kind, file = name.partition(LABEL)[0], options.weights.get(name)
    if file is None and name != "prnet":
        trained = "" if kind == "prnet" else f" (train them with configs/{kind}.yaml)"
        raise ValueError(f"{name} needs weights: {name}=FILE{trained}")
    load = load_network if kind == "prnet" else getattr(baselines, f"load_{kind}")
    return NetworkMethod(load(file, options.device))


METHODS: dict[str, Callable[[MethodOptions], Method]] = {
    "identity": lambda options: Identity(),
    "constant": lambda options: ConstantRotation(),
    "centroid": lambda options: Centroid(),
    "icp": _icp,
    "goicp": _go_icp,
    "fgr": _fgr,
}
NETWORKS = ("dcp", "pointnetlk", "prnet")
TRIVIAL = ("identity", "constant", "centroid")


def make_method(name: str, options: MethodOptions = MethodOptions()) -> Method:
    """The method called `name`, or NAME+refine. Raises ValueError for a name that is not known."""
    base = name.removesuffix(REFINE_SUFFIX)
    if base.partition(LABEL)[0] in NETWORKS:
        method = _network(options, base)
    elif base in METHODS:
        method = METHODS[base](options)
    else:
        raise ValueError(f"unknown method {name!r}: {', '.join((*METHODS, *NETWORKS))}, each also with {REFINE_SUFFIX}")
    return Refined(method) if name.endswith(REFINE_SUFFIX) else method


def centroid_start(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """T_target_source that puts the source's centroid on the target's."""
    translation = target.mean(axis=0, dtype=np.float64) - source.mean(axis=0, dtype=np.float64)
    return se3.make_transform(np.eye(3), translation)
