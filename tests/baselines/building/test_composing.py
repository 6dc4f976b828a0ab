"""Finding the paths of steps, and making reductions and allreduces of them."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from baselines.building.composing import (
    collect,
    collect_steps,
    fastest,
    hop_by_hop,
    in_step,
    joined,
    routed,
)
from baselines.building.equal_trees import forest_of
from baselines.libraries import direct, recursive
from baselines.networks.switch_paths import Router
from forestcoll import generate
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule import (
    Allreduce,
    Chunks,
    Forest,
    Path,
    Send,
    Sends,
    StepSchedule,
    cost,
    synchronous,
    verify,
)
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.schedule.transform.schedules import clocked, line, relay


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


def test_other_collectives_are_unsupported() -> None:
    """An allgather makes no broadcast and no reduce; nothing makes an all-to-all."""

    def gather(topology: Topology) -> StepSchedule:
        return direct.generate(topology, "allgather")

    net = load_topology("complete:nodes=3")
    for collective in ("broadcast", "reduce", "all-to-all"):
        with pytest.raises(UnsupportedError, match=f"direct has no {collective}"):
            collect_steps(gather, net, collective)
        with pytest.raises(UnsupportedError, match=f"by hand has no {collective}"):
            collect(stars, net, collective)


def stars(topology: Topology) -> Forest:
    trees = {(-1, 0, 0): 1, (1, -1, 1): 1, (2, 2, -1): 1}
    return forest_of(Router(topology), "by hand", trees)


@pytest.mark.parametrize(("tail", "head"), [(1, 3), (-1, 0), (2, 2)])
def test_ends_that_cannot_be_are_named(tail: int, head: int) -> None:
    """Ranks of three GPUs are 0 to 2; the wrong transfer is the second."""
    net = load_topology("complete:nodes=3")
    sends = joined([in_step(0, [0], [0], [1]), in_step(1, 2, tail, head)])
    message = f"step 1, chunk 2: rank {tail} sends to rank {head}; .* between 0 and 2"
    with pytest.raises(VerificationError, match=message):
        routed(net, "by hand", "allgather", Chunks.equal([0, 1, 2], whole=3), sends)


def test_steps_that_add_make_an_allreduce_by_hand() -> None:
    """Along the line 0 - 1 - 2 and back; a chunk that all ranks share, one number for all rows."""
    up = [in_step(step, 0, step, step + 1, reduce=True) for step in range(2)]
    down = [in_step(2 + step, 0, 2 - step, 1 - step) for step in range(2)]
    chunks = Chunks.equal([-1], whole=1)
    made = routed(
        load_topology("complete:nodes=3"), "chain", "allreduce", chunks, joined(up + down)
    )
    assert verify(made).collective == "allreduce"
    assert made.sends.reduce.tolist() == [True, True, False, False]


def test_no_steps_are_none() -> None:
    """As on one GPU, which has everything."""
    assert len(joined([])) == 0


def test_a_clock_runs_backwards() -> None:
    """For 8 kB: 1 us over c -> b, then 2 us over b -> a, in ticks of 1/4 us."""
    reduction = collect_steps(clocked, line(), "reduce")
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
    net = network_of("a b c", "b - a c: 4, a - c: 1/2", "detour")
    sends = Sends.of([Send(0, 0, 0, 1), Send(0, 0, 0, 2)])
    chunks = Chunks.equal([0], whole=1)
    schedule = paths(net, "by hand", "broadcast", chunks, sends)
    assert schedule.routes.paths()[0, 2] == (Path(way, 1),)
    assert verify(schedule).time_s_per_gb == time_s_per_gb


def test_the_time_pipelined_decides() -> None:
    """Two A100 boxes: far first takes 7/2400 s per GB, near first 1/50."""
    topology = load_topology("dgx_a100:boxes=2")
    near, far = (recursive.generate(topology, order=order) for order in recursive.ORDERS)
    assert cost(far).time_s_per_gb < cost(near).time_s_per_gb
    assert fastest([near, far]) is fastest([far, near]) is far


def test_ties_are_broken_by_synchronous_time_and_then_by_order() -> None:
    """Direct exchange puts the same on every link in rotation, but waits for it step by step."""
    topology = load_topology("dgx_a100:boxes=2")
    rotation, at_once, again = (
        direct.generate(topology, order=order) for order in ("rotation", "at-once", "at-once")
    )
    assert cost(rotation).time_s_per_gb == cost(at_once).time_s_per_gb
    assert synchronous(rotation).time_s_per_gb > synchronous(at_once).time_s_per_gb
    assert fastest([rotation, at_once, again]) is at_once


def chain(topology: Topology) -> Forest:
    """A broadcast from the first GPU along the line."""
    return forest_of(Router(topology), "by hand", {(-1, 0, 1): 1})


def test_a_broadcast_is_taken_unchanged() -> None:
    """M over 2 and over 1 GB/s."""
    made = collect(chain, line(), "broadcast")
    assert isinstance(made, Forest)
    assert verify(made).collective == "broadcast"
    assert made.time_s_per_gb == 1


def test_a_reduction_is_made_on_the_links_turned_round() -> None:
    """Sums run c -> b -> a over 8 and 4 GB/s, which the broadcast does not use."""
    made = collect(chain, line(), "reduce")
    assert isinstance(made, Forest)
    assert verify(made).collective == "reduce"
    assert made.topology == line()
    assert made.time_s_per_gb == Fraction(1, 4)


def test_an_allreduce_is_the_reduction_and_then_the_broadcast() -> None:
    """In turn 1/4 s and 1 s per GB; at once, over links of their own, the longer of the two."""
    made = collect(chain, line(), "allreduce")
    assert isinstance(made, Allreduce)
    assert verify(made).collective == "allreduce"
    assert made.sequential_s_per_gb == Fraction(5, 4)
    assert cost(made).time_s_per_gb == 1


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_forests_of_all_roots_are_turned_alike(collective: str) -> None:
    """A ring of three, one way: two shards over each link in either phase."""

    def around(topology: Topology) -> Forest:
        step = 1 if (0, 1) in topology.link_between else -1
        before = [[(v - step) % 3 if v != root else -1 for v in range(3)] for root in range(3)]
        return forest_of(Router(topology), "by hand", {tuple(row): 1 for row in before})

    made = collect(around, load_topology("ring:nodes=3,bidirectional=false"), collective)
    phases = 2 if collective == "allreduce" else 1
    assert verify(made).collective == collective
    assert cost(made).time_s_per_gb == phases * Fraction(2, 3)


def test_a_network_that_is_its_own_mirror_image_is_asked_once() -> None:
    """The same trees both ways; where links are not alike both ways, each has its own."""
    asked: list[str] = []

    def spread(topology: Topology) -> Forest:
        asked.append(topology.name)
        return generate(topology).schedule

    both = load_topology("dgx_a100:boxes=2")
    made = collect(spread, both, "allreduce")
    assert len(asked) == 1
    verify(made)
    one_way = load_topology("ring:nodes=4,bidirectional=false")
    verify(collect(spread, one_way, "allreduce"))
    assert len(asked) == 3
