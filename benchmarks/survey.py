"""What a survey of the verification benchmark is: a kind of places with a sensor."""

from collections.abc import Callable
from dataclasses import dataclass

from prnet_core.simulation.places import Place
from prnet_core.simulation.two_scans import Sensor


@dataclass(frozen=True)
class Survey:
    """Pairs along a place's path: how far apart in metres and degrees, and the seconds in which people move."""

    sensor: Sensor
    metres: tuple[float, float]
    degrees: float
    pairs_a_recording: int = 3
    seconds: float = 0.0


Surveys = dict[str, tuple[Callable[[int], Place], Survey]]
