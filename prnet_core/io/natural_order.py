"""The order in which people number files."""

import re


def natural_key(name: str) -> list[tuple[int, int | str]]:
    """Sort key that puts scan_2 before scan_10, and numbers before letters."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", name) if part]
