"""The results page: written text, with generated tables between markers."""

from pathlib import Path

from prnet_core.io.safe_write import replacing


def update_page(page: Path, name: str, markdown: str) -> bool:
    """Write a table between `<!-- table NAME -->` and `<!-- end NAME -->` of `page`, one heading level lower.

    Returns False, and changes nothing, if the page or the markers do not exist.
    """
    start, end = f"<!-- table {name} -->", f"<!-- end {name} -->"
    if not page.is_file():
        return False
    text = page.read_text()
    if start not in text or end not in text:
        return False
    before, rest = text.split(start, 1)
    after = rest.split(end, 1)[1]
    with replacing(page) as temporary:
        temporary.write_text(f"{before}{start}\n\n#{markdown}\n{end}{after}")
    return True
