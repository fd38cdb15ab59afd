"""Every number of the network, in one frozen object."""

from dataclasses import asdict, dataclass, fields
from typing import ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

Temperature = Literal["predicted", "fixed", "annealed", "learned"]
KeypointRule = Literal["norm", "random", "centrality", "all"]
Matching = Literal["rowwise", "sinkhorn", "dual"]
LossForm = Literal["exact", "printed"]


Config = TypeVar("Config", bound="NetworkConfig")


class NetworkConfig:
    """Base of the frozen dataclass of a network: presets ("paper": the defaults), to and from builtin values."""

    PRESETS: ClassVar[tuple[str, ...]] = ("paper", "small")

    @classmethod
    def paper(cls: type[Config]) -> Config:
        """The paper's network."""
        return cls()

    @classmethod
    def from_dict(cls: type[Config], values: dict) -> Config:
        """`values` override the preset named by "preset". Raises ValueError for unknown names."""
        values = dict(values)
        preset = values.pop("preset", "paper")
        if preset not in cls.PRESETS:
            raise ValueError(f"unknown preset {preset!r} of {cls.__name__}: {', '.join(cls.PRESETS)}")
        unknown = set(values) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"unknown settings of {cls.__name__}: {', '.join(sorted(unknown))}")
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        return cls(**{**getattr(cls, preset)().to_dict(), **given})

    def to_dict(self) -> dict:
        """Builtin values, for the metadata of a file."""
        return asdict(self)


@dataclass(frozen=True)
class PRNetConfig(NetworkConfig):
    """The network's form. The defaults are the paper's (supplement, and section 5 for the discount factor)."""

    PRESETS: ClassVar[tuple[str, ...]] = ("paper", "small", "invariant")

    edge_conv_channels: tuple[int, ...] = (64, 64, 128, 256)
    num_neighbours: int = 20
    embedding: int = 512
    features: Literal["coordinates", "surface"] = "coordinates"
    """Input of the local features: coordinates (the paper), or normals and patches, which do not change when the
    cloud is rotated (ours)."""
    transformer: Literal["paper", "none"] = "paper"
    """The paper's, or none: each cloud's features by themselves."""
    num_heads: int = 4
    feed_forward: int = 1024
    temperature_channels: tuple[int, ...] = (128, 128, 128)

    num_keypoints: int = 512
    """At most two thirds of a cloud become keypoints: the paper's 512 of 768."""
    keypoints: KeypointRule = "norm"
    temperature: Temperature = "predicted"
    matching: Matching = "rowwise"
    robust_procrustes: bool = False
    """Weight the matches robustly at inference (ours); False is the paper's least squares."""

    num_passes: int = 3
    discount: float = 0.9
    cycle_weight: float = 0.1
    global_feature_weight: float = 0.1
    loss_form: LossForm = "exact"
    """"printed": the paper's formulas as printed; "exact", also in `paper()`: ours, zero at the correct transform
    (model/losses.py)."""
    motion_weight: float = 1.0
    """Weight of the paper's terms; 0 leaves the matching term alone and saves the Procrustes of the training."""
    dustbin_weight: float = 0.3
    """Weight of the points without a match in the loss of the matching "dual"."""
    matching_weight: float = 0.0
    """Weight of our cross entropy of the matching matrix; 0 is the paper's loss."""

    def __post_init__(self) -> None:
        check_choices(self)
        if self.embedding % self.num_heads:
            raise ValueError(f"embedding {self.embedding} is not a multiple of num_heads {self.num_heads}")
        if (self.matching == "dual") != (self.keypoints == "all"):
            raise ValueError('matching "dual" matches all points: it goes with keypoints "all", and they with it')
        if self.matching == "dual" and self.features != "surface":
            raise ValueError('matching "dual" needs the features "surface": its match radius is in point spacings')
        for name in ("num_neighbours", "num_keypoints", "num_passes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    @classmethod
    def small(cls) -> "PRNetConfig":
        """Half as wide, for robots without a GPU; trained with the matching term."""
        return cls(embedding=256, feed_forward=512, matching_weight=1.0, robust_procrustes=True)

    @classmethod
    def invariant(cls) -> "PRNetConfig":
        """Rotation-invariant inputs, matched in both directions, one pass: for scans in any orientation (ours)."""
        return cls(
            edge_conv_channels=(64, 128, 256),
            features="surface",
            transformer="none",
            embedding=192,
            feed_forward=384,
            keypoints="all",
            temperature="learned",
            matching="dual",
            robust_procrustes=True,
            num_passes=1,
            motion_weight=0.0,
            matching_weight=1.0,
        )

    @classmethod
    def from_dict(cls, values: dict) -> "PRNetConfig":
        """As `NetworkConfig.from_dict`. Names of version 0.1 are read too."""
        values = dict(values)
        if "cycle" in values:
            values["loss_form"] = {"paper": "printed"}.get(values["cycle"], values["cycle"])
            del values["cycle"]
        values.pop("transformer_blocks", None)  # of a variant that was removed
        return super().from_dict(values)


def check_choices(config) -> None:
    """Raise ValueError, by name, for a field of a dataclass annotated `Literal[...]` that has another value."""
    for name, kind in get_type_hints(type(config)).items():
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        if choices and getattr(config, name) not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}, not {getattr(config, name)!r}")
