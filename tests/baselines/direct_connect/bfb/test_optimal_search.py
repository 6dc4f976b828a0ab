"""The search finds what there is, and proves where there is nothing."""

import pytest

from baselines.direct_connect.bfb.optimal_search import SEARCHED, bandwidth_optimal, stored_schedule
from forestcoll.errors import InfeasibleError, TimeLimitError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.schedule.cost_model import synchronous
from forestcoll.topology import load_topology


@pytest.mark.parametrize(
    ("spec", "steps", "pieces"),
    [("ring:nodes=4", 2, 2), ("complete_bipartite:degree=2", 2, 2), ("diamond", 3, 2)],
)
def test_schedules_are_valid_and_as_fast_as_any(spec: str, steps: int, pieces: int) -> None:
    topology = load_topology(spec)
    made = bandwidth_optimal(topology, steps, pieces)
    verify(made)
    nodes = topology.num_compute
    assert made.num_steps == steps
    assert synchronous(made).time_s_per_gb * topology.egress_gb_s[0] * nodes == nodes - 1


def test_missing_schedules_are_proved_infeasible() -> None:
    """Three shards over two links do not go without halves; nor around a ring in one step."""
    for steps, pieces in ((2, 1), (1, 2)):
        with pytest.raises(InfeasibleError, match="has no bandwidth-optimal allgather"):
            bandwidth_optimal(load_topology("ring:nodes=4"), steps, pieces)


def test_networks_that_differ_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="has switches"):
        bandwidth_optimal(load_topology("dgx_a100:boxes=1"), 1, 1)
    with pytest.raises(UnsupportedError, match="differ in degree"):
        bandwidth_optimal(load_topology("de_bruijn:degree=2,length=2"), 2, 2)


def test_a_limit_is_kept() -> None:
    topology = load_topology("modified_de_bruijn:degree=4,length=2")
    with pytest.raises(TimeLimitError, match="nothing was found"):
        bandwidth_optimal(topology, 3, 4, Limits(seconds=0.001))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("spec", SEARCHED)
def test_stored_schedules_are_valid_and_bandwidth_optimal(spec: str, reverse: bool) -> None:
    """(N - 1) / N M / B, in the steps of table 9."""
    topology = load_topology(spec)
    topology = topology.reversed() if reverse else topology
    made = stored_schedule(topology)
    assert made is not None
    verify(made)
    nodes = topology.num_compute
    assert made.topology == topology
    assert made.num_steps == SEARCHED[spec][1]
    assert synchronous(made).time_s_per_gb * topology.egress_gb_s[0] * nodes == nodes - 1


def test_nothing_is_kept_of_others() -> None:
    assert stored_schedule(load_topology("ring:nodes=4")) is None
