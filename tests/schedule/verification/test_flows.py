"""Flow schedules: what verify accepts, and what it refuses."""

from dataclasses import replace

import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import FlowSchedule, Path, Routes, verify
from forestcoll.topology import Node, NodeKind, Topology, load_topology
from tests.schedule.made.flows import FLOWS, switched
from tests.schedule.mutations_of.flows import FLOW_MUTATIONS


def test_a_single_gpu_has_nothing_to_send():
    topology = Topology("alone", load_topology("ring:nodes=2").nodes[:1], ())
    verdict = verify(FlowSchedule(topology, "by hand", 1, Routes.from_paths({})))
    assert (verdict.deliveries, verdict.time_s_per_gb, verdict.algbw_gb_s) == (0, 0, None)


def test_a_relay_forwards_but_takes_no_part():
    """The middle of three GPUs in a line is outside the group."""
    line = load_topology("torus:dims=3,wrap=false")
    nodes = (line.nodes[0], replace(line.nodes[1], kind=NodeKind.RELAY), line.nodes[2])
    topology = Topology("line", nodes, line.links)
    routes = Routes.from_paths({(0, 1): [Path((0, 1, 2), 1)], (1, 0): [Path((2, 1, 0), 1)]})
    assert verify(FlowSchedule(topology, "by hand", 1, routes)).deliveries == 2


@pytest.mark.parametrize("mutate", FLOW_MUTATIONS)
@pytest.mark.parametrize("name", FLOWS)
def test_a_spoiled_schedule_is_refused(name: str, mutate) -> None:
    with pytest.raises(VerificationError, match=FLOW_MUTATIONS[mutate]):
        verify(mutate(FLOWS[name]()))


def test_a_schedule_without_a_gpu_is_refused():
    """Of no GPU nothing can be said; a topology of a switch alone is such."""
    switch = Topology("switch", (Node("w", NodeKind.SWITCH),), ())
    with pytest.raises(VerificationError, match="switch has no GPU"):
        verify(FlowSchedule(switch, "by hand", 1, Routes.from_paths({})))


def test_flows_say_who_made_them():
    for method in ("", 7):
        made = replace(switched(), method=method)
        with pytest.raises(VerificationError, match="printable name of who made"):
            verify(made)
