"""The table has every row, as `results show` words it."""

from __future__ import annotations

import re
from dataclasses import replace

from experiments.report.rows_table import rows_table
from experiments.report.sources import Source
from experiments.results.rows import Row, Status
from tests.experiments.samples import rings_of_rows


def source(rows: list[Row], place: str = "a", experiment: str = "toy") -> Source:
    return Source(place, experiment, experiment, tuple(rows))


def cells(text: str) -> list[list[str]]:
    lines = re.findall(r"<tr>(.*?)</tr>", text)
    return [[re.sub("<.*?>", "", c) for c in re.findall(r"<t[hd].*?</t[hd]>", x)] for x in lines]


def test_a_row_has_the_columns_of_show_with_units() -> None:
    """Texts for reading, numbers to sort by; a loss has its status and reason."""
    text = rows_table([source(rings_of_rows((0.0123,)))])
    head, ring, multitree, *_ = cells(text)
    assert head[:6] == ["details", "topology", "method", "GPUs", "status", "time"]
    assert "flowing GB/s" in head
    assert ring[1:7] == [
        "ring:nodes=3", "ring (effort=2, fast=True, share=0.5, mode=a)", "3", "ok", "12.3 ms",
        "266.67",
    ]  # fmt: skip
    assert 'data-value="0.0123"' in text
    assert multitree[4] == "unsupported no"
    assert text.count('<th scope="row">') == 4


def test_headings_are_buttons_that_say_how_they_sort() -> None:
    text = rows_table([source(rings_of_rows())])
    assert text.count("aria-sort=") == text.count('<th scope="col"') - 1  # less the details
    assert 'scope="col" aria-sort="none"><button type="button">topology</button>' in text


def test_repetitions_and_experiments_have_columns_where_there_are_several() -> None:
    """Experiments of one name are told apart by their place."""
    (head, *_) = cells(rows_table([source(rings_of_rows((1.0, 2.0)))]))
    assert "run" in head
    assert "experiment" not in head
    two = cells(rows_table([source(rings_of_rows(), "a"), source(rings_of_rows(), "b")]))
    assert two[1][1] == "toy (a)"
    assert two[-1][1] == "toy (b)"


def test_filters_offer_what_there_is() -> None:
    rows = [replace(row, status=Status.FAILED, reason="x") for row in rings_of_rows()]
    text = rows_table([source(rows)])
    assert 'id="filter-experiment"' not in text
    assert '<option value="failed">' in text
    assert '<option value="ok">' not in text
    assert "4 of 4 rows" in text


def test_names_are_texts() -> None:
    rows = [replace(row, topology='"><script>x</script>') for row in rings_of_rows()]
    assert "<script>" not in rows_table([source(rows)])
