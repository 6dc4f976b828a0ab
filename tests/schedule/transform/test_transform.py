"""Step schedules turned round in time, put in turn, and brought to one cut of the data."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll import generate
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import (
    Allreduce,
    Chunks,
    Clock,
    Forest,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    by_shards,
    cost,
    in_steps,
    in_turn,
    lockstep,
    time_reversed,
    verify,
)
from forestcoll.schedule.clock import timed
from forestcoll.schedule.sends import TimedSend
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.random_topologies import random_topology


def line() -> Topology:
    """Three GPUs: a -> b -> c with 2 and 1 GB/s, and back with 4 and 8."""
    builder = TopologyBuilder()
    a, b, c = (builder.gpu(name) for name in "abc")
    builder.arc(a, b, 2)
    builder.arc(b, c, 1)
    builder.arc(b, a, 4)
    builder.arc(c, b, 8)
    return builder.build("line")


def direct(topology: Topology, collective: str, chunks: Chunks, sends: Sends) -> StepSchedule:
    """Transfers over the links between their ends."""
    ends = topology.ends
    pairs = set(zip(sends.tail.tolist(), sends.head.tolist(), strict=True))
    routes = Routes.from_paths({(a, b): (Path((ends[a], ends[b]), 1),) for a, b in pairs})
    return StepSchedule(topology, "by hand", collective, chunks, sends, routes)


def relay(topology: Topology) -> StepSchedule:
    """A broadcast along the line."""
    sends = Sends.of([Send(0, 0, 0, 1), Send(1, 0, 1, 2)])
    return direct(topology, "broadcast", Chunks.equal([0], whole=1), sends)


def clocked(topology: Topology, tick_us: Fraction = Fraction(1, 4)) -> StepSchedule:
    """The same with a clock for 8 kB: each transfer takes what its link asks for."""
    hops = ((0, 1), (1, 2))
    needs = [int(8 / topology.link_between[hop].bandwidth_gb_s / tick_us) for hop in hops]
    end = np.cumsum(needs, dtype=np.int64)
    return replace(relay(topology), clock=Clock(8000, tick_us, end - np.array(needs), end))


def swap(topology: Topology, ways: dict[tuple[int, int], tuple[Path, ...]]) -> StepSchedule:
    """An allgather of two GPUs, over these paths."""
    sends = Sends.of([Send(0, 0, 0, 1), Send(0, 1, 1, 0)])
    chunks = Chunks.equal([0, 1], whole=2)
    routes = Routes.from_paths(ways)
    return StepSchedule(topology, "by hand", "allgather", chunks, sends, routes)


def on_spines(*, latency: int = 0) -> tuple[Topology, dict[tuple[int, int], list[tuple[int, ...]]]]:
    """Two GPUs, two switches between them, and the ways from each to the other."""
    builder = TopologyBuilder()
    a, b = builder.gpu("a"), builder.gpu("b")
    one, two = builder.switch("one"), builder.switch("two")
    for gpu in (a, b):
        builder.link(gpu, one, 1, 1)
        builder.link(gpu, two, 1, 1 + latency)
    ways = {(0, 1): [(0, 2, 1), (0, 3, 1)], (1, 0): [(1, 2, 0), (1, 3, 0)]}
    return builder.build("two ways"), ways


def test_a_gathering_turned_round_twice_is_itself() -> None:
    """Intervals, named paths, clock and messages come back as they were."""
    net, ways = on_spines()
    both = {link: tuple(Path(way, 1) for way in some) for link, some in ways.items()}
    sends, clock = timed(
        [
            TimedSend(0, 6, 0, 0, 1, first=0, amount=2, path=1, left=2, message=0),
            TimedSend(0, 6, 0, 0, 1, first=2, amount=1, path=1, left=2, message=0),
            TimedSend(1, 4, 0, 0, 1, first=3, amount=1, path=0, left=2),
            TimedSend(0, 8, 1, 1, 0, first=0, amount=4, path=2, left=6),
        ],
        4000,
    )
    there = StepSchedule(
        net,
        "by hand",
        "allgather",
        Chunks.equal([0, 1], 8, 4),
        sends,
        Routes.from_paths(both),
        clock,
    )
    verify(there)
    back = time_reversed(there, net)
    verdict = verify(back)
    assert verdict.collective == "reduce-scatter"
    assert back.clock is not None
    assert back.clock.start.tolist() == [0, 2, 2, 4]
    assert back.clock.left is not None
    assert back.clock.left.tolist() == [6, 4, 4, 5]
    assert back.sends.path is not None
    named = [(int(t), int(p)) for t, p in zip(back.sends.tail, back.sends.path, strict=True)]
    assert named == [(0, 0), (1, 3), (1, 3), (1, 2)]
    assert time_reversed(back, net) == there


def test_an_all_to_all_backwards_brings_chunks_from_targets_to_roots() -> None:
    """Two GPUs, a half each for the other."""
    net = load_topology("complete:nodes=2")
    roots, targets = np.array([0, 1], dtype=np.int32), np.array([1, 0], dtype=np.int32)
    chunks = Chunks(np.ones(2, dtype=np.int64), 2, roots, targets)
    there = direct(net, "all-to-all", chunks, Sends.of([Send(0, 0, 0, 1), Send(1, 1, 1, 0)]))
    back = time_reversed(there, net)
    verify(back)
    assert back.chunks.root.tolist() == [1, 0]
    assert back.sends.chunk.tolist() == [1, 0]


def test_an_allreduce_is_not_turned_round() -> None:
    """Its phases are."""
    allreduce = in_turn(time_reversed(relay(line().reversed()), line()), relay(line()))
    with pytest.raises(UnsupportedError, match="turn its phases round"):
        time_reversed(allreduce, line().reversed())


def test_transfers_that_ended_together_start_together() -> None:
    """Backwards the steps number the former ends."""
    builder = TopologyBuilder()
    hub, slow, fast = (builder.gpu(name) for name in ("hub", "slow", "fast"))
    builder.link(hub, slow, 1)
    builder.link(hub, fast, 2)
    star = builder.build("star")
    sends = Sends.of([Send(0, 0, 0, 1), Send(1, 0, 0, 2)])
    schedule = direct(star, "broadcast", Chunks.equal([0], whole=1), sends)
    start = np.array([0, 1], dtype=np.int64)
    clock = Clock(2000, Fraction(1), start, np.array([2, 2], dtype=np.int64))
    reduction = time_reversed(replace(schedule, clock=clock), star)
    verify(reduction)
    assert reduction.sends.step.tolist() == [0, 0]
    assert reduction.clock is not None
    assert sorted(reduction.clock.end.tolist()) == [1, 2]


@pytest.mark.parametrize("more", [Send(2, 0, 1, 2), Send(2, 0, 1, 0)])
def test_what_is_sent_in_vain_cannot_be_turned_round(more: Send) -> None:
    """A second copy, or one to the root, would be counted twice."""
    topology = load_topology("torus:dims=3,wrap=false")
    sends = [Send(0, 0, 0, 1), Send(1, 0, 1, 2), more]
    vain = direct(topology, "broadcast", Chunks.equal([0], whole=1), Sends.of(sends))
    with pytest.raises(UnsupportedError, match="a GPU gets what it has"):
        time_reversed(vain, topology)


def test_a_sum_that_is_sent_twice_cannot_be_turned_round() -> None:
    """Of two halves of it, one may be sent in each of two steps; one unit of it not."""
    topology = load_topology("complete:nodes=2")
    chunks = Chunks.equal([0], 2, 2)
    halves = [Send(step, 0, 1, 0, reduce=True, first=step, amount=1) for step in range(2)]
    verify(time_reversed(direct(topology, "reduce", chunks, Sends.of(halves)), topology))
    twice = [halves[0], halves[1]._replace(first=0)]
    with pytest.raises(UnsupportedError, match="a GPU sends what it has sent"):
        time_reversed(direct(topology, "reduce", chunks, Sends.of(twice)), topology)


def test_clocks_of_different_ticks_are_put_together() -> None:
    """3 us back in ticks of 1/4 us, then 4 + 8 us forth in ticks of 2/3: in all 15 us."""
    reduction = time_reversed(clocked(line().reversed()), line())
    allreduce = in_turn(reduction, clocked(line(), Fraction(2, 3)))
    assert verify(allreduce).finish_s_per_gb == Fraction(15_000, 8000)
    assert allreduce.clock is not None
    assert allreduce.clock.tick_us == Fraction(1, 12)
    assert allreduce.clock.finish_us == 15


def test_clocks_keep_their_messages_and_times_of_leaving() -> None:
    """Messages of the gathering are numbered behind those of the reduction."""
    gather = clocked(line())
    assert gather.clock is not None
    message = np.array([0, -1], dtype=np.int32)
    gather = replace(gather, clock=replace(gather.clock, left=gather.clock.end, message=message))
    reduce = time_reversed(replace(gather, topology=line().reversed()), line())
    assert reduce.clock is not None
    reduce = replace(reduce, clock=replace(reduce.clock, tick_us=Fraction(1, 4)))
    both = in_turn(reduce, gather).clock
    assert both is not None
    assert both.message is not None
    assert both.left is not None
    assert both.message.tolist() == [-1, 0, 1, -1]
    assert both.left.tolist() == both.end.tolist()
    with pytest.raises(UnsupportedError, match="the other does not"):
        in_turn(reduce, clocked(line()))


def test_phases_must_fit_together() -> None:
    """The same parts of the data, clocks for the same data or none, a reduction and a gathering."""
    reduction, gather = time_reversed(relay(line().reversed()), line()), relay(line())
    far = replace(gather, chunks=Chunks.equal([1], whole=1))
    with pytest.raises(UnsupportedError, match="different parts of the data"):
        in_turn(reduction, far)
    with pytest.raises(UnsupportedError, match="different weights"):
        in_turn(reduction, replace(gather, weights=(2, 1, 1)))
    with pytest.raises(UnsupportedError, match="are no allreduce"):
        in_turn(gather, reduction)
    with pytest.raises(UnsupportedError, match="are of two networks, line and torus"):
        in_turn(reduction, relay(load_topology("torus:dims=3,wrap=false")))
    with pytest.raises(UnsupportedError, match="a clock and the other none"):
        in_turn(reduction, clocked(line()))
    later = clocked(line())
    assert later.clock is not None
    later = replace(later, clock=replace(later.clock, size_bytes=16_000))
    with pytest.raises(UnsupportedError, match="data of different sizes"):
        in_turn(time_reversed(clocked(line().reversed()), line()), later)
    many = replace(gather, chunks=Chunks.equal([0], whole=2**62 + 1, size=2**62 + 1))
    fine = replace(reduction, chunks=Chunks.equal([0], whole=2**62 - 1, size=2**62 - 1))
    with pytest.raises(UnsupportedError, match="more than 64-bit numbers count"):
        in_turn(fine, many)


def test_phases_that_cut_the_data_differently_meet_in_shards() -> None:
    """Halves and thirds of one chunk are intervals of six units; the whole stays one chunk."""
    net = load_topology("complete:nodes=2")
    halves = [Send(i, i, 1, 0, reduce=True) for i in range(2)]
    thirds = [Send(i, i, 0, 1) for i in range(3)]
    reduce = direct(net, "reduce", Chunks.equal([0, 0], 2), Sends.of(halves))
    gather = direct(net, "broadcast", Chunks.equal([0, 0, 0], 3), Sends.of(thirds))
    both = in_turn(reduce, gather)
    verify(both)
    assert both.chunks.size.tolist() == [6]
    assert both.intervals.first.tolist() == [0, 3, 0, 2, 4]
    assert both.intervals.amount.tolist() == [3, 3, 2, 2, 2]
    assert both.sends.step.tolist() == [0, 1, 2, 3, 4]


def test_shards_hold_the_chunks_of_a_root_in_order() -> None:
    """Chunks of 1, 2 and 4 units of GPUs 1, 0, 1: GPU 1's lie at 0 and 1."""
    net = load_topology("complete:nodes=2")
    chunks = replace(Chunks.equal([1, 0, 1], 10), size=np.array([1, 5, 4], dtype=np.int64))
    sends = Sends.of([Send(0, 0, 1, 0), Send(0, 1, 0, 1), Send(1, 2, 1, 0)])
    merged = by_shards(direct(net, "allgather", chunks, sends))
    verify(merged)
    assert merged.chunks.size.tolist() == [5, 5]
    assert merged.chunks.root.tolist() == [0, 1]
    assert merged.sends.chunk.tolist() == [1, 0, 1]
    assert merged.intervals.first.tolist() == [0, 0, 1]
    assert by_shards(merged) is merged


