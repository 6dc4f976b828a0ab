"""Topologies in epochs: how long links are busy, when chunks arrive, what links carry."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import pytest

from baselines.synthesizers.teccl.cleaning import needed
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.instance.commodities import Demand, demand_of
from baselines.synthesizers.teccl.instance.epochs import Buffers, EpochNetwork, epoch_us
from baselines.synthesizers.teccl.milp.epoch_program import Sent, write
from baselines.synthesizers.teccl.milp.horizon import (
    Found,
    fewest_epochs,
    within_epochs,
    without_repeats,
)
from baselines.synthesizers.teccl.milp.solvers import Effort, Outcome, solve
from baselines.synthesizers.teccl.teccl import generate
from forestcoll.errors import (
    InfeasibleError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.limits import Limits
from forestcoll.schedule import verify
from forestcoll.topology import Topology, load_topology
from tests.baselines.once_each import in_turn
from tests.hand_networks import network_of
from tests.random_topologies import random_topology


def line(*links: tuple[Fraction | int, Fraction | int]) -> Topology:
    """GPU a, switch s, GPU b: bandwidth and latency of both links."""
    first, second = (f"{bandwidth} {latency}" for bandwidth, latency in links)
    return network_of("a b [s]", f"a - s: {first}, b - s: {second}", "line")


def test_epochs_of_the_fastest_and_the_slowest_link() -> None:
    topology = load_topology("dgx1")  # 50 and 25 GB/s, 0.7 us
    assert epoch_us(topology, Fraction(25), "fastest") == Fraction(1, 2)
    assert epoch_us(topology, Fraction(25), "slowest") == 1
    short = Fraction(1, 10)  # 0.7 us are 350 of its epochs
    assert epoch_us(topology, short, "fastest") == 5 * short / 50


def test_a_slow_link_is_busy_for_several_epochs() -> None:
    """T35: kappa = ceil(1 / (T tau)), and one chunk in any so many epochs."""
    network = EpochNetwork.of(load_topology("dgx1"), Fraction(25), Fraction(1, 2), "stored")
    kinds = {(arc.busy, arc.lag) for arc in network.arcs}
    assert kinds == {(1, 2), (2, 2)}  # ceil(0.7 / 0.5)
    for group in network.groups:
        assert (group.window, group.capacity) == (network.arcs[group.arcs[0]].busy, 1)


def test_a_fast_link_takes_several_chunks_an_epoch() -> None:
    network = EpochNetwork.of(line((10, 0), (Fraction(5, 2), 0)), Fraction(1), Fraction(2, 5))
    capacities = {network.arcs[g.arcs[0]].path: g.capacity for g in network.groups}
    assert capacities == {(0, 2): 4, (2, 0): 4, (1, 2): 1, (2, 1): 1}


@pytest.mark.parametrize(
    ("crossing", "lag", "dropped"),
    [("stored", 1, 0), ("rounded", 0, Fraction(1, 10)), ("through", 0, Fraction(1, 10))],
)
def test_latencies_of_a_tenth_of_an_epoch(crossing: str, lag: int, dropped: Fraction) -> None:
    network = EpochNetwork.of(
        line((1, Fraction(1, 10)), (1, Fraction(1, 10))), Fraction(1), Fraction(1), crossing
    )
    assert {(arc.lag, arc.dropped_us) for arc in network.arcs} == {(lag, dropped)}
    longer = EpochNetwork.of(
        line((1, Fraction(1, 9)), (1, Fraction(1, 9))), Fraction(1), Fraction(1), crossing
    )
    assert {arc.lag for arc in longer.arcs} == {1}


def test_a_chunk_goes_through_a_switch_as_fast_as_the_slower_link_lets_it() -> None:
    """Over links of one and three epochs: three epochs from end to end, either way."""
    network = EpochNetwork.of(line((3, 0), (1, 0)), Fraction(3), Fraction(1), "through")
    arc = {arc.path: arc for arc in network.arcs}
    for first, second in (((0, 2), (2, 1)), ((1, 2), (2, 0))):
        arrived = arc[first].span
        leaves = arrived + arc[second].offset
        assert leaves >= 0
        assert leaves + arc[second].span == 2
    stored = EpochNetwork.of(line((3, 0), (1, 0)), Fraction(3), Fraction(1), "stored")
    assert all(arc.offset == 1 for arc in stored.arcs)


def test_a_switch_that_receives_nothing_changes_nothing() -> None:
    """Allgathers with and without a link out of such a switch take as many epochs."""
    plain = network_of("a b c", "a b - c: 2", "plain")
    more = network_of("a b c [s]", "a b - c: 2, s > a: 3", "with a switch that receives nothing")
    least = [generate(net, size_bytes=3000, epoch="slowest") for net in (plain, more)]
    assert [verify(schedule).steps for schedule in least] == [2, 2]
    assert [schedule.clock and schedule.clock.finish_us for schedule in least] == [1, 1]


def test_switches_that_copy_hand_on_to_switches_an_epoch_later() -> None:
    """Else two of them could have a chunk from each other that nobody sent."""
    spec = "fat_tree:leaves=2,hosts=2,spines=2"
    plain = EpochNetwork.of(load_topology(spec), Fraction(1), Fraction(1))
    copying = EpochNetwork.of(load_topology(spec + ",multicast=true"), Fraction(1), Fraction(1))
    gpus = plain.topology.num_compute
    for network, between in ((plain, {0}), (copying, {1})):
        inner = {arc.offset for arc in network.arcs if min(arc.tail, arc.head) >= gpus}
        assert inner == between


def test_hyper_edges_share_the_links_of_their_switch() -> None:
    """T15: a clique, of which each GPU sends and gets one chunk an epoch."""
    network = EpochNetwork.of(
        load_topology("dgx_h100:boxes=1"), Fraction(450), Fraction(1), switches="hyper-edges"
    )
    assert {len(arc.path) for arc in network.arcs} == {3}
    assert len(network.arcs) == 8 * 7
    assert sorted(len(group.arcs) for group in network.groups) == [7] * 16
    assert {group.capacity for group in network.groups} == {1}


def test_hyper_edges_that_there_cannot_be() -> None:
    with pytest.raises(UnsupportedError, match="links are of one bandwidth, and those of s"):
        EpochNetwork.of(line((2, 0), (1, 0)), Fraction(1), Fraction(1), switches="hyper-edges")
    tree = load_topology("fat_tree:leaves=2,hosts=2,spines=2")
    with pytest.raises(UnsupportedError, match="stand for single switches"):
        EpochNetwork.of(tree, Fraction(1), Fraction(1), switches="hyper-edges")


Held = tuple[frozenset[int], ...]
"""What is at each GPU."""


def hub(leaves: int) -> Topology:
    near = " ".join("abc"[:leaves])
    return network_of(f"hub {near}", f"hub - {near}", "hub")


def instance(topology: Topology, few: Buffers | None, collective: str = "allgather"):
    demand = demand_of(topology.num_compute, collective, 1, 1000 * topology.num_compute)
    chunk = demand.chunk_kb
    epoch = chunk / topology.links[0].bandwidth_gb_s
    return EpochNetwork.of(topology, chunk, epoch, buffers=few), demand


def kept_parts(there: Held, slots: int) -> Iterator[Held]:
    """All that could be left when chunks are dropped; more is never worse."""
    ways = [itertools.combinations(sorted(at), min(slots, len(at))) for at in there]
    yield from (tuple(map(frozenset, way)) for way in itertools.product(*ways))


def fewest_by_trying(network: EpochNetwork, demand: Demand, few: Buffers) -> int:
    """Breadth first; what is there when an epoch begins, and who has read what."""
    links = [arc.path for arc in network.arcs]
    wanted = {(c, rank) for c, ranks in enumerate(demand.wants) for rank in ranks}
    own = [frozenset(c for c, r in enumerate(demand.roots) if r == n) for n in range(network.nodes)]
    states: set[tuple[Held, frozenset[tuple[int, int]]]] = {(tuple(own), frozenset())}
    for epochs in itertools.count(1):
        following = set()
        for there, done in states:
            for kept in kept_parts(there, few.slots):
                source = kept if few.kept else there
                for sent in itertools.product(*(sorted(source[a]) or [None] for a, _ in links)):
                    come = [set(at) for at in kept]
                    for chunk, (_, b) in zip(sent, links, strict=True):
                        if chunk is not None:
                            come[b].add(chunk)
                    got = {(c, b) for c, (_, b) in zip(sent, links, strict=True)} & wanted
                    following.add((tuple(map(frozenset, come)), done | got))
        if any(wanted <= done for _, done in following):
            return epochs
        states = following
    raise AssertionError


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize(
    "topology",
    [hub(2), load_topology("ring:nodes=3,bidirectional=false"), load_topology("ring:nodes=3")],
    ids=lambda topology: topology.name,
)
def test_the_fewest_epochs_are_those_of_all_ways_to_hold(
    topology: Topology, slots: int, kept: bool
) -> None:
    few = Buffers(slots, kept=kept)
    network, demand = instance(topology, few)
    fewest = fewest_by_trying(network, demand, few)
    for solver in ("cp-sat", "highs"):
        found = fewest_epochs(network, demand, solver, Limits(seconds=60))
        assert found.epochs == found.bound == fewest
        check_slots(network, demand, few, list(found.kept))


def check_slots(network: EpochNetwork, demand: Demand, few: Buffers, sent: list[Sent]) -> None:
    """Whatever is sent is held from when it last came, and nobody holds more than there are slots.

    In the printed reading what is sent in an epoch needs no slot in that epoch itself.
    """
    holds: dict[tuple[int, int], set[int]] = {}
    for chunk, i, epoch in sent:
        node = network.arcs[i].tail
        if not network.holds(node):
            continue
        came = [
            k + network.arcs[j].span + 1
            for c, j, k in sent
            if c == chunk and network.arcs[j].head == node
        ]
        came += [0] if demand.roots[chunk] == node else []
        last = max(time for time in came if time <= epoch)
        for time in range(last, epoch + few.kept):
            holds.setdefault((node, time), set()).add(chunk)
    assert max(map(len, holds.values()), default=0) <= few.slots


def test_a_hub_of_four_with_one_slot() -> None:
    """Three epochs if what is sent on at once takes no slot; else three are too few."""
    for kept, outcome in ((False, Outcome.FOUND), (True, Outcome.INFEASIBLE)):
        network, demand = instance(hub(3), Buffers(1, kept=kept))
        for solver in ("cp-sat", "highs"):
            assert solve(write(network, demand, 3), solver, Effort()).outcome is outcome
    assert fewest_epochs(network, demand, "cp-sat", Limits()).epochs == 4


@pytest.mark.parametrize("collective", ["allgather", "broadcast", "all-to-all"])
@pytest.mark.parametrize("buffering", ["passing", "kept"])
@pytest.mark.each_value_once
def test_fewer_slots_are_never_faster_and_many_are_as_good_as_any_number(
    collective: str, buffering: str
) -> None:
    topology = load_topology("torus:dims=4,wrap=false")
    finish = []
    for slots in (0, 100, 5, 4, 3):
        whole = collective == "all-to-all"
        schedule = generate(topology, collective, buffer=slots, buffering=buffering, milp=whole)
        verify(schedule)
        assert schedule.clock is not None
        finish.append(schedule.clock.finish_us)
    assert finish[0] == finish[1]
    assert finish[1:] == sorted(finish[1:])


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_storing_switches_have_buffer_slots(kept: bool, again: bool) -> None:
    """A switch that multicasts and stores has slots too; one without a buffer needs none."""
    for switch in ("[s*+]", "[s*]", "[s]"):
        few = Buffers(1, kept=kept, again=again)
        network, demand = instance(network_of(f"{switch} a b c", "a b c - s", "star"), few)
        found = fewest_epochs(network, demand, "cp-sat", Limits(seconds=60))
        assert found.epochs == found.bound
        check_slots(network, demand, few, list(found.kept))


def test_needless_repeats_are_left_out() -> None:
    """In a line the second gets a chunk twice, for itself and to pass it on."""
    network, demand = instance(network_of("a b c", "a > b, b > c", "line"), Buffers(1), "broadcast")
    arc = {arc.path: i for i, arc in enumerate(network.arcs)}
    sent = ((0, arc[0, 1], 0), (0, arc[0, 1], 1), (0, arc[1, 2], 2))
    kept = needed(network, demand, sent)
    assert kept == dict.fromkeys(sent)
    once = without_repeats(network, demand, Found(kept, 3, 2), "cp-sat", Limits())
    assert len(once) == 2
    assert {send[:2] for send in once} == {(0, arc[0, 1]), (0, arc[1, 2])}
    late = without_repeats(network, demand, Found(kept, 3, 2), "cp-sat", Limits(seconds=0))
    assert set(late) == {sent[0], sent[2]}  # the second time is left out
    free = replace(network, buffers=None)
    assert without_repeats(free, demand, Found(kept, 3, 2), "cp-sat", Limits()) is kept


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"buffer": -1}, "buffer is -1; it must be 0 or more"),
        ({"buffer": 1, "chunks": 2}, "buffer is 1; a GPU has 2 chunks of its own"),
        ({"buffering": "held"}, "buffering is 'held'; it must be passing or kept"),
    ],
)
def test_slots_that_there_cannot_be(asked: dict[str, int | str], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        generate(load_topology("ring:nodes=3"), **asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("collective", ["reduce-scatter", "reduce", "allreduce"])
def test_reductions_have_no_slots(collective: str) -> None:
    with pytest.raises(
        UnsupportedError, match=f"buffer is for what is copied, not for {collective}"
    ):
        generate(load_topology("ring:nodes=3"), collective, buffer=4)


def of_a_random_network(seed: int, kind: str, few: Buffers, crossing: str):
    topology = random_topology(seed, kind)
    demand = demand_of(topology.num_compute, "allgather", 1, 10**6)
    epoch = epoch_us(topology, demand.chunk_kb, "slowest")
    return EpochNetwork.of(topology, demand.chunk_kb, epoch, crossing, buffers=few), demand


@pytest.mark.parametrize(
    ("seed", "kept", "crossing"), in_turn([61, 63, 65, 68], [True, False], ["through", "stored"])
)
@pytest.mark.each_value_once
def test_slots_are_kept_on_random_networks(seed: int, kept: bool, crossing: str) -> None:
    few = Buffers(1, kept=kept)
    network, demand = of_a_random_network(seed, "directed", few, crossing)
    if len(demand.roots) < 2:
        return
    with suppress(TimeLimitError):
        found = fewest_epochs(network, demand, "cp-sat", Limits(seconds=1))
        check_slots(network, demand, few, list(found.kept))
        once = without_repeats(network, demand, found, "cp-sat", Limits(seconds=1))
        verify(schedule_of(network, demand, once, "allgather", 10**6))


def test_a_network_with_a_necessary_repeat_is_solved_with_it() -> None:
    """Five epochs with repeats, more without: then they are left out of the schedule."""
    network, demand = of_a_random_network(26, "directed", Buffers(1), "stored")
    found = fewest_epochs(network, demand, "cp-sat", Limits())
    assert found.epochs == found.bound == 5
    strict = replace(network, buffers=Buffers(1, again=False))
    with pytest.raises(InfeasibleError):
        within_epochs(strict, demand, 5, "cp-sat", Limits())
    once = without_repeats(network, demand, found, "cp-sat", Limits())
    assert set(once) < set(found.kept)
    verify(schedule_of(network, demand, once, "allgather", 10**6))
