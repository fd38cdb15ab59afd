"""Files that are compressed as a whole."""

from pathlib import Path

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"7z\xbc\xaf": "7-zip",
           b"\x04\x22\x4d\x18": "lz4"}  # fmt: skip
PACKED_SUFFIXES = (".gz", ".zst", ".zstd", ".bz2", ".xz", ".7z", ".zip", ".tar", ".tgz", ".lz4", ".rar")


def packed_with(path: Path) -> str:
    """Name of the compression of a whole file, by its first bytes or its suffix; '' if it is not compressed."""
    if path.is_dir():
        return ""
    with open(path, "rb") as file:
        start = file.read(8)
    by_start = next((name for magic, name in _PACKED.items() if start.startswith(magic)), "")
    return by_start or (path.suffix[1:].lower() if path.suffix.lower() in PACKED_SUFFIXES else "")
