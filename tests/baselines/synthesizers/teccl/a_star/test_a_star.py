"""Schedules by rounds: proved like any, never below what is possible, and how near to it."""

from contextlib import suppress
from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.a_star import a_star
from baselines.synthesizers.teccl.a_star.a_star import by_rounds, shortest_round
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.horizon import fewest_epochs, least_epochs
from baselines.synthesizers.teccl.milp.solvers import Answer, Outcome, solve
from forestcoll.errors import InvalidParameterError, TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.topology import Topology, TopologyBuilder
from tests.baselines.synthesizers.teccl.instances import instance
from tests.random_topologies import random_topology, seeds

SIZE = 10**6


def epochs_by_rounds(network: EpochNetwork, demand: Demand, epochs: int, **asked: object) -> int:
    """Prove what rounds find, and return the epochs that it takes, by the clock too."""
    solver, gap = str(asked.get("solver", "cp-sat")), float(str(asked.get("gap", 0.0)))
    found = by_rounds(network, demand, epochs, solver, Limits(), gap)
    collective = str(asked.get("collective", "allgather"))
    size = int(demand.chunk_kb * demand.chunks.whole * 1000)
    schedule = schedule_of(network, demand, found.kept, collective, size)
    verify(schedule)
    assert schedule.clock is not None
    assert schedule.clock.finish_us >= found.epochs * network.epoch_us
    return found.epochs


@pytest.mark.parametrize(
    ("spec", "short", "most"),
    [
        ("dgx1:nvlink_latency=0", 2, 4),
        ("dgx1", 3, 5),
        ("ring:nodes=6", 1, 3),
        ("ring:nodes=7,bidirectional=false", 2, 6),
        ("hypercube:dimension=3", 1, 3),
        ("hypercube:dimension=3", 2, 3),
        ("torus:dims=3x3", 1, 3),
        pytest.param("paper_example", 10, 13, marks=pytest.mark.slow),
    ],
)
def test_rounds_take_the_fewest_epochs_or_few_more(spec: str, short: int, most: int) -> None:
    """Never fewer; the fewest if one round has enough of them."""
    network, demand = instance(spec, "allgather")
    fewest = fewest_epochs(network, demand, "cp-sat", Limits())
    assert fewest.epochs == fewest.bound
    assert fewest.epochs <= epochs_by_rounds(network, demand, short) <= most
    enough = max(fewest.epochs, shortest_round(network))
    for epochs in (enough, enough + 2):
        assert epochs_by_rounds(network, demand, epochs) == fewest.epochs


@pytest.mark.parametrize(
    ("spec", "epochs", "taken"),
    [("dgx2:chassis=2,multicast=true", 2, 4), ("ndv2:chassis=2", 2, 10)],
)
def test_two_chassis_come_close_to_the_milp(spec: str, epochs: int, taken: int) -> None:
    """1 GB; switches that multicast, then switches that do not."""
    network, demand = instance(spec, "allgather", epoch="slowest", size_bytes=10**9)
    assert taken <= epochs_by_rounds(network, demand, epochs) <= taken + 1


@pytest.mark.parametrize("kind", ["directed", "bidirectional", "unbalanced"])
@pytest.mark.parametrize("seed", seeds(14, 4))
@pytest.mark.each_value_once
def test_random_networks_verify(seed: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Switches of both kinds, links of many epochs, latencies; chunks from one GPU or from all."""
    monkeypatch.setattr(a_star, "_WORK", 0.2)
    monkeypatch.setattr(a_star, "_LAST_WORK", 0.1)
    topology = with_latencies(random_topology(seed, kind), seed)
    crossing = ("through", "stored", "rounded")[seed % 3]
    for collective, epoch in (("broadcast", "fastest"), ("allgather", "slowest")):
        network, demand = instance(topology, collective, crossing=crossing, epoch=epoch)
        short = shortest_round(network)
        if short > 60:  # a link much slower than the fastest: seconds a round
            continue
        taken = epochs_by_rounds(network, demand, short, collective=collective)
        assert taken >= least_epochs(network, demand)
        with suppress(TimeLimitError):
            assert taken >= fewest_epochs(network, demand, "cp-sat", Limits(seconds=0.3)).bound


def with_latencies(topology: Topology, seed: int) -> Topology:
    """Give some links a latency, and every other switch the gift to copy."""
    builder = TopologyBuilder()
    for i, node in enumerate(topology.nodes):
        if i in topology.switches:
            builder.switch(node.name, multicast=(seed + i) % 2 == 0)
        else:
            builder.gpu(node.name)
    for i, link in enumerate(topology.links):
        names = (topology.nodes[link.tail].name, topology.nodes[link.head].name)
        builder.arc(*names, link.bandwidth_gb_s, Fraction(SIZE * ((seed + i) % 4), 10**5))
    return builder.build(topology.name)


def test_highs_finds_rounds_too() -> None:
    network, demand = instance("hypercube:dimension=3", "allgather")
    assert epochs_by_rounds(network, demand, 1, solver="highs", gap=0.3) == 3


def test_an_all_to_all_by_rounds() -> None:
    network, demand = instance("ring:nodes=5", "all-to-all")
    fewest = fewest_epochs(network, demand, "cp-sat", Limits()).epochs
    assert epochs_by_rounds(network, demand, 2, collective="all-to-all") >= fewest


def test_a_round_without_progress_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a solver that would rather send nothing: something must arrive then."""
    forced = []

    def lazy(program, solver, effort):
        if program.objective is None:
            return Answer(Outcome.OPEN)
        if any(row.bound < 0 for row in program.rows):
            forced.append(program.epochs)
            return solve(program, solver, effort)
        return Answer(Outcome.FOUND)

    monkeypatch.setattr(a_star, "solve", lazy)
    network, demand = instance("torus:dims=5,wrap=false", "allgather")
    assert epochs_by_rounds(network, demand, 1) >= 4
    assert set(forced) == {5}  # a window of one, and the four of the longest way


def test_short_rounds_and_time_limits_are_refused() -> None:
    network, demand = instance("paper_example", "allgather")
    with pytest.raises(InvalidParameterError, match="round_epochs is 9; it must be 10 or more"):
        by_rounds(network, demand, 9, "cp-sat", Limits())
    with pytest.raises(TimeLimitError, match="the round that begins with epoch 0 on paper"):
        by_rounds(network, demand, 10, "cp-sat", Limits(seconds=0))
