"""The paper's objective, against all schedules of tiny networks; and stopped before the end."""

import itertools
from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.milp.horizon import fewest_epochs
from baselines.synthesizers.teccl.milp.reward import most_reward
from baselines.synthesizers.teccl.milp.solvers import Status
from forestcoll.errors import InfeasibleError, TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.topology import Topology
from tests.baselines.synthesizers.teccl.instances import instance

State = frozenset[tuple[int, int]]


def most_by_trying(topology: Topology, demand: Demand, epochs: int) -> Fraction:
    """Look at all that GPUs may hold after each epoch; links of a chunk an epoch, no switches."""
    place = {node: rank for rank, node in enumerate(topology.compute)}
    links = [(place[link.tail], place[link.head]) for link in topology.links]
    wanted = {(chunk, rank) for chunk, ranks in enumerate(demand.wants) for rank in ranks}
    best: dict[State, Fraction] = {frozenset(enumerate(demand.roots)): Fraction(0)}
    for epoch in range(epochs):
        following: dict[State, Fraction] = {}
        for state, value in best.items():
            choices = [
                [None, *(c for c in range(len(demand.roots)) if (c, a) in state)] for a, _ in links
            ]
            for sent in itertools.product(*choices):
                got = {(c, b) for c, (_, b) in zip(sent, links, strict=True) if c is not None}
                then = state | got
                worth = value + Fraction(len(then & wanted), epoch + 1)
                following[then] = max(worth, following.get(then, worth))
        best = following
    return max(value for state, value in best.items() if wanted <= state)


@pytest.mark.parametrize("collective", ["allgather", "broadcast", "all-to-all"])
@pytest.mark.parametrize("spec", ["ring:nodes=3,bidirectional=false", "torus:dims=3,wrap=false"])
@pytest.mark.each_value_once
def test_the_most_reward_is_that_of_all_schedules(spec: str, collective: str) -> None:
    network, demand = instance(spec, collective)
    fewest = fewest_epochs(network, demand, "cp-sat", Limits()).epochs
    for epochs in (fewest, fewest + 1) if collective != "all-to-all" else (fewest,):
        most = most_by_trying(network.topology, demand, epochs)
        for solver in ("cp-sat", "highs"):
            found = most_reward(network, demand, epochs, solver, Limits())
            assert found.value == most
            assert found.status is Status.OPTIMAL
            assert found.bound == pytest.approx(float(most))
            assert found.epochs <= epochs


def test_kept_transfers_have_the_value_of_the_solution() -> None:
    network, demand = instance("hypercube:dimension=3", "allgather")
    found = most_reward(network, demand, 4, "cp-sat", Limits())
    arrived = {(c, network.arcs[i].head): k + network.arcs[i].span + 1 for c, i, k in found.kept}
    worth = sum(Fraction(1, t) for start in arrived.values() for t in range(start, 5))
    assert worth == found.value


def test_a_hint_does_not_change_the_most() -> None:
    """Nor does one that is none: a few transfers of another schedule."""
    network, demand = instance("hypercube:dimension=3", "allgather")
    kept = fewest_epochs(network, demand, "cp-sat", Limits()).kept
    values = {
        most_reward(network, demand, 4, "cp-sat", Limits(), hint=hint).value
        for hint in ((), kept, list(kept)[::3])
    }
    assert len(values) == 1


@pytest.mark.parametrize("solver", ["cp-sat", "highs"])
def test_a_gap_is_kept_and_reported(solver: str) -> None:
    """The incumbent is within 30 % of the bound, and the bound no less than the most, 114."""
    network, demand = instance("torus:dims=3x3", "allgather")
    found = most_reward(network, demand, 4, solver, Limits(), gap=0.3)
    assert found.status in (Status.GAP, Status.OPTIMAL)
    assert found.value <= 114 <= found.bound + 1e-6
    assert found.bound <= 1.3 * float(found.value) + 1e-6
    assert (found.status is Status.OPTIMAL) is (found.value == 114)


def test_too_few_epochs_and_too_little_time() -> None:
    network, demand = instance("dgx1:nvlink_latency=0", "allgather")
    with pytest.raises(InfeasibleError, match="proved that 2 epochs are too few on dgx1"):
        most_reward(network, demand, 2, "cp-sat", Limits())
    with pytest.raises(TimeLimitError, match="no answer for 5 epochs on dgx1"):
        most_reward(network, demand, 5, "cp-sat", Limits(seconds=0))
