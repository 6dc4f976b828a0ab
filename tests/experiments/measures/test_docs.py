"""The docs' tables of measures are those of the registry."""

from experiments.measures.docs import PAGE, columns, drawn, updated


def test_the_tables_in_the_docs_are_current() -> None:
    """If this fails: python -m experiments.measures.docs."""
    page = PAGE.read_text(encoding="utf-8")
    assert updated(page) == page
    assert columns() in page
    assert drawn() in page
