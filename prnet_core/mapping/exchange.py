"""Replacement of a folder by another one in one step."""

import ctypes
import os
import sys
from pathlib import Path

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of Linux's renameat2


def replace_folder(new: Path, folder: Path) -> None:
    """Rename `new` to `folder`. The previous folder, if there was one, is at `new` afterwards.

    On Linux the exchange is atomic: a process that is killed leaves one of the two at `folder`. Elsewhere, and on file
    systems that cannot exchange, there is no folder between two renames. Raises OSError.
    """
    if not folder.exists():
        os.rename(new, folder)
        return
    if _exchange(new, folder):
        return
    aside = new.with_suffix(".old")
    os.rename(folder, aside)
    try:
        os.rename(new, folder)
    except OSError:
        os.rename(aside, folder)
        raise
    os.rename(aside, new)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two paths; False where the system cannot."""
    if sys.platform != "linux":
        return False
    try:
        rename = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):  # an old C library
        return False
    return rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) == 0
