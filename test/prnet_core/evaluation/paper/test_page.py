from prnet_core.evaluation.paper.page import update_page


def test_a_table_is_renewed_between_its_markers_and_nothing_else_is(tmp_path):
    page = tmp_path / "README.md"
    page.write_text("# Results\n\n<!-- table a -->\nold\n<!-- end a -->\n\nWords.\n<!-- table b --><!-- end b -->\n")
    assert update_page(page, "a", "## A\n\n| x |\n")
    assert update_page(page, "a", "## A\n\n| y |\n")
    text = page.read_text()
    assert text.startswith("# Results") and "### A\n\n| y |" in text and "old" not in text and "| x |" not in text
    assert "Words.\n<!-- table b --><!-- end b -->" in text
    assert not update_page(page, "c", "## C")
    assert not update_page(tmp_path / "none.md", "a", "## A")
