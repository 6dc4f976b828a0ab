"""docs/papers/reproduction*.md say what the rows say."""

import pytest

from experiments.reproduction.coverage import Coverage
from experiments.reproduction.reproduction_page import page_tables, updated
from tests.experiments.reproduction.conftest import CLONE


@pytest.fixture(scope="module")
def tables(coverage: Coverage) -> dict[str, list[str]]:
    return page_tables(coverage)


def test_the_page_is_that_of_the_rows(tables: dict[str, list[str]]) -> None:
    """`forestcoll reproduction page` writes it."""
    files = sorted((CLONE / "docs" / "papers").glob("reproduction*.md"))
    pages = [file.read_text(encoding="utf-8") for file in files]
    assert [updated(page, tables) for page in pages] == pages
    for lines in tables.values():
        assert "\n".join(lines) in "\n".join(pages)


def test_every_item_has_a_line_and_a_verdict(
    coverage: Coverage, tables: dict[str, list[str]]
) -> None:
    lines = tables["items"]
    for one in coverage.shown:
        (line,) = (line for line in lines if line.startswith(f"| {one.item.item} |"))
        assert line.split(" | ")[-1].rstrip(" |") in {
            "reproduced", "in part", "waiting", "hardware", "not public", "-",
            "without the machine", "public part",
        }  # fmt: skip
        assert all(f"`pytest {test}`" in line for test in one.item.tests)
