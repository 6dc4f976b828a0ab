"""The table has every row, as `results show` words it."""

from dataclasses import replace
from typing import Any

from experiments.report.page import page
from experiments.report.rows_table import RowsTable, details
from experiments.report.sources import Source
from experiments.results.rows import Row, Status
from tests.experiments.samples import rings_of_rows


def source(rows: list[Row], place: str = "a", experiment: str = "toy") -> Source:
    return Source(place, experiment, experiment, tuple(rows))


def heads(*sources: Source) -> list[str]:
    return [head.text for head in RowsTable(sources).heads()]


def html(rows: list[Row]) -> str:
    text = page([source(rows)], "", "Toys")
    return text[text.index("<table") : text.index("</table>")]


def test_a_row_has_the_columns_of_show_with_units() -> None:
    """Texts for reading, numbers to sort by; a loss has its status and reason."""
    table = RowsTable([source(rings_of_rows((0.0123,)))])
    assert heads(source(table.rows))[:5] == ["topology", "method", "GPUs", "status", "time"]
    assert "GB/s" in [head.unit for head in table.heads() if head.text == "pipelined"]
    (by, ring), (_, multitree), *_ = table.lines()
    assert ring[:6] == [
        "ring:nodes=3", "ring (effort=2, fast=True, share=0.5, mode=a)", "3", ["ok", ""],
        ["12.3 ms", "0.0123"], "266.67",
    ]  # fmt: skip
    assert multitree[3] == ["unsupported", "no"]
    assert by == ["toy", "ring", "ring", "ok"]
    assert list(table.choices) == ["experiment", "cluster", "method", "status"]


def test_headings_are_buttons_with_the_kind_of_their_column() -> None:
    text = html(rings_of_rows())
    assert text.count("aria-sort=") == text.count('<th scope="col"') - 1  # less the details
    button = 'scope="col" aria-sort="none" data-kind="name"><button type="button">topology</button>'
    assert button in text
    kinds = [head.kind for head in RowsTable([source(rings_of_rows())]).heads()]
    assert kinds[:4] == ["name", "text", "number", "status"]
    assert set(kinds[4:]) == {"number"}


def test_several_repetitions_or_experiments_have_columns() -> None:
    """The place distinguishes experiments of one name."""
    alone = heads(source(rings_of_rows((1.0, 2.0))))
    assert "run" in alone
    assert "experiment" not in alone
    two = RowsTable([source(rings_of_rows(), "a"), source(rings_of_rows(), "b")])
    first, *_, last = [cells[0] for _, cells in two.lines()]
    assert (first, last) == ("toy (a)", "toy (b)")
    assert two.choices["experiment"] == ["toy (a)", "toy (b)"]


def test_filters_offer_the_values_of_the_rows() -> None:
    rows = [replace(row, status=Status.FAILED, reason="x") for row in rings_of_rows()]
    assert RowsTable([source(rows)]).choices["status"] == ["failed"]
    text = page([source(rows)], "", "Toys")
    assert 'id="filter-experiment"' not in text
    assert '<option value="failed">' in text
    assert '<option value="ok">' not in text
    assert "4 of 4 rows" in text


def test_everything_a_row_says_is_there() -> None:
    """As read back by the page; what a row lacks is left out."""
    rows = rings_of_rows()
    data = details(rows)
    for row, line in zip(rows, data["rows"], strict=True):
        back: dict[str, Any] = {
            data["columns"][place]: data["values"][value]
            for place, value in zip(line[::2], line[1::2], strict=True)
        }
        shown = {
            name: value for name, value in row.as_dict().items() if value not in (None, "", {})
        }
        assert back == shown


def test_machines_are_kept_once() -> None:
    data = details(rings_of_rows())
    assert data["values"].count({"name": "here", "processors": 2}) == 1
