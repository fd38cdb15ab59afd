"""Maps of keyframes: loop closures, a pose graph, storage, localisation of a scan without a guess."""

from prnet_core.mapping.config import MappingConfig
from prnet_core.mapping.keyframe_map import KeyframeMap, MapError, MapKeyframe, PoseConstraint
from prnet_core.mapping.localize import LocalizationResult, Localizer

__all__ = [
    "KeyframeMap",
    "LocalizationResult",
    "Localizer",
    "MapError",
    "MapKeyframe",
    "MappingConfig",
    "PoseConstraint",
]
