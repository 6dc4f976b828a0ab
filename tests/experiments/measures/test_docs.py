"""The docs' tables of measures are those of the registry."""

from experiments.measures.docs import PAGES, columns, drawn, updated, with_tables


def test_the_tables_in_the_docs_are_current() -> None:
    """If this fails: python -m experiments.measures.docs."""
    rows, figures = (page.read_text(encoding="utf-8") for page in PAGES)
    assert updated(rows) == rows
    assert updated(figures) == figures
    assert columns() in rows
    assert drawn() in figures


MARKED = "a\n<!-- one: run -->\nold\n<!-- end -->\nb\n<!-- two: run --><!-- end -->\n"


def test_a_table_takes_the_place_of_the_old_one() -> None:
    """Backslashes and all that stands elsewhere are kept; done again, nothing changes."""
    page = with_tables(MARKED, {"one": r"| \1 |"}, "run")
    assert page == MARKED.replace("\nold\n", "\n\n| \\1 |\n\n")
    assert with_tables(page, {"one": r"| \1 |"}, "run") == page


def test_places_of_other_commands_are_left_alone() -> None:
    assert with_tables(MARKED, {"one": "x", "two": "y"}, "another") == MARKED
    assert with_tables(MARKED, {"three": "x"}, "run") == MARKED
