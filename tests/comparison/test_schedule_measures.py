"""The figures of schedules of all kinds."""

from fractions import Fraction

import pytest

from baselines.registry import METHODS
from forestcoll import generate
from forestcoll.comparison.schedule_measures import measured
from forestcoll.core.assembly import expand
from forestcoll.schedule import cost, synchronous
from forestcoll.topology import load_topology


def test_figures_of_a_factored_forest_are_those_of_its_trees() -> None:
    """Except the steps, which it lacks."""
    whole = generate(load_topology("dgx_a100:boxes=2"), factored=True).schedule
    folded, written = measured(whole), measured(expand(whole))
    assert (folded.kind, written.kind) == ("FactoredForest", "Forest")
    for name in ("k", "trees", "distinct_trees", "depth", "algbw_gb_s", "at_most_gb_s", "loads"):
        assert getattr(folded, name) == getattr(written, name)
    assert folded.steps is None
    assert written.steps == written.depth == 2


def test_loads_are_shares_of_the_data_by_name() -> None:
    """The busiest link takes as long as the cost says; a ring of 3 sends 2/3 over it each way."""
    schedule = generate(load_topology("ring:nodes=3"), collective="allreduce").schedule
    found, taken = measured(schedule), cost(schedule)
    slowest = max(
        found.loads[schedule.topology.nodes[e.tail].name, schedule.topology.nodes[e.head].name]
        / e.bandwidth_gb_s
        for e in schedule.topology.links
    )
    assert slowest == taken.time_s_per_gb == 1 / found.algbw_gb_s
    assert found.kind == "Allreduce of Forest"
    assert len(found.k) == 2
    assert found.synchronous_gb_s == synchronous(schedule).algbw_gb_s


def test_steps_and_flows_have_no_trees() -> None:
    ring = load_topology("ring:nodes=4")
    steps = measured(METHODS["bruck"].run(ring, "allgather"))
    assert (steps.kind, steps.collective) == ("StepSchedule", "allgather")
    assert steps.steps == 2
    assert (steps.k, steps.trees, steps.depth, steps.at_most_gb_s) == (None,) * 4


@pytest.mark.parametrize("collective", ["allgather", "allreduce", "broadcast"])
def test_a_single_gpu_sends_nothing(collective: str) -> None:
    alone = load_topology("ring:nodes=3").without("gpu1").without("gpu2")
    root = {"root": 0} if collective == "broadcast" else {}
    found = measured(generate(alone, collective=collective, **root).schedule)
    assert found.algbw_gb_s is None
    assert set(found.loads.values()) <= {Fraction(0)}
