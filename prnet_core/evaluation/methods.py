"""The registration methods of the tables, by name.

To add one: write a class with `register` (method.Method) and add a line to METHODS. Weights other than the packaged
ones get their own row as NETWORK:LABEL, such as `prnet:tuned`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import prnet_core.evaluation.baselines  # noqa: F401  adds its networks to the training methods
from prnet_core.evaluation.classical_methods import FGR, ICP, Refinement
from prnet_core.evaluation.go_icp import GoICP
from prnet_core.evaluation.learned_methods import NetworkMethod
from prnet_core.evaluation.method import Centroid, ConstantRotation, Identity, Method
from prnet_core.evaluation.several_hypotheses import SeveralHypotheses
from prnet_core.training.methods import METHODS as TRAINED

REFINE_SUFFIX, HYPOTHESES_SUFFIX = "+refine", "+hypotheses"
LABEL = ":"
TRIVIAL = ("identity", "constant", "centroid")

METHODS: dict[str, Callable[[], Method]] = {
    "identity": Identity,
    "constant": ConstantRotation,
    "centroid": Centroid,
    "icp": ICP,
    "goicp": GoICP,
    "fgr": FGR,
}
NETWORKS: dict[str, Callable] = {name: method.load for name, method in TRAINED.items()}


@dataclass(frozen=True)
class MethodOptions:
    """weights: weights files by NETWORK or NETWORK:LABEL (PRNet has packaged ones). device: of the networks."""

    weights: dict[str, Path] = field(default_factory=dict)
    device: str = "auto"


class Refined:
    """Another method, refined by GICP."""

    def __init__(self, method: Method) -> None:
        self.method = method

    def register(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return Refinement(source, target).refine(self.method.register(source, target))


def make_method(name: str, options: MethodOptions = MethodOptions()) -> Method:
    """The method of this name, NAME+refine, or prnet+hypotheses (`SeveralHypotheses`). Raises ValueError for another
    name."""
    suffix = next((suffix for suffix in (REFINE_SUFFIX, HYPOTHESES_SUFFIX) if name.endswith(suffix)), "")
    base = name.removesuffix(suffix)
    if base.partition(LABEL)[0] in NETWORKS:
        method = _network(options, base)
    elif base in METHODS and suffix != HYPOTHESES_SUFFIX:
        method = METHODS[base]()
    else:
        raise ValueError(f"unknown method {name!r}: {', '.join((*METHODS, *NETWORKS))}, each also with {REFINE_SUFFIX}")
    if suffix == HYPOTHESES_SUFFIX:
        return SeveralHypotheses(method.network)
    return Refined(method) if suffix else method


def _network(options: MethodOptions, name: str) -> Method:
    """`name`: a network, or NETWORK:LABEL. Only PRNet has packaged weights."""
    kind, file = name.partition(LABEL)[0], options.weights.get(name)
    if file is None and name != "prnet":
        trained = "" if kind == "prnet" else f" (train them with configs/{kind}.yaml)"
        raise ValueError(f"{name} needs weights: {name}=FILE{trained}")
    return NetworkMethod(NETWORKS[kind](file, options.device))
