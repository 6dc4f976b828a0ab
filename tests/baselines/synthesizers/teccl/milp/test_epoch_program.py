"""The program of a number of epochs, against all schedules of tiny networks."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from baselines.synthesizers.teccl.instance.commodities import Demand, demand_of
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import EpochProgram, earliest, write
from baselines.synthesizers.teccl.milp.solvers import Effort, Outcome, solve
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import random_topology


def fewest_by_trying(topology: Topology, demand: Demand) -> int:
    """Breadth first over all that GPUs may hold, links of a chunk an epoch, no switches."""
    place = {node: rank for rank, node in enumerate(topology.compute)}
    links = [(place[link.tail], place[link.head]) for link in topology.links]
    start = frozenset(enumerate(demand.roots))
    wanted = {(chunk, rank) for chunk, ranks in enumerate(demand.wants) for rank in ranks}
    states, epochs = {start}, 0
    while not any(wanted <= state for state in states):
        following = set()
        for state in states:
            choices = [
                [None, *(c for c in range(len(demand.roots)) if (c, a) in state)] for a, _ in links
            ]
            for sent in itertools.product(*choices):
                got = {(c, b) for c, (_, b) in zip(sent, links, strict=True) if c is not None}
                following.add(state | got)
        largest = max(map(len, following))
        states = {state for state in following if len(state) >= largest - 2}
        epochs += 1
    return epochs


@pytest.mark.parametrize("collective", ["allgather", "broadcast", "all-to-all"])
@pytest.mark.parametrize(
    "spec", ["ring:nodes=3,bidirectional=false", "ring:nodes=3", "torus:dims=3,wrap=false"]
)
def test_the_fewest_epochs_are_those_of_all_schedules(spec: str, collective: str) -> None:
    topology = load_topology(spec)
    demand = demand_of(3, collective, 1, 3000)
    chunk = demand.chunk_kb
    network = EpochNetwork.of(topology, chunk, chunk / topology.links[0].bandwidth_gb_s)
    fewest = fewest_by_trying(topology, demand)
    for epochs, outcome in ((fewest - 1, Outcome.INFEASIBLE), (fewest, Outcome.FOUND)):
        for solver in ("cp-sat", "highs"):
            assert solve(write(network, demand, epochs), solver, Effort()).outcome is outcome


@pytest.mark.parametrize("seed", range(6))
def test_times_backwards_are_times_on_the_way(seed: int) -> None:
    """As long from a GPU to another, whichever end one looks from."""
    topology = random_topology(seed, "directed")
    network = EpochNetwork.of(topology, Fraction(1), Fraction(1, 3))
    gpus = range(topology.num_compute)
    there = [earliest(network, rank) for rank in gpus]
    back = [earliest(network, rank, backwards=True) for rank in gpus]
    for a, b in itertools.permutations(gpus, 2):
        assert there[a][b] == back[b][a] > 0


def test_unreachable_destinations_are_found_without_a_solver() -> None:
    network = EpochNetwork.of(load_topology("ring:nodes=7"), Fraction(1), Fraction(1))
    demand = demand_of(7, "broadcast", 1, 7000)
    assert write(network, demand, 2).impossible
    assert not write(network, demand, 3).impossible


def test_parts_of_chunks_would_be_counted_twice() -> None:
    """Figure 4: without whole numbers d3 takes one half, from d1 and from d2, for a chunk."""
    network = EpochNetwork.of(
        network_of("s a d1..3", "a d3 - d1 d2, s - a", "figure 4"), Fraction(1), Fraction(1)
    )
    demand = demand_of(5, "broadcast", 2, 2000)
    assert solve(write(network, demand, 3), "cp-sat", Effort()).outcome is Outcome.INFEASIBLE
    assert solve(write(network, demand, 4), "cp-sat", Effort()).outcome is Outcome.FOUND
    assert relaxed(write(network, demand, 3))  # but two chunks take four over s - a - d1 - d3


def relaxed(program: EpochProgram) -> bool:
    """Whether fractions of all variables satisfy the rows."""
    matrix = np.zeros((len(program.rows), program.size))
    for at, row in enumerate(program.rows):
        np.add.at(matrix[at], list(row.plus), 1)
        np.add.at(matrix[at], list(row.minus), -1)
    bound, equal = (
        np.array([getattr(row, name) for row in program.rows]) for name in ("bound", "equal")
    )
    found = linprog(
        np.zeros(program.size), matrix[~equal], bound[~equal], matrix[equal], bound[equal], (0, 1)
    )
    return not program.impossible and found.status == 0
