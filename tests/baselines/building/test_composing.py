"""Finding the paths of steps, and making reductions and allreduces of them."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines.building.composing import collect_steps, hop_by_hop, routed
from forestcoll.schedule import Chunks, Clock, Path, Send, Sends, StepSchedule, synchronous, verify
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.hand_networks import network_of


def line() -> Topology:
    """Three GPUs: a -> b -> c with 2 and 1 GB/s, and back with 4 and 8."""
    return network_of("a b c", "a > b: 2, b > c, b > a: 4, c > b: 8", "line")


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
    assert synchronous(reduction).time_s_per_gb == Fraction(1, 8) + Fraction(1, 4)


def test_an_allreduce_is_both_in_turn() -> None:
    """Back in 3/8 s per GB and forth in 1/2 + 1."""
    allreduce = collect_steps(relay, line(), "allreduce")
    assert verify(allreduce).synchronous_s_per_gb == Fraction(3, 8) + Fraction(3, 2)
    assert allreduce.num_steps == 4
    assert allreduce.sends.reduce.tolist() == [True, True, False, False]


def test_a_clock_runs_backwards() -> None:
    """For 8 kB: 1 us over c -> b, then 2 us over b -> a, in ticks of 1/4 us."""
    reduction = collect_steps(timed, line(), "reduce")
    verify(reduction)
    assert reduction.clock is not None
    assert reduction.clock.start.tolist() == [0, 4]
    assert reduction.clock.end.tolist() == [4, 12]


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