def test_phases_that_divide_a_link_differently_keep_their_shares() -> None:
    """GPU a to b: all over one switch, then 1 : 2 over both; b -> a half and half in both."""
    net, ways = on_spines()
    half = tuple(Path(way, 1) for way in ways[1, 0])
    one, two = ways[0, 1]
    gather = swap(net, {(0, 1): (Path(one, 1), Path(two, 2)), (1, 0): half})
    turned = {(1, 0): half, (0, 1): (Path(one, 3),)}
    back = {
        (b, a): tuple(Path(p.nodes[::-1], p.multiplicity) for p in some)
        for (a, b), some in turned.items()
    }
    reduce = time_reversed(swap(net, back), net)
    both = in_turn(reduce, gather)
    verify(both)
    assert both.chunks.whole == 6
    assert both.intervals.amount.tolist() == [3, 3, 1, 2, 3]
    assert both.sends.paths.tolist() == [-1, 0, 0, 1, -1]
    assert loads(both) == added(loads(reduce), loads(gather))


def test_a_clock_must_say_when_parts_of_a_transfer_leave() -> None:
    """Half of it may leave later if its path is shorter; without a word it is unclear."""
    net, ways = on_spines(latency=1)
    one, two = ways[0, 1]
    back = (Path(ways[1, 0][0], 1),)
    gather = swap(net, {(0, 1): (Path(one, 1), Path(two, 2)), (1, 0): back})
    reduce = time_reversed(swap(net, {(0, 1): (Path(one, 1),), (1, 0): back}), net)
    start = np.zeros(2, dtype=np.int64)
    clock = Clock(2000, Fraction(1), start, start + 9)
    with pytest.raises(UnsupportedError, match="say in the clock when transfers have left"):
        in_turn(replace(reduce, clock=clock), replace(gather, clock=clock))
    clock = replace(clock, left=start + 3)
    both = in_turn(replace(reduce, clock=clock), replace(gather, clock=clock))
    verify(both)
    assert both.clock is not None
    assert both.clock.start.tolist() == [0, 0, 9, 9, 9]


