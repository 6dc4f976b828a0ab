"""The experiments and the tables of all measures of all methods."""

from dataclasses import replace
from pathlib import Path

import pytest

from baselines import METHODS
from benchmarks.bench_measures import TOPOLOGIES, cell, table
from experiments.config.experiment import read_experiment
from experiments.config.methods import run_method
from experiments.results.rows import Row, Status
from forestcoll.schedule import cost, synchronous
from forestcoll.topology import load_topology

FOLDER = Path(__file__).parents[3]
COLLECTIVES = ("allgather", "allreduce")


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_every_method_is_measured_on_every_cluster(collective: str) -> None:
    """ForestColl and all baselines of the collective; 1, 2, 4 and 8 boxes of each kind."""
    parsed = read_experiment(FOLDER / "experiments" / "own" / f"measures-{collective}.yaml")
    assert parsed.experiment.collective == collective
    assert {point.method for point in parsed.points} == {"forestcoll", *METHODS}
    assert {point.topology for point in parsed.points} == {
        f"{family}:boxes={boxes}"
        for family in ("dgx_a100", "dgx_h100", "mi250")
        for boxes in (1, 2, 4, 8)
    }
    assert TOPOLOGIES.keys() <= {point.topology for point in parsed.points}


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(
    "method", ["direct", "recursive-halving-doubling", "bruck", "blueconnect", "forestcoll"]
)
def test_the_page_shows_the_measured_values(method: str, collective: str) -> None:
    """docs/baselines.md has both measures of these methods on two A100 boxes, the first column."""
    page = (FOLDER / "docs" / "baselines.md").read_text(encoding="utf-8")
    (block,) = (part for part in page.split("\n\n") if part.startswith(f"| {collective} | A100"))
    (line,) = (row for row in block.splitlines() if row.startswith(f"| `{method}` |"))
    assert line.split(" | ")[1] == _measured(method, collective)


def _measured(method: str, collective: str) -> str:

    topology = load_topology("dgx_a100:boxes=2")
    made, _stages = run_method(method, topology, collective, {}, 60.0, lambda stage: None)
    rates = (cost(made).algbw_gb_s, synchronous(made).algbw_gb_s)
    return " / ".join(f"{float(rate):.1f}" for rate in rates)


def a_row(method: str, topology: str, **columns: object) -> Row:
    known = {"status": Status.OK, "parameters": {}, **columns}
    return Row(
        experiment="toy", point=f"{method}-{topology}", cluster="c", topology=topology,
        collective="allgather", method=method, repetition=0, limit_s=1.0, limit_memory_gb=1.0,
        time="2026-01-01T00:00:00+00:00", **known,  # type: ignore[arg-type]
    )  # fmt: skip


def test_a_table_has_a_line_for_each_choice_of_parameters() -> None:
    """Flowing, in steps, at the finish; what a method does not do is a dash, a limit is named."""
    rates = {"algbw_gb_s": 300.0, "algbw_synchronous_gb_s": 100.04, "algbw_makespan_gb_s": 150.0}
    rows = [
        a_row("steady", "t", algbw_gb_s=300.0, algbw_synchronous_gb_s=300.0),
        a_row("steady", "u", status=Status.TIMEOUT),
        a_row("timed", "t", parameters={"chunks": 2}, **rates),
        a_row("timed", "u", parameters={"chunks": 2}, status=Status.UNSUPPORTED),
        a_row("never", "t", status=Status.UNSUPPORTED),
        a_row("never", "u", status=Status.UNSUPPORTED),
    ]
    assert table(rows, ["t", "u"]) == [
        "| allgather | t | u |",
        "|---|---|---|",
        "| `steady` | 300.0 / 300.0 | timeout |",
        "| `timed`, chunks=2 | 300.0 / 100.0 / 150.0 | – |",
    ]


def test_a_table_has_no_gaps() -> None:
    """What was not run is no dash, but an error that says what to do."""
    with pytest.raises(ValueError, match="run the experiment there first"):
        table([a_row("steady", "t", algbw_gb_s=1.0)], ["t", "u"])
    assert cell(replace(a_row("steady", "t"), status=Status.FAILED)) == "failed"
