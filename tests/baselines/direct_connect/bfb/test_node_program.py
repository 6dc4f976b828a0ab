"""The linear programs of the paper, and the same times by flows."""

import pytest

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.direct_connect.bfb.node_program import NodePrograms
from forestcoll.topology import load_topology
from tests.baselines.direct_connect.bfb.networks import random_network
from tests.hand_networks import network_of
from tests.random_topologies import seeds


@pytest.mark.first_rows(4)
@pytest.mark.parametrize("num_bytes", [0, 100_000])
@pytest.mark.parametrize("seed", seeds(30, 15))
@pytest.mark.each_value_once
def test_every_program_has_the_value_that_the_flows_have(seed: int, num_bytes: int) -> None:
    """(1), and (14) with links that stay idle: all GPUs and steps, to 1e-7."""
    network = BroadcastNetwork.of(random_network(seed, latencies=num_bytes > 0), num_bytes)
    programs = NodePrograms.of(network)
    times = broadcast_times(network, Alike.none(network.topology.num_compute))
    assert programs.steps == len(times.longest)
    for row, rank in enumerate(times.rank.tolist()):
        for step in range(programs.steps):
            assert programs.time(rank, step) == pytest.approx(float(times.at(row, step)), rel=1e-7)


def test_the_second_example_of_figure_5() -> None:
    """Two sources over three links, of which the middle one serves both: 2/3."""
    network = BroadcastNetwork.of(
        network_of(
            "v1@.0 v2@.1 w1@.2 w2@.3 w3@.4 u@.5",
            "v1 > w1 w2, v2 > w2 w3, w1..3 > u, u > v1 v2",
            "figure 5",
        )
    )
    u = 5
    assert NodePrograms.of(network).time(u, 1) == pytest.approx(2 / 3)


def test_a_step_that_brings_nothing_takes_no_time() -> None:
    network = BroadcastNetwork.of(load_topology("complete:nodes=4"))
    assert NodePrograms.of(network).time(0, 1) == 0
