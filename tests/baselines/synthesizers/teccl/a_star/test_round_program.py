"""The program of one round: what it may do, what it is worth."""

from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.a_star.round_program import GAMMA, Standing, write_round
from baselines.synthesizers.teccl.instance.commodities import demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork, epoch_us
from baselines.synthesizers.teccl.milp.epoch_program import (
    EpochProgram,
    Sent,
    earliest,
    write,
)
from baselines.synthesizers.teccl.milp.solvers import Effort, Outcome, solve
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import random_topology


def line(
    bandwidth: Fraction = Fraction(1), latency: int = 0, *, multicast: bool = False
) -> Topology:
    """GPU a, switch s, GPU b, one way and back; the second link is slower or later."""
    links = f"a - s, s - b: {bandwidth} {latency}"
    return network_of(f"a b [s{'*' * multicast}]", links, "line")


def of_round(
    topology: Topology,
    sent: list[Sent],
    begin: int,
    epochs: int,
    *,
    chunks: int = 1,
    crossing: str = "stored",
    last: bool = False,
) -> tuple[EpochProgram, EpochNetwork]:
    """Of a broadcast from rank 0, of chunks of an epoch."""
    network = EpochNetwork.of(topology, Fraction(1), Fraction(1), crossing)
    demand = demand_of(topology.num_compute, "broadcast", chunks, 1000 * chunks)
    ranks = range(topology.num_compute)
    far = [earliest(network, rank, backwards=True) for rank in ranks]
    standing = Standing.of(network, demand, sent, begin)
    return write_round(network, demand, standing, far, epochs, last=last), network


def test_the_value_of_a_round_counts_arrivals_and_distances() -> None:
    """Of three nodes in a row, one epoch: b has it by the first epoch, and it is one from c.

    b: 1 within the round and 1 in the look-ahead; c: gamma / 2 instead of gamma / 3.
    """
    program, _ = of_round(load_topology("torus:dims=3,wrap=false,bandwidth=1"), [], 0, 1)
    found = solve(program, "cp-sat", Effort())
    assert [chunk_epoch[::2] for chunk_epoch in found.sent] == [(0, 0)]
    assert found.value == 1 + (1 - GAMMA / 2) + GAMMA / 2 - GAMMA / 3


@pytest.mark.parametrize("multicast", [False, True])
def test_a_switch_forwards_chunks_of_the_previous_round(multicast: bool) -> None:
    topology = line(multicast=multicast)
    _, network = of_round(topology, [], 0, 1)
    arc = {arc.path: i for i, arc in enumerate(network.arcs)}
    program, _ = of_round(topology, [(0, arc[0, 2], 0)], 1, 1, last=True)
    assert solve(program, "cp-sat", Effort()).sent == ((0, arc[2, 1], 0),)
    gone = [(0, arc[0, 2], 0), (0, arc[0, 2], 1)]
    late, _ = of_round(topology, gone[:1], 2, 1, last=True)  # it was not passed on in time
    assert late.impossible or solve(late, "cp-sat", Effort()).outcome is Outcome.INFEASIBLE


@pytest.mark.parametrize(("begin", "enough"), [(1, 3), (2, 2), (3, 2)])
def test_a_link_stays_busy_over_the_border(begin: int, enough: int) -> None:
    """One that takes two epochs for a chunk got one in epoch 0; a second can go in epoch 2."""
    topology = network_of("a b", "a - b: 1/2", "pair")
    _, network = of_round(topology, [], 0, 2, chunks=2)
    (i,) = (i for i, arc in enumerate(network.arcs) if arc.path == (0, 1))
    for epochs, outcome in ((enough, Outcome.FOUND), (enough - 1, Outcome.INFEASIBLE)):
        program, _ = of_round(topology, [(0, i, 0)], begin, epochs, chunks=2, last=True)
        assert solve(program, "cp-sat", Effort()).outcome is outcome


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["directed", "bidirectional", "unbalanced"])
@pytest.mark.each_value_once
def test_a_last_round_from_the_beginning_is_the_whole_program(seed: int, kind: str) -> None:
    """Both have a solution for a number of epochs, or neither."""
    topology = random_topology(seed, kind)
    demand = demand_of(topology.num_compute, "broadcast", 1, 1000)
    epoch = epoch_us(topology, demand.chunk_kb, "slowest")
    for crossing in ("through", "stored"):
        network = EpochNetwork.of(topology, demand.chunk_kb, epoch, crossing)
        ranks = range(topology.num_compute)
        far = [earliest(network, rank, backwards=True) for rank in ranks]
        standing = Standing.of(network, demand, [], 0)
        for epochs in range(1, 6):
            whole = solve(write(network, demand, epochs), "cp-sat", Effort())
            program = write_round(network, demand, standing, far, epochs, last=True)
            assert solve(program, "cp-sat", Effort()).outcome is whole.outcome


def star() -> tuple[EpochNetwork, dict[tuple[int, ...], int]]:
    """GPUs a, b, c on a switch, a chunk an epoch, two epochs of latency from it."""
    star = network_of("a b c [s]", "a b c > s, s > a b c: 1 2", "star")
    network = EpochNetwork.of(star, Fraction(1), Fraction(1), "stored")
    return network, {arc.path: i for i, arc in enumerate(network.arcs)}


def test_chunks_in_the_air_and_in_switches() -> None:
    """From a: one copy to b, in the air for two epochs more; another that s is to pass on."""
    network, arc = star()
    demand = demand_of(3, "broadcast", 1, 1000)
    sent = [(0, arc[0, 3], 0), (0, arc[3, 1], 1), (0, arc[0, 3], 1)]
    standing = Standing.of(network, demand, sent, 2)
    assert standing.had[0].keys() == {0, 1}
    assert standing.had[0][1] == 2
    assert standing.wanting(demand) == [[2]]
    assert standing.in_air(demand) == 2
    assert standing.came == {(0, 3, -1): 1, (0, 3, 0): 1}
    assert standing.gone == {(0, 3, -1): 1}
    assert standing.busy == {(arc[0, 3], -2): 1, (arc[3, 1], -1): 1, (arc[0, 3], -1): 1}


def test_at_first_only_roots_have_anything() -> None:
    network, _ = star()
    standing = Standing.of(network, demand_of(3, "allgather", 1, 3000), [], 0)
    assert [list(had) for had in standing.had] == [[0], [1], [2]]
    assert standing.wanting(demand_of(3, "allgather", 1, 3000)) == [[1, 2], [0, 2], [0, 1]]
