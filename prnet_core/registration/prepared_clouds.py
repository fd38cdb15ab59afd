"""Prepared clouds that are kept for the next registration to them."""

from collections import OrderedDict
from collections.abc import Callable

from prnet_core.registration.preprocess import PreparedCloud


class PreparedClouds:
    """The `capacity` clouds that were used last, each with the object that it was made of. A cloud takes megabytes."""

    def __init__(self, capacity: int):
        self._capacity = capacity
        self._clouds: OrderedDict[int, tuple[object, PreparedCloud]] = OrderedDict()  # by the id of the object

    def __len__(self) -> int:
        return len(self._clouds)

    def get(self, owner: object, voxel_size: float, prepare: Callable[[], PreparedCloud]) -> PreparedCloud:
        """The cloud of an object; prepared where none of this voxel size is kept."""
        kept = self._clouds.pop(id(owner), None)
        cloud = prepare() if kept is None or kept[1].voxel_size != voxel_size else kept[1]
        self._clouds[id(owner)] = owner, cloud
        if len(self._clouds) > self._capacity:
            self._clouds.popitem(last=False)
        return cloud

    def clear(self) -> None:
        """Drop all of them."""
        self._clouds.clear()
