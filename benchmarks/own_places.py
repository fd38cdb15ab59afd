"""Places for surveys in which no two recordings have equal dimensions."""

from collections.abc import Callable

from prnet_core.simulation.closet import closet_and_hall
from prnet_core.simulation.garage import garage
from prnet_core.simulation.outdoors import park
from prnet_core.simulation.places import Place
from prnet_core.simulation.rooms import crowded_room
from prnet_core.simulation.stairs import stairs

Dimension = tuple[float, float, int]
"""Metres of the first recording, from one to the next, and the stride in which ten recordings take the ten values."""


def at(seed: int, dimension: Dimension) -> float:
    """The dimension of the recording whose place has this seed."""
    first, step, stride = dimension
    return first + step * ((stride * (seed % 100)) % 10)


def own_park(radius: Dimension) -> Callable[[int], Place]:
    return lambda seed: park(seed, radius=at(seed, radius))


def own_stairs(width: Dimension) -> Callable[[int], Place]:
    return lambda seed: stairs(seed, width=at(seed, width))


def own_hall(length: Dimension, width: Dimension) -> Callable[[int], Place]:
    return lambda seed: closet_and_hall(seed, (at(seed, length), at(seed, width)))


def own_crowd(length: Dimension, width: Dimension) -> Callable[[int], Place]:
    return lambda seed: crowded_room(seed, (at(seed, length), at(seed, width)))


def own_garage(length: Dimension, width: Dimension, height: Dimension) -> Callable[[int], Place]:
    return lambda seed: garage(seed, (at(seed, length), at(seed, width)), at(seed, height))
