"""The files of a bag, opened with `rosbags`, and what can be read of damaged ones."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from prnet_core.io.cut_bag import CutBag
from prnet_core.io.cut_mcap import CutMcap
from prnet_core.io.cut_ros1 import CutRos1
from prnet_core.io.cut_sqlite import CutSqlite
from prnet_core.io.natural_order import natural_key
from prnet_core.io.packed_files import PACKED_SUFFIXES, packed_with

STORAGE_SUFFIXES = (".mcap", ".db3", ".bag")
_RECOVERY = {
    ".mcap": "`mcap recover` may repair it",
    ".db3": "`sqlite3 FILE .recover` may repair it",
    ".bag": "`rosbag reindex` may repair it",
    ".active": "`rosbag reindex` may repair it",
}

_CUT_READERS: dict[str, type[CutBag]] = {".mcap": CutMcap, ".db3": CutSqlite, ".bag": CutRos1, ".active": CutRos1}

_log = logging.getLogger(__name__)


class BagError(ValueError):
    """The bag cannot be read, or does not hold what was requested; the text says what it holds."""


class BagFile(NamedTuple):
    """One open file of a bag, or a folder with metadata.yaml: its reader, and whether its messages are ROS 1's."""

    path: Path
    reader: Any
    is_ros1: bool

    def messages(self, connections: list[Any]) -> Iterator[tuple[Any, int, bytes]]:
        """(connection, log time in nanoseconds, data); where the reader fails, those that a scan still finds."""
        num_read = 0
        try:
            for message in self.reader.messages(connections=connections):
                num_read += 1
                yield message
            return
        except Exception as error:  # damaged data: the storage raises errors of any kind
            _log.warning(
                "%s: damaged after %d messages (%s: %s); %s",
                self.path, num_read, type(error).__name__, error, recovery(self.path),
            )  # fmt: skip
        topics = {connection.topic for connection in connections}
        yield from islice(self._scan_for(topics), num_read, None)

    def _scan_for(self, topics: set[str]) -> Iterator[tuple[Any, int, bytes]]:
        """All readable messages of the topics: the parts of a folder one after the other, a file record by record."""
        with ExitStack() as stack:
            for file in _storage_files(self.path):
                try:
                    if file == self.path:
                        part = BagFile(file, _CUT_READERS[file.suffix.lower()](file), self.is_ros1)
                    else:
                        part = _open_file(file, stack)
                except (KeyError, ValueError, OSError):
                    continue
                yield from part.messages([c for c in part.reader.connections if c.topic in topics])


def open_files(path: Path, stack: ExitStack) -> list[BagFile]:
    """Open the bag at `path`: a folder with metadata.yaml, a folder of files, or one file.

    A damaged part is left out, with a warning in the log; a file without its end is read up to the cut. Raises
    FileNotFoundError when nothing is there, BagError when none of the files can be read.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such bag")
    if not path.is_dir():
        return [_open_file(path, stack)]
    files = _storage_files(path)
    problem = BagError(f"{path}: no metadata.yaml and no {', '.join(STORAGE_SUFFIXES)} file in this folder")
    if (path / "metadata.yaml").exists():
        try:
            return [_open_rosbags(path, stack)]
        except BagError as error:
            problem = error
            if files:
                _log.warning("%s; reading the files beside metadata.yaml themselves", error)
    opened = []
    for file in files:
        try:
            opened.append(_open_file(file, stack))
        except BagError as error:
            problem = error
            if len(files) > 1:
                _log.warning("%s; this part of the bag is left out", error)
    if not opened:
        raise problem
    return opened


def recovery(path: Path) -> str:
    """The tool that may repair a damaged bag file, as a clause."""
    if path.is_dir():
        path = next(iter(_storage_files(path)), path)
    return _RECOVERY.get(path.suffix.lower(), "it may not be a bag")


def is_storage_file(path: Path) -> bool:
    """Whether this is a file of a bag by its name; also one that is compressed as a whole (.mcap.zstd)."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] in PACKED_SUFFIXES:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in STORAGE_SUFFIXES


def _storage_files(path: Path) -> list[Path]:
    """The files of a bag in the order of their numbers; `path` itself where it is a file."""
    if not path.is_dir():
        return [path]
    files = [file for file in path.iterdir() if is_storage_file(file) and not file.name.startswith(".")]
    return sorted(files, key=lambda file: (natural_key(file.stem), file.name))


def _open_file(path: Path, stack: ExitStack) -> BagFile:
    """Open one file; a file without its end is read up to the cut."""
    if not path.is_file():
        raise BagError(f"{path}: not a regular file")
    try:
        return _open_rosbags(path, stack)
    except BagError as error:
        if packed := packed_with(path):
            raise BagError(f"{path}: compressed with {packed}: unpack it first") from error
        try:
            rest = _CUT_READERS[path.suffix.lower()](path)
        except KeyError:
            raise BagError(f"{error}; {recovery(path)}") from error
        except (ValueError, OSError) as reason:
            raise BagError(f"{path}: not a readable bag: {reason}; {recovery(path)}") from error
    end = rest.num_bytes if rest.cut_at is None else rest.cut_at
    damaged = f", without {rest.num_damaged} damaged chunks" if rest.num_damaged else ""
    _log.warning(
        "%s: the file is cut off or damaged at %.2f of %.2f MB: %d messages are read%s; %s",
        path, end * 1e-6, rest.num_bytes * 1e-6, rest.num_messages, damaged, recovery(path),
    )  # fmt: skip
    return BagFile(path, rest, isinstance(rest, CutRos1))


def _open_rosbags(path: Path, stack: ExitStack) -> BagFile:
    from rosbags.rosbag1 import Reader as Ros1Reader
    from rosbags.rosbag2 import Reader as Ros2Reader

    is_ros1 = path.suffix.lower() in (".bag", ".active") and not path.is_dir()
    try:
        opened = path if path.is_dir() else _with_lower_suffix(path, stack)
        reader = stack.enter_context(Ros1Reader(opened) if is_ros1 else Ros2Reader(opened))
        for connection in reader.connections:
            _ = connection.topic + connection.msgtype, int(connection.msgcount)
    except Exception as error:  # damaged bytes lead to other errors than ReaderError too
        raise BagError(f"{path}: not a readable bag: {str(error) or type(error).__name__}") from error
    return BagFile(path, reader, is_ros1)


def _with_lower_suffix(path: Path, stack: ExitStack) -> Path:
    """The file by a name that `rosbags` knows: A.DB3 is a.db3 in a file system that does not distinguish them."""
    if path.suffix == path.suffix.lower():
        return path
    link = Path(stack.enter_context(TemporaryDirectory())) / f"{path.stem}{path.suffix.lower()}"
    link.symlink_to(path.absolute())
    return link
