"""Bounds from partitions: by hand, two ways alike, and the least of those that are known."""

from __future__ import annotations

from fractions import Fraction

from forestcoll import generate, generate_factored, load_topology, verify
from forestcoll.core import partition_bound as allreduce_partition
from forestcoll.core.partition_bound import best_known_bound, families_of, partition_bound
from forestcoll.problem.allreduce_bound import AllreduceBound, PricedSet
from forestcoll.topology import TopologyBuilder
from tests.lp.networks import star


def test_a_star_of_equal_gpus() -> None:
    """N GPUs of 1 GB/s at a switch: each piece enters and leaves N - 1 of them: N / (2 (N - 1)).

    Of price 1 each, potential 1/2: each of 2 N links has 1/2, which makes N, by 2 (N - 1).
    """
    builder = TopologyBuilder()
    switch = builder.switch("w")
    for number in range(4):
        builder.link(builder.gpu(f"gpu{number}"), switch, 1)
    topology = builder.build("star")
    parts = [[gpu] for gpu in topology.compute]
    assert partition_bound(topology, parts).algbw_gb_s == Fraction(4, 6)
    without = AllreduceBound.of(
        topology, [PricedSet((gpu,), Fraction(1), Fraction(1)) for gpu in topology.compute]
    )
    assert without.algbw_gb_s == Fraction(8, 6)  # a switch that copies would need no more
    assert verify(generate(topology, collective="allreduce")).bound_gb_s == Fraction(2, 3)


def test_the_quick_rate_of_a_partition_is_what_its_prices_prove() -> None:
    """Two ways to add up the same."""
    for spec in (
        "mi250:boxes=2",
        "dgx_h100:boxes=4,sharp=true",
        "fat_tree:leaves=4,hosts=4,spines=2",
        "paper_example",
    ):
        topology = load_topology(spec)
        families = list(families_of(generate_factored(topology)))
        for copying in (False, True):
            for parts in [[[rank] for rank in range(topology.num_compute)], *families]:
                closed = allreduce_partition.closed(topology, parts)
                quick = allreduce_partition._partition_rate(topology, closed, copying)
                assert quick == partition_bound(topology, closed, copying=copying).algbw_gb_s


def test_the_bound_of_switches_that_forward_is_not_that_of_such_as_copy() -> None:
    """1 x H100: 1800/7 GB/s is at most where switches forward only."""
    topology = load_topology("dgx_h100:boxes=1")
    bounds = [best_known_bound(topology, copying=copying) for copying in (False, True)]
    assert [bound.algbw_gb_s for bound in bounds if bound] == [Fraction(1800, 7), 450]


def test_nested_sets_make_partitions_level_by_level() -> None:
    """Three A100 boxes are three sets of eight; of a network that is one set there are none."""
    boxes = [list(range(8 * box, 8 * box + 8)) for box in range(3)]
    assert list(families_of(generate_factored(load_topology("dgx_a100:boxes=3")))) == [boxes]
    assert list(families_of(generate_factored(load_topology("dgx_a100:boxes=1")))) == []


def test_the_least_of_the_known_bounds_is_told() -> None:
    """A line a - b - c - d of 10, 1 and 10 GB/s: single GPUs prove 2 (10 + 1 + 10) / 6 = 7.

    The halves prove 1: all sums cross the middle one way, and all that is added the other.
    """
    builder = TopologyBuilder()
    a, b, c, d = (builder.gpu(name) for name in "abcd")
    for one, other, bandwidth in ((a, b, 10), (b, c, 1), (c, d, 10)):
        builder.link(one, other, bandwidth)
    net = builder.build("line")
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


def test_the_search_ends_where_a_rate_is_attained() -> None:
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
    builder = TopologyBuilder()
    builder.gpu("alone")
    assert best_known_bound(builder.build("alone")) is None
