"""The page of results: text of people, with the tables kept up to date between their markers."""

from __future__ import annotations

from pathlib import Path


def update_page(page: Path, name: str, markdown: str) -> bool:
    """Put a table between `<!-- table NAME -->` and `<!-- end NAME -->` of `page`, one heading level lower.

    Returns whether the page is there and has the markers; it is left alone otherwise.
    """
    start, end = f"<!-- table {name} -->", f"<!-- end {name} -->"
    if not page.is_file():
        return False
    text = page.read_text()
    if start not in text or end not in text:
        return False
    before, rest = text.split(start, 1)
    after = rest.split(end, 1)[1]
    page.write_text(f"{before}{start}\n\n#{markdown}\n{end}{after}")
    return True
