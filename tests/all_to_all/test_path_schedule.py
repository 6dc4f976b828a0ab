"""Flows made schedules."""

import pytest

from forestcoll.all_to_all.concurrent_flow import approximate_flow
from forestcoll.all_to_all.flow_problem import flow_problem
from forestcoll.all_to_all.linear_optimum import all_to_all_rate
from forestcoll.all_to_all.path_schedule import largest_remainders, schedule_of
from forestcoll.errors import (
    DisconnectedError,
    InvalidParameterError,
)
from forestcoll.schedule import verify
from forestcoll.topology import (
    cartesian_power,
    load_topology,
)
from tests.all_to_all.rates import (
    SETTINGS,
    optimum,
)
from tests.hand_networks import network_of


def test_an_approximate_flow_becomes_a_schedule() -> None:
    topology = cartesian_power(load_topology("modified_de_bruijn:degree=2,length=2"), 2)
    near = approximate_flow(flow_problem(topology), eps=0.02, seconds=60)
    verdict = verify(schedule_of(near))
    assert float(1 / verdict.congestion) >= near.bound_gb_s * (1 - 0.021)


@pytest.mark.parametrize(
    ("shares", "weights"),
    [((1.0, 1.0, 1.0), [4, 3, 3]), ((1e-9, 1.0), [0, 10]), ((3.0,), [10]), ((0.1, 0.9), [1, 9])],
)
def test_shares_are_rounded_to_the_whole(shares, weights) -> None:
    assert largest_remainders(shares, 10) == weights


@pytest.mark.parametrize("whole", [1, 3, 10])
def test_schedules_of_a_coarse_whole_have_its_higher_cost(whole: int) -> None:
    """A square of 4 has two ways across: 1/2 each, which only even wholes divide."""
    found = optimum(load_topology("ring:nodes=4"))
    verdict = verify(schedule_of(found, whole=whole))
    assert (verdict.congestion == 2) == (whole == 10)
    assert verdict.congestion >= 2
    with pytest.raises(InvalidParameterError, match="positive"):
        schedule_of(found, whole=0)


def test_a_demand_without_a_path_is_refused() -> None:
    topology = network_of("a b", "a > b", "one way")
    with pytest.raises(DisconnectedError, match="b has 1 for a but no path"):
        all_to_all_rate(topology, settings=SETTINGS)
    one_way = optimum(topology, amount=[[0, 1], [0, 0]])
    assert one_way.rate_gb_s == pytest.approx(1)
