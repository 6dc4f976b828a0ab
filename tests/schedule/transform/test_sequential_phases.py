"""A reduction, and then a gathering of its sums."""

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
    StepSchedule,
    cost,
    lockstep,
    sequential,
    synchronous,
    time_reversed,
    verify,
)
from forestcoll.schedule.clock import timed
from forestcoll.schedule.sends import TimedSend
from forestcoll.topology import load_topology
from tests.random_topologies import random_topology
from tests.schedule.transform.schedules import clocked, line, on_spines, relay, swap


def test_clocks_of_different_ticks_are_put_together() -> None:
    """3 us back in ticks of 1/4 us, then 4 + 8 us forth in ticks of 2/3: in all 15 us."""
    reduction = time_reversed(clocked(line().reversed()), line())
    allreduce = sequential(reduction, clocked(line(), Fraction(2, 3)))
    assert verify(allreduce).makespan_s_per_gb == Fraction(15_000, 8000)
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
    both = sequential(reduce, gather).clock
    assert both is not None
    assert both.message is not None
    assert both.left is not None
    assert both.message.tolist() == [-1, 0, 1, -1]
    assert both.left.tolist() == both.end.tolist()
    with pytest.raises(UnsupportedError, match="the other does not"):
        sequential(reduce, clocked(line()))


def test_phases_must_fit_together() -> None:
    """The same parts of the data, clocks for the same data or none, a reduction and a gathering."""
    reduction, gather = time_reversed(relay(line().reversed()), line()), relay(line())
    far = replace(gather, chunks=Chunks.equal([1], whole=1))
    with pytest.raises(UnsupportedError, match="different parts of the data"):
        sequential(reduction, far)
    with pytest.raises(UnsupportedError, match="different weights"):
        sequential(reduction, replace(gather, weights=(2, 1, 1)))
    with pytest.raises(UnsupportedError, match="are no allreduce"):
        sequential(gather, reduction)
    with pytest.raises(UnsupportedError, match="are of two networks, line and torus"):
        sequential(reduction, relay(load_topology("torus:dims=3,wrap=false")))
    with pytest.raises(UnsupportedError, match="a clock and the other none"):
        sequential(reduction, clocked(line()))
    later = clocked(line())
    assert later.clock is not None
    later = replace(later, clock=replace(later.clock, size_bytes=16_000))
    with pytest.raises(UnsupportedError, match="data of different sizes"):
        sequential(time_reversed(clocked(line().reversed()), line()), later)
    many = replace(gather, chunks=Chunks.equal([0], whole=2**62 + 1, size=2**62 + 1))
    fine = replace(reduction, chunks=Chunks.equal([0], whole=2**62 - 1, size=2**62 - 1))
    with pytest.raises(UnsupportedError, match="more than 64-bit numbers count"):
        sequential(fine, many)


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
    both = sequential(reduce, gather)
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
        sequential(replace(reduce, clock=clock), replace(gather, clock=clock))
    clock = replace(clock, left=start + 3)
    both = sequential(replace(reduce, clock=clock), replace(gather, clock=clock))
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
@pytest.mark.each_value_once
def test_an_allreduce_in_turn_loads_every_link_as_its_phases_do(kind: str, seed: int) -> None:
    """Whatever trees and paths they have; and its steps take what theirs do."""
    topology, generator = random_topology(seed, kind), random.Random(seed)
    k = (None, 1, 2, 3)[seed % 4]
    gather = generate(topology, k=k).schedule
    reduce = generate(topology, collective="reduce-scatter").schedule
    assert isinstance(gather, Forest)
    assert isinstance(reduce, Forest)
    plain = lockstep(Allreduce(reduce, gather))
    verify(plain)
    assert plain.num_steps == lockstep(reduce).num_steps + lockstep(gather).num_steps
    phases = [divided_anew(lockstep(phase), generator) for phase in (reduce, gather)]
    for first, then in (phases, [lockstep(reduce), lockstep(gather)]):
        both = sequential(first, then)
        verify(both)
        assert loads(both) == added(loads(first), loads(then))
        assert synchronous(both).time_s_per_gb == sum(
            synchronous(phase).time_s_per_gb for phase in (first, then)
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
        sequential(reduce, gather)
    long = pair_with_clock("reduce", Fraction(1), 2**62)
    with pytest.raises(UnsupportedError, match="more than 64-bit numbers count; use ticks"):
        sequential(long, pair_with_clock("broadcast", Fraction(1), 2**62))
    third = pair_with_clock("broadcast", Fraction(1, 3), 3000)
    made = sequential(pair_with_clock("reduce", Fraction(1), 1000), third)
    assert verify(made).makespan_s_per_gb == 2000


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
