"""The schedules that are kept are proved, and optimal."""

import pytest

from baselines.direct_connect.bfb.found import SEARCHED, schedule_of
from forestcoll.schedule import verify
from forestcoll.schedule.cost_model import synchronous
from forestcoll.topology import load_topology


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("spec", SEARCHED)
def test_what_is_kept_is_valid_and_bandwidth_optimal(spec: str, reverse: bool) -> None:
    """(N - 1) / N M / B, in the steps of table 9."""
    topology = load_topology(spec)
    topology = topology.reversed() if reverse else topology
    made = schedule_of(topology)
    assert made is not None
    verify(made)
    nodes = topology.num_compute
    assert made.topology == topology
    assert made.num_steps == SEARCHED[spec][1]
    assert synchronous(made).time_s_per_gb * topology.egress_gb_s[0] * nodes == nodes - 1


def test_nothing_is_kept_of_others() -> None:
    assert schedule_of(load_topology("ring:nodes=4")) is None
