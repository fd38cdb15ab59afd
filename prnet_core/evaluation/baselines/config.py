"""Configurations of the baselines."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TypeVar

Config = TypeVar("Config", bound="BaselineConfig")


class BaselineConfig:
    """A frozen dataclass with the presets `paper` (its defaults) and `small`, to and from builtin values."""

    @classmethod
    def from_dict(cls: type[Config], values: dict) -> Config:
        """`values` override the preset named by "preset" (default "paper"). Raises ValueError for unknown names."""
        values = dict(values)
        preset = getattr(cls, values.pop("preset", "paper"))()
        unknown = set(values) - {item.name for item in fields(cls)}
        if unknown:
            raise ValueError(f"unknown settings of {cls.__name__}: {', '.join(sorted(unknown))}")
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        return cls(**{**asdict(preset), **given})

    @classmethod
    def paper(cls: type[Config]) -> Config:
        return cls()

    def to_dict(self) -> dict:
        return asdict(self)
