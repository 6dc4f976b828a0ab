"""A section: facts, figures with one legend, what had no result."""

from dataclasses import replace

from experiments.report.experiment_section import Section, facts
from experiments.report.sources import Source
from experiments.results.rows import Row, Status
from tests.experiments.samples import clusters_of_rows, rings_of_rows

ROWS = clusters_of_rows()


def section(rows: list[Row], place: str = "results/toy") -> Section:
    return Section(Source(place, "toy", "Toys", tuple(rows)))


def test_every_trace_belongs_to_an_entry_of_the_legend() -> None:
    """The entry has the colours, for a light ground and a dark one; texts are kept once."""
    one = section(ROWS)
    drawn = one.data()
    assert [[entry.light, entry.dark] for entry in one.legend] == drawn["colours"]
    assert sum(len(chart.plots) for chart in one.charts) == len(drawn["panels"])
    for panel in drawn["panels"]:
        assert len(panel["entries"]) == len(panel["traces"])
        assert max(panel["entries"]) < len(one.legend)
        for trace in panel["traces"]:
            assert max(trace["customdata"]) < len(drawn["texts"])
    assert len(set(drawn["texts"])) == len(drawn["texts"])


def test_losses_are_listed_and_named_in_the_legend() -> None:
    """One that never has a result says so there."""
    one = section(rings_of_rows())
    assert len(one.losses) == 2
    assert "unsupported: multitree on ring:nodes=3: no" in one.losses
    assert "multitree: unsupported" in [entry.words for entry in one.legend]


def test_rows_without_any_success_have_no_panel() -> None:
    one = section([replace(row, status=Status.FAILED, reason="crash") for row in ROWS])
    assert one.charts == []
    assert one.data()["panels"] == []


def test_facts_are_how_points_ended_where_when_and_by_which_code() -> None:
    assert facts([*rings_of_rows(), *ROWS[:1]]) == {
        "Rows": "5: 3 ok, 2 unsupported",
        "Machines": "here (2 processors); unknown",
        "Commits": "abc, unknown",
        "Run": "2026-01-01",
    }


def test_logs_are_found_from_the_page() -> None:
    """They are in the folder of the rows, whose name may have a dot."""
    row = replace(ROWS[0], status=Status.FAILED, reason="crash", log="logs/p.log")
    for place, log in (("results/v1.2", "results/v1.2"), ("results/toy/rows.jsonl", "results/toy")):
        (loss,) = section([row], place).losses
        assert f"crash; see {log}/logs/p.log" in loss
