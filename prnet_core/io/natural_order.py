"""Natural order of numbered file names."""

import re
from collections.abc import Collection
from decimal import Decimal

_DECIMAL = re.compile(r"(.*?)(-?\d+)\.(\d+)")


def natural_key(name: str) -> list[tuple[int, int | str]]:
    """Sort key that puts scan_2 before scan_10 and Scan_3, and numbers before letters."""
    return [(0, int(part)) if part.isdecimal() else (1, part.casefold()) for part in re.split(r"(\d+)", name) if part]


def in_natural_order(names: Collection[str]) -> list[str]:
    """The names sorted by `natural_key`, or by their value where they are decimal numbers such as stamps in seconds.

    1.9 comes before 1.10 where the part after the point is a count, and after 1.15 where all are decimal fractions:
    a fraction written with its shortest digits does not end in a zero.
    """
    matches = [_DECIMAL.fullmatch(name) for name in names]
    fractions = [match[3] for match in matches if match]
    are_decimal = len(fractions) == len(names) and len({match[1] for match in matches if match}) == 1
    widths = {len(fraction) for fraction in fractions}
    if are_decimal and len(widths) > 1 and not any(len(text) > 1 and text.endswith("0") for text in fractions):
        by_value = {name: Decimal(f"{match[2]}.{match[3]}") for name, match in zip(names, matches) if match}
        return sorted(names, key=lambda name: (by_value[name], name))
    return sorted(names, key=lambda name: (natural_key(name), name))