def loads(schedule: StepSchedule) -> list[Fraction]:
    """The part of the data over each link."""
    measured = cost(schedule)
    return [Fraction(load, measured.whole) for load in measured.loads]


def added(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    return [a + b for a, b in zip(one, other, strict=True)]


def divided_anew(schedule: StepSchedule, generator: random.Random) -> StepSchedule:
    """Every link of several paths divided at random."""
    routes = schedule.routes
    amounts = [generator.randint(1, 5) for _ in routes.multiplicity]
    return replace(schedule, routes=replace(routes, multiplicity=np.array(amounts, np.int64)))


@pytest.mark.parametrize("kind", ["directed", "bidirectional"])
@pytest.mark.parametrize("seed", range(12))
def test_an_allreduce_in_turn_loads_every_link_as_its_phases_do(kind: str, seed: int) -> None:
    """Whatever trees and paths they have; and its steps take what theirs do."""
    topology, generator = random_topology(seed, kind), random.Random(seed)
    k = (None, 1, 2, 3)[seed % 4]
    gather = generate(topology, k=k)
    reduce = generate(topology, collective="reduce-scatter")
    assert isinstance(gather, Forest)
    assert isinstance(reduce, Forest)
    plain = lockstep(Allreduce(reduce, gather))
    verify(plain)
    assert plain.num_steps == lockstep(reduce).num_steps + lockstep(gather).num_steps
    phases = [divided_anew(lockstep(phase), generator) for phase in (reduce, gather)]
    for first, then in (phases, [lockstep(reduce), lockstep(gather)]):
        both = in_turn(first, then)
        verify(both)
        assert loads(both) == added(loads(first), loads(then))
        assert in_steps(both).time_s_per_gb == sum(
            in_steps(phase).time_s_per_gb for phase in (first, then)
        )


def test_clocks_that_need_more_than_64_bits_together_are_refused() -> None:
    """Ticks of 2^-32 us and of 1 us: in the first, the second phase would begin beyond 2^63."""
    reduce, gather = (
        pair_with_clock(collective, tick, end)
        for collective, tick, end in (
            ("reduce", Fraction(1, 2**32), 2**43),
            ("broadcast", Fraction(1), 2**32 + 1),
        )
    )
    with pytest.raises(UnsupportedError, match="more than 64-bit numbers count; use ticks"):
        in_turn(reduce, gather)
    long = pair_with_clock("reduce", Fraction(1), 2**62)
    with pytest.raises(UnsupportedError, match="more than 64-bit numbers count; use ticks"):
        in_turn(long, pair_with_clock("broadcast", Fraction(1), 2**62))
    third = pair_with_clock("broadcast", Fraction(1, 3), 3000)
    made = in_turn(pair_with_clock("reduce", Fraction(1), 1000), third)
    assert verify(made).finish_s_per_gb == 2000


def pair_with_clock(collective: str, tick: Fraction, end: int) -> StepSchedule:
    """One transfer between two GPUs, of a kilobyte."""
    pair = load_topology("complete:nodes=2,bandwidth=1")
    ends = (1, 0) if collective == "reduce" else (0, 1)
    sends, clock = timed([TimedSend(0, end, 0, *ends, collective == "reduce")], 1000, tick)
    return StepSchedule(
        topology=pair,
        method="by hand",
        collective=collective,
        chunks=Chunks.equal([0], whole=1),
        sends=sends,
        routes=Routes.from_paths({ends: (Path(ends, 1),)}),
        clock=clock,
    )


def test_an_all_to_all_in_which_data_goes_astray_is_not_turned_round() -> None:
    """A GPU that gets a chunk besides would send it, backwards, to who has it."""
    complete = load_topology("complete:nodes=3")
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    chunks = Chunks(
        size=np.ones(6, dtype=np.int64),
        whole=3,
        root=np.array([a for a, _ in pairs], dtype=np.int32),
        target=np.array([b for _, b in pairs], dtype=np.int32),
    )
    rows = [Send(0, c, a, b) for c, (a, b) in enumerate(pairs)]

    def exchange(sends: list[Send]) -> StepSchedule:
        routes = Routes.from_paths({pair: (Path(pair, 1),) for pair in pairs})
        return StepSchedule(complete, "by hand", "all-to-all", chunks, Sends.of(sends), routes)

    assert verify(time_reversed(exchange(rows), complete)).collective == "all-to-all"
    astray = exchange([*rows, Send(0, 0, 0, 2)])
    verify(astray)
    with pytest.raises(UnsupportedError, match="a GPU sends what it has sent"):
        time_reversed(astray, complete)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "broadcast", "allreduce"])
def test_a_single_gpu_in_lockstep_has_nothing_to_send(collective: str) -> None:
    """And all of the data."""
    alone = load_topology("complete:nodes=2")
    alone = Topology("alone", alone.nodes[:1], ())
    root = 0 if collective == "broadcast" else None
    steps = lockstep(generate(alone, collective=collective, root=root))
    assert (verify(steps).sends, verify(steps).time_s_per_gb) == (0, 0)
