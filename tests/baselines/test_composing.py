"""Turning schedules round in time, putting them one after the other, and finding their paths."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines.composing import (
    by_number,
    collect_steps,
    hop_by_hop,
    in_turn,
    joined,
    routed,
    time_reversed,
)
from forestcoll.schedule import (
    Chunks,
    Clock,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    in_steps,
    verify,
)
from forestcoll.topology import Topology, TopologyBuilder, load_topology


def line() -> Topology:
    """Three GPUs: a -> b -> c with 2 and 1 GB/s, and back with 4 and 8."""
    builder = TopologyBuilder()
    a, b, c = (builder.gpu(name) for name in "abc")
    builder.arc(a, b, 2)
    builder.arc(b, c, 1)
    builder.arc(b, a, 4)
    builder.arc(c, b, 8)
    return builder.build("line")


def relay(topology: Topology) -> StepSchedule:
    """A broadcast along the line."""
    sends = Sends.of([Send(0, 0, 0, 1), Send(1, 0, 1, 2)])
    return routed(topology, "by hand", "broadcast", Chunks.equal([0], whole=1), sends)


def timed(topology: Topology, tick_us: Fraction = Fraction(1, 4)) -> StepSchedule:
    """The same with a clock for 8 kB: each transfer takes what its link asks for."""
    schedule = relay(topology)
    hops = ((0, 1), (1, 2))
    needs = [int(8 / topology.link_between[hop].bandwidth_gb_s / tick_us) for hop in hops]
    end = np.cumsum(needs, dtype=np.int64)
    return replace(schedule, clock=Clock(8000, tick_us, end - np.array(needs), end))


def test_a_reduction_is_a_broadcast_backwards_on_the_reversed_network() -> None:
    """On the reversed line a -> b has 4 GB/s and b -> c 8: the sum goes c -> b -> a over these."""
    reduction = collect_steps(relay, line(), "reduce")
    assert verify(reduction).collective == "reduce"
    assert list(zip(reduction.sends.tail, reduction.sends.head, strict=True)) == [(2, 1), (1, 0)]
    assert reduction.sends.step.tolist() == [0, 1]
    assert reduction.sends.reduce.all()
    assert in_steps(reduction).time_s_per_gb == Fraction(1, 8) + Fraction(1, 4)


def test_an_allreduce_is_both_in_turn() -> None:
    """Back in 3/8 s per GB and forth in 1/2 + 1."""
    allreduce = collect_steps(relay, line(), "allreduce")
    assert verify(allreduce).in_steps_s_per_gb == Fraction(3, 8) + Fraction(3, 2)
    assert allreduce.num_steps == 4
    assert allreduce.sends.reduce.tolist() == [True, True, False, False]


def test_a_clock_runs_backwards() -> None:
    """For 8 kB: 1 us over c -> b, then 2 us over b -> a, in ticks of 1/4 us."""
    reduction = collect_steps(timed, line(), "reduce")
    verify(reduction)
    assert reduction.clock is not None
    assert reduction.clock.start.tolist() == [0, 4]
    assert reduction.clock.end.tolist() == [4, 12]


def test_transfers_that_ended_together_start_together() -> None:
    """Backwards the steps number the former ends."""
    builder = TopologyBuilder()
    hub, slow, fast = (builder.gpu(name) for name in ("hub", "slow", "fast"))
    builder.link(hub, slow, 1)
    builder.link(hub, fast, 2)
    sends = Sends.of([Send(0, 0, 0, 1), Send(1, 0, 0, 2)])
    star = builder.build("star")
    schedule = routed(star, "by hand", "broadcast", Chunks.equal([0], whole=1), sends)
    start = np.array([0, 1], dtype=np.int64)
    clock = Clock(2000, Fraction(1), start, np.array([2, 2], dtype=np.int64))
    reduction = time_reversed(replace(schedule, clock=clock), star)
    verify(reduction)
    assert reduction.sends.step.tolist() == [0, 0]
    assert reduction.clock is not None
    assert sorted(reduction.clock.end.tolist()) == [1, 2]


def test_clocks_of_different_ticks_are_put_together() -> None:
    """3 us back in ticks of 1/4 us, then 4 + 8 us forth in ticks of 2/3: in all 15 us."""
    reduction = collect_steps(timed, line(), "reduce")
    allreduce = in_turn(reduction, timed(line(), Fraction(2, 3)))
    assert verify(allreduce).finish_s_per_gb == Fraction(15_000, 8000)
    assert allreduce.clock is not None
    assert allreduce.clock.tick_us == Fraction(1, 12)
    assert allreduce.clock.finish_us == 15


def test_phases_must_fit_together() -> None:
    """The same chunks, and clocks for the same data or none."""
    reduction, gather = collect_steps(relay, line(), "reduce"), relay(line())
    cut = replace(gather, chunks=Chunks.equal([0], whole=2, size=2))
    with pytest.raises(ValueError, match="cut the data into different chunks"):
        in_turn(reduction, cut)
    with pytest.raises(ValueError, match="a clock and the other none"):
        in_turn(reduction, timed(line()))
    later = timed(line())
    assert later.clock is not None
    later = replace(later, clock=replace(later.clock, size_bytes=16_000))
    with pytest.raises(ValueError, match="data of different sizes"):
        in_turn(collect_steps(timed, line(), "reduce"), later)


@pytest.mark.parametrize("more", [Send(2, 0, 1, 2), Send(2, 0, 1, 0)])
def test_what_is_sent_in_vain_cannot_be_turned_round(more: Send) -> None:
    """A second copy, or one to the root, would be counted twice."""
    topology = load_topology("torus:dims=3,wrap=false")
    schedule = relay(topology)
    vain = replace(schedule, sends=joined([schedule.sends, Sends.of([more])]))
    with pytest.raises(ValueError, match="a GPU gets a chunk that it has"):
        time_reversed(vain, topology)


def test_a_link_that_phases_divide_differently_is_divided_half_in_each_way() -> None:
    """All over one spine in the one, 1 : 2 over both in the other: (1 + 1/3) / 2 over the first."""
    net = load_topology("fat_tree:leaves=2,hosts=1,spines=2")
    (gpu, far), (leaf, other, one, two) = net.compute, net.switches
    ways = [(far, other, spine, leaf, gpu) for spine in (one, two)]
    swap = Sends.of([Send(0, 0, 0, 1), Send(0, 1, 1, 0)])
    gather = routed(net, "by hand", "allgather", Chunks.equal([0, 1], whole=2), swap)
    reduce = time_reversed(gather, net)
    paths = gather.routes.paths()
    first = {**paths, (1, 0): (Path(ways[0], 1),)}
    then = {**paths, (1, 0): (Path(ways[0], 1), Path(ways[1], 2))}
    allreduce = in_turn(
        replace(reduce, routes=Routes.from_paths(first)),
        replace(gather, routes=Routes.from_paths(then)),
    )
    verify(allreduce)
    assert allreduce.routes.paths()[1, 0] == (Path(ways[0], 2), Path(ways[1], 1))
    assert [path.multiplicity for path in allreduce.routes.paths()[0, 1]] == [1, 1]


def test_transfers_take_all_shortest_paths_alike() -> None:
    """Over three spines, a third of the data each."""
    net = load_topology("fat_tree:leaves=2,hosts=1,spines=3")
    swap = Sends.of([Send(0, 0, 0, 1), Send(0, 1, 1, 0)])
    schedule = routed(net, "by hand", "allgather", Chunks.equal([0, 1], whole=2), swap)
    assert [path.multiplicity for path in schedule.routes.paths()[0, 1]] == [1, 1, 1]
    verify(schedule)


@pytest.mark.parametrize(
    ("paths", "way", "time_s_per_gb"),
    [(routed, (0, 1, 2), Fraction(2, 4)), (hop_by_hop, (0, 2), 2)],
)
def test_hop_by_hop_keeps_to_the_links_that_are_named(
    paths: Callable[..., StepSchedule], way: tuple[int, ...], time_s_per_gb: Fraction
) -> None:
    """Two links of 4 GB/s cost less than one of 1/2 GB/s; a -> b -> c then shares a -> b with b."""
    builder = TopologyBuilder()
    a, b, c = (builder.gpu(name) for name in "abc")
    builder.link(a, b, 4)
    builder.link(b, c, 4)
    builder.link(a, c, Fraction(1, 2))
    sends = Sends.of([Send(0, 0, 0, 1), Send(0, 0, 0, 2)])
    chunks = Chunks.equal([0], whole=1)
    schedule = paths(builder.build("detour"), "by hand", "broadcast", chunks, sends)
    assert schedule.routes.paths()[0, 2] == (Path(way, 1),)
    assert verify(schedule).time_s_per_gb == time_s_per_gb


def test_gpus_are_taken_by_box_and_number() -> None:
    """Whatever the order of the nodes."""
    topology = load_topology("dgx_a100:boxes=2")
    turned = topology.relabelled(range(len(topology.nodes))[::-1])
    names = [turned.nodes[turned.compute[rank]].name for rank in by_number(turned)]
    assert names == [topology.nodes[gpu].name for gpu in topology.compute]
