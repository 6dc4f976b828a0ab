"""A section: facts, figures with one legend, what had no result."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from experiments.report.one_experiment import OneExperiment, counted, facts
from experiments.report.sources import Source
from experiments.results.rows import Row, Status
from tests.experiments.samples import clusters_of_rows, rings_of_rows

ROWS = clusters_of_rows()


def section(rows: list[Row]) -> OneExperiment:
    return OneExperiment(1, Source("results/toy", "toy", "Toys", tuple(rows)))


def data(one: OneExperiment) -> dict[str, Any]:
    found = re.search("<script.*?>(.*)</script>", one.data())
    assert found
    parsed: dict[str, Any] = json.loads(found[1])
    return parsed


def test_every_trace_belongs_to_an_entry_of_the_legend() -> None:
    """The entry has the colours, for a light ground and a dark one; texts are kept once."""
    one = section(ROWS)
    drawn, text = data(one), one.html(alone=False)
    entries = re.findall(r'data-sign="(\d+)" style="--light:(#\w+);--dark:(#\w+)"', text)
    assert [list(colours) for _, *colours in entries] == drawn["colours"]
    assert len(re.findall('class="plot"', text)) == len(drawn["panels"])
    for panel in drawn["panels"]:
        assert max(panel["signs"]) < len(entries)
        for trace in panel["traces"]:
            assert max(trace["hovertext"]) < len(drawn["texts"])
    assert len(set(drawn["texts"])) == len(drawn["texts"])


def test_losses_are_listed_and_named_in_the_legend() -> None:
    """One that never has a result says so there."""
    text = section(rings_of_rows()).html(alone=False)
    assert "<summary>2 points without a result</summary>" in text
    assert "unsupported: multitree on ring:nodes=3: no" in text
    assert "<span>multitree: unsupported</span>" in text


def test_rows_without_any_success_are_told_in_words() -> None:
    lost = [replace(row, status=Status.FAILED, reason="crash") for row in ROWS]
    one = section(lost)
    assert "No row has a result to draw" in one.html(alone=False)
    assert data(one)["panels"] == []


def test_many_panels_are_folded_away() -> None:
    rows = [replace(row, cluster=f"c{n}") for n in range(14) for row in ROWS[:3]]
    assert "<summary>2 more panels</summary>" in section(rows).html(alone=False)


def test_facts_are_how_points_ended_where_when_and_by_which_code() -> None:
    text = facts([*rings_of_rows(), *ROWS[:1]])
    assert "<dd>5: 3 ok, 2 unsupported</dd>" in text
    assert "<dd>here (2 processors); unknown</dd>" in text
    assert "<dd>abc, unknown</dd>" in text
    assert "<dd>2026-01-01</dd>" in text
    assert counted(1, "row") == "1 row"


def test_a_section_that_is_alone_does_not_repeat_the_page() -> None:
    assert "<h2>Toys</h2>" in section(ROWS).html(alone=False)
    assert "Toys" not in section(ROWS).html(alone=True)


def test_logs_are_found_from_the_page() -> None:
    """They are in the folder of the rows, whose name may have a dot."""
    row = replace(ROWS[0], status=Status.FAILED, reason="crash", log="logs/p.log")
    for place, log in (("results/v1.2", "results/v1.2"), ("results/toy/rows.jsonl", "results/toy")):
        one = OneExperiment(1, Source(place, "toy", "Toys", (row,)))
        assert f"crash; see {log}/logs/p.log" in one.html(alone=False)
