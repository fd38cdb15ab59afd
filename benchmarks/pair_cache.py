"""Simulated pairs are kept in data/verification (not part of the repository) until the simulator's code changes."""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from labelled_pair import Pair

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "data" / "verification"


def cached(name: str, seed: int, make: Callable[[], Iterable[Pair]]) -> list[Pair]:
    """What `make` yields, from the file of an earlier call where there is one."""
    file = FOLDER / f"{name.replace(' ', '_')}-{seed}-{_fingerprint()}.pickle"
    if file.is_file():
        return pickle.loads(file.read_bytes())
    made = list(make())
    FOLDER.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(f".{os.getpid()}.partial")
    partial.write_bytes(pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL))
    partial.replace(file)
    for old in FOLDER.glob(f"{name.replace(' ', '_')}-{seed}-*.pickle"):
        if old != file:
            old.unlink()
    return made


@cache
def _fingerprint() -> str:
    """A hash of the code that makes the pairs."""
    files = sorted((ROOT / "prnet_core" / "simulation").glob("*.py"))
    makers = (
        "surveys.py",
        "later_surveys.py",
        "own_places.py",
        "simulated_pairs.py",
        "verification_data.py",
        "held_out_pairs.py",
    )
    makers += ("origin_free_pairs.py",)
    files += [ROOT / "benchmarks" / name for name in makers]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
