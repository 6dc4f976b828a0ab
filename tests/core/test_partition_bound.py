"""Bounds from partitions: by hand, two ways alike, and the least of those that are known."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll import generate, load_topology, verify
from forestcoll.core import partition_bound as allreduce_partition
from forestcoll.core.partition_bound import (
    best_known_bound,
    box_parts,
    closed,
    families_of,
    partition_bound,
)
from forestcoll.problem.allreduce_bound import AllreduceBound, PricedSet
from forestcoll.schedule.factored import Sets
from forestcoll.topology import Topology, TopologyBuilder
from tests.hand_networks import network_of
from tests.lp.networks import star


def test_a_star_of_equal_gpus() -> None:
    """N GPUs of 1 GB/s at a switch: each piece enters and leaves N - 1 of them: N / (2 (N - 1)).

    Of price 1 each, potential 1/2: each of 2 N links has 1/2, which makes N, by 2 (N - 1).
    """
    topology = network_of("[w] gpu0..3", "gpu0..3 - w", "star")
    parts = [[gpu] for gpu in topology.compute]
    assert partition_bound(topology, parts).algbw_gb_s == Fraction(4, 6)
    without = AllreduceBound.of(
        topology, [PricedSet((gpu,), Fraction(1), Fraction(1)) for gpu in topology.compute]
    )
    assert without.algbw_gb_s == Fraction(8, 6)  # a switch that multicasts would need no more
    assert verify(generate(topology, collective="allreduce").schedule).bound_gb_s == Fraction(2, 3)


def test_the_quick_rate_of_a_partition_equals_that_of_its_prices() -> None:
    """Two ways to add up the same."""
    for spec in (
        "mi250:boxes=2",
        "dgx_h100:boxes=4,sharp=true",
        "fat_tree:leaves=4,hosts=4,spines=2",
        "paper_example",
    ):
        topology = load_topology(spec)
        families = list(families_of(generate(topology, factored=True).schedule))
        for multicast in (False, True):
            for parts in [[[rank] for rank in range(topology.num_compute)], *families]:
                nodes = closed(topology, parts)
                quick = allreduce_partition._partition_rate(topology, nodes, multicast)
                assert quick == partition_bound(topology, nodes, multicast=multicast).algbw_gb_s


def test_the_bound_of_switches_that_forward_is_not_that_of_such_as_copy() -> None:
    """1 x H100: 1800/7 GB/s is at most where switches forward only."""
    topology = load_topology("dgx_h100:boxes=1")
    bounds = [best_known_bound(topology, multicast=multicast) for multicast in (False, True)]
    assert [bound.algbw_gb_s for bound in bounds if bound] == [Fraction(1800, 7), 450]


def test_nested_sets_make_partitions_level_by_level() -> None:
    """Three A100 boxes are three sets of eight; of a network that is one set there are none."""
    boxes = [list(range(8 * box, 8 * box + 8)) for box in range(3)]
    assert list(
        families_of(generate(load_topology("dgx_a100:boxes=3"), factored=True).schedule)
    ) == [boxes]
    assert (
        list(families_of(generate(load_topology("dgx_a100:boxes=1"), factored=True).schedule)) == []
    )


def test_the_least_of_the_known_bounds_is_reported() -> None:
    """A line a - b - c - d of 10, 1 and 10 GB/s: single GPUs prove 2 (10 + 1 + 10) / 6 = 7.

    The halves prove 1: all sums cross the middle one way, and all that is added the other.
    """
    net = network_of("a b c d", "a - b: 10, b - c, c - d: 10", "line")
    bounds = [best_known_bound(net, families) for families in ([], [[[0, 1], [2, 3]]])]
    assert [bound.algbw_gb_s for bound in bounds if bound] == [7, 1]
    for bound in bounds:
        assert bound == AllreduceBound.of(net, bound.sets)


def test_a_cut_around_one_gpu_may_be_narrower_than_a_partition() -> None:
    """A slow GPU on a fast switch: all data must enter and leave it over 1 GB/s."""
    net = star(1, 9, 9, 9)
    bound = best_known_bound(net)
    assert bound is not None
    assert bound.algbw_gb_s == 1
    assert len(bound.sets) == 2


def test_the_search_ends_once_the_rate_is_proved() -> None:
    """Of a ring of four, single GPUs prove 4/3 GB/s, which is what there is; families are first."""
    ring = load_topology("ring:nodes=4")
    bound = best_known_bound(ring, least=Fraction(4, 3))
    assert bound is not None
    assert bound.algbw_gb_s == Fraction(4, 3)
    assert [one.nodes for one in bound.sets] == [(0,), (1,), (2,), (3,)]
    halves = best_known_bound(ring, [[[0, 1], [2, 3]]], least=Fraction(2))
    assert halves is not None
    assert (len(halves.sets), halves.algbw_gb_s) == (2, 2)


def test_a_single_gpu_has_no_partition() -> None:
    assert best_known_bound(network_of("alone", "", "alone")) is None


def pods() -> Topology:
    """Two boxes of two GPUs at a leaf switch, with a twin behind it; both leaves on a spine."""
    return network_of(
        "gpu0@0 gpu1@0 gpu2@1 gpu3@1 [leaf0] [twin0] [leaf1] [twin1] [spine]",
        "gpu0 gpu1 - leaf0: 4, gpu2 gpu3 - leaf1: 4, leaf0 - twin0: 4, leaf0 leaf1 - spine, "
        "leaf1 - twin1: 4",
        "pods",
    )


def test_switches_beside_one_set_only_belong_to_it() -> None:
    """All switches of pods are joined over the spine, so GPUs of both boxes are beside them.

    Without the spine a leaf and its twin are joined, and beside GPUs of one box only; of single
    GPUs, both GPUs of the box are beside them.
    """
    whole = pods()
    boxes = [[0, 1], [2, 3]]
    assert closed(whole, boxes) == boxes
    apart = whole.without("spine")
    place = apart.position_of
    found = [sorted(part) for part in closed(apart, boxes)]
    assert found == [
        sorted(place[name] for name in ("gpu0", "gpu1", "leaf0", "twin0")),
        sorted(place[name] for name in ("gpu2", "gpu3", "leaf1", "twin1")),
    ]
    singles = closed(apart, [[0], [1], [2], [3]])
    assert singles == [[place[f"gpu{number}"]] for number in range(4)]


def test_a_switch_that_only_sends_to_a_set_belongs_to_it_too() -> None:
    """One that a set feeds and one that feeds it: links either way make a neighbour."""
    net = network_of("a b [fed] [feeding]", "a - b, a > fed, feeding > b", "one way")
    place = net.position_of
    assert closed(net, [[0], [1]]) == [[0, place["fed"]], [1, place["feeding"]]]


def test_boxes_are_parts_if_every_gpu_is_in_one_and_there_are_several() -> None:
    """Two boxes of pods are; a single box is not, nor are boxes with a GPU outside of all."""
    assert list(box_parts(pods())) == [[[0, 1], [2, 3]]]
    assert list(box_parts(load_topology("dgx_a100:boxes=1"))) == []
    assert list(box_parts(network_of("a@0 b@1 c", "a - b, b - c", "outside"))) == []


@pytest.mark.parametrize("into", [True, False])
@pytest.mark.parametrize("slow", [0, 3])
def test_a_cut_counts_one_direction_only(into: bool, slow: int) -> None:
    """A GPU with 1 GB/s in and 9 out, or the other way: all must pass the 1 in either case.

    Single GPUs prove 20 + 2 x 27 over 4 x 3 / 2 and more; the cut around it proves 1.
    """
    narrow, wide = (1, 9) if into else (9, 1)
    gpu = "abcd"[slow]
    fast = " ".join("abcd".replace(gpu, ""))
    links = f"{fast} - w: 9, w > {gpu}: {narrow}, {gpu} > w: {wide}"
    bound = best_known_bound(network_of("a b c d [w]", links, "uneven star"))
    assert bound is not None
    assert bound.algbw_gb_s == 1
    gather, reduce = bound.sets
    assert (gather.nodes == (slow,)) == into
    assert (gather.gather, gather.reduce, reduce.gather, reduce.reduce) == (1, 0, 0, 1)


def test_levels_of_nested_sets_are_partitions() -> None:
    """Boxes of two leaves of two GPUs each: at depth 1 the boxes, at depth 2 the leaves.

    GPUs 8 and 9 are in no box: each is alone at each level.
    """
    sets = Sets(
        set_of=np.array([0, 0, 1, 1, 2, 2, 3, 3, 6, 6]),
        parent=np.array([4, 4, 5, 5, 6, 6, -1]),
        shape=np.zeros(7),
    )
    assert allreduce_partition._depth(sets) == 3
    assert allreduce_partition._level(sets, 1) == [[0, 1, 2, 3], [4, 5, 6, 7], [8], [9]]
    assert allreduce_partition._level(sets, 2) == [[0, 1], [2, 3], [4, 5], [6, 7], [8], [9]]


def test_switches_of_two_levels_inside_a_box_close_it() -> None:
    """Boxes of two GPUs, each GPU on a switch of its own at 9 GB/s, those on one more at 3.

    The boxes are joined by 1 GB/s each way between their upper switches' GPUs: from GPU 1 to 2. All
    data cross that: 1 GB/s, which the boxes prove if all their switches are inside.
    """
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"gpu{number}", box=number // 2) for number in range(4)]
    for box in (0, 1):
        upper = builder.switch(f"upper{box}")
        for gpu in gpus[2 * box : 2 * box + 2]:
            lower = builder.switch(f"lower {gpu}")
            builder.link(gpu, lower, 9)
            builder.link(lower, upper, 3)
    builder.link(gpus[1], gpus[2], 1)
    net = builder.build("two levels")
    bound = partition_bound(net, closed(net, [[0, 1], [2, 3]]))
    assert bound.algbw_gb_s == 1
    assert sorted(len(one.nodes) for one in bound.sets) == [5, 5]
