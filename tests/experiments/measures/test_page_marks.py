"""Tables between marks of a page."""

from experiments.measures.page_marks import with_tables

PAGE = "a\n<!-- one: run -->\nold\n<!-- end -->\nb\n<!-- two: run --><!-- end -->\n"


def test_a_table_takes_the_place_of_the_old_one() -> None:
    """Backslashes and all that stands elsewhere are kept; done again, nothing changes."""
    page = with_tables(PAGE, {"one": r"| \1 |"}, "run")
    assert page == PAGE.replace("\nold\n", "\n\n| \\1 |\n\n")
    assert with_tables(page, {"one": r"| \1 |"}, "run") == page


def test_places_of_other_commands_are_left_alone() -> None:
    assert with_tables(PAGE, {"one": "x", "two": "y"}, "another") == PAGE
    assert with_tables(PAGE, {"three": "x"}, "run") == PAGE
