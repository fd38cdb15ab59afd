"""What a search refines: transforms between its stages, and measured ones at its end."""

from dataclasses import dataclass

import numpy as np

from prnet_core.registration.alignment import AlignmentQuality
from prnet_core.registration.verify import score


@dataclass(frozen=True, eq=False)
class Candidate:
    """A refined hypothesis: its name, transform (4, 4) in voxel units, alignment quality, and status by itself."""

    hypothesis: str
    transform: np.ndarray
    quality: AlignmentQuality
    status: str

    @property
    def score(self) -> float:
        """Ranks the candidates of one pair of clouds; higher is better."""
        return score(self.quality)


@dataclass(frozen=True, eq=False)
class Aligned:
    """A transform (4, 4) of one stage of the refinement, and the share of the source that it brings near the target."""

    name: str
    transform: np.ndarray
    close: float
