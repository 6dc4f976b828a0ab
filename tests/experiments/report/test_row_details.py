"""All columns of all rows, those that many have alike once."""

from __future__ import annotations

from typing import Any

from experiments.report.row_details import details
from tests.experiments.samples import rings_of_rows


def test_everything_a_row_says_is_there() -> None:
    """As read back by the page; what a row lacks is left out."""
    rows = rings_of_rows()
    data = details(rows)
    for row, line in zip(rows, data["rows"], strict=True):
        back: dict[str, Any] = {}
        for place, value in zip(line[::2], line[1::2], strict=True):
            shared = place in data["shared"]
            back[data["columns"][place]] = data["values"][value] if shared else value
        said = {name: value for name, value in row.as_dict().items() if value not in (None, "", {})}
        assert back == said


def test_machines_are_kept_once() -> None:
    data = details(rings_of_rows())
    assert data["values"].count({"name": "here", "processors": 2}) == 1
