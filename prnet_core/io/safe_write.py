"""Files are written beside their target and renamed onto it, so that a failure leaves the old file as it was."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_target(path: Path | str, suffixes: tuple[str, ...] = ()) -> Path:
    """Raise unless a file can be written at `path`; for a call before the work whose result goes there.

    suffixes: those that the file may have; any when empty. Devices and links are allowed.

    Raises ValueError, which lists the suffixes, for another one, and OSError, which names the path, when the folder is
    missing or cannot be written to, the path is a folder, or the disk is full.
    """
    path = Path(path)
    if suffixes and path.suffix.lower() not in suffixes:
        raise ValueError(f"{path}: written as {' '.join(sorted(suffixes))}, not {path.suffix or 'without a suffix'}")
    target = _target(path)
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file to write")
    if _is_special(target):
        return path
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {target.parent}")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} cannot be written: it is read-only")
    _probe(target.parent, path)
    return path


def check_folder(path: Path | str, names: tuple[str, ...] = ()) -> Path:
    """Raise unless files can be written in the folder `path`, which may be missing, with its parents.

    names: files that are to be written in it. Raises OSError, which names the path, when it is not a folder, it cannot
    be written to, or the disk is full.
    """
    path = Path(path)
    nearest = _target(path)
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise NotADirectoryError(f"{path} cannot be made: {nearest} is not a folder")
    _probe(nearest, path)
    if nearest == _target(path):
        for name in names:
            check_target(path / name)
    return path


def _probe(folder: Path, path: Path) -> None:
    """Write a block to a file without a name; raise OSError, which names `path`, where that fails."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Give a temporary path beside `path`, with its suffix; when the block ends without an error it replaces `path`.

    The target of a link is replaced, and the link stays. For a device or a pipe, the output is copied into it. The
    mode of an existing file is kept. Raises OSError, which names the path, when it cannot be written (a full
    disk); an existing file is then unchanged.
    """
    target = _target(Path(path))
    folder = Path(tempfile.mkdtemp()) if _is_special(target) else None
    name = f".{target.stem}.{os.getpid()}.part{target.suffix}"
    temporary = target.with_name(name) if folder is None else folder / name
    try:
        temporary.touch()
        mode = stat.S_IMODE((target if target.is_file() else temporary).stat().st_mode)
        yield temporary
        if folder is None:
            os.chmod(temporary, mode)
            os.replace(temporary, target)
        else:
            with open(temporary, "rb") as source, open(target, "wb") as sink:
                shutil.copyfileobj(source, sink)
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
        if folder is not None:
            folder.rmdir()


def _target(path: Path) -> Path:
    """`path` with its links resolved."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(f"{path} cannot be written: its links lead in a circle")
    return target


def _is_special(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()
