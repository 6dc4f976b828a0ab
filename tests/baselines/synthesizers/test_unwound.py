"""Unwound switches under our core: correct everywhere, and worse by exactly so much."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from baselines import METHODS
from baselines.networks.unwinding import unwind
from baselines.synthesizers import unwound
from forestcoll.core.optimality import optimum
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import Allreduce, Forest, cost, verify
from forestcoll.topology import Node, NodeKind, Topology, load_topology
from tests.baselines.single_root import verified
from tests.hand_networks import network_of
from tests.random_topologies import rounds
from tests.strategies import topologies

SPECS = [
    "dgx_a100:boxes=2",
    "mi250:boxes=2,gpus_per_box=8",
    "paper_example",
    "torus:dims=3x3",
    "fat_tree:leaves=4,hosts=2,spines=3,oversubscription=2",
    "rail_optimized:boxes=3,gpus_per_box=2,spines=2",
]


@pytest.mark.parametrize("collective", METHODS["unwound"].collectives)
@pytest.mark.parametrize("pattern", ["ring", "clique"])
@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.each_value_once
def test_every_schedule_verifies(spec: str, pattern: str, collective: str) -> None:
    """On the network with its switches; a broadcast and a reduce have the first GPU as root."""
    topology = load_topology(spec)
    schedule = METHODS["unwound"].run(topology, collective, {"pattern": pattern})
    assert verified(schedule, "unwound").collective == collective


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=2", "paper_example", "rail_optimized:boxes=4"])
def test_hypercubes_verify_for_powers_of_two_of_neighbours(spec: str) -> None:
    verified(unwound.generate(load_topology(spec), pattern="hypercube"), "unwound")


def test_unwinding_into_rings_is_four_times_worse() -> None:
    """ForestColl section 5.3, on figure 5: a box's way out shrinks from 4b to b.

    Its four shards cross that: (M/8)(4/b) instead of (M/8)(4/4b), so 2b instead of 8b GB/s.
    """
    topology = load_topology("paper_example:bandwidth=3")
    assert optimum(topology).algbw_gb_s == 8 * 3
    ring = unwound.generate(topology, pattern="ring")
    assert cost(ring).algbw_gb_s == 2 * 3
    assert optimum(topology).algbw_gb_s == 4 * cost(ring).algbw_gb_s


@pytest.mark.parametrize(
    ("pattern", "algbw"),
    [
        ("ring", Fraction(50)),  # one link of 25 GB/s into a box, for 8 of 16 shards
        ("clique", Fraction(640, 3)),  # 64 links of 25/15 GB/s into a box
        ("hypercube", Fraction(100)),  # 8 links of 25/4 GB/s, those of the fourth dimension
    ],
)
def test_two_a100_boxes(pattern: str, algbw: Fraction) -> None:
    """All of them are behind the optimum, 1040/3 = 346.7 GB/s (ForestColl section 6.5).

    By the logical links; of a port the schedule may use what others of its links leave idle.
    """
    topology = load_topology("dgx_a100:boxes=2")
    assert optimum(unwind(topology, pattern).topology).algbw_gb_s == algbw
    reached = cost(unwound.generate(topology, pattern=pattern)).algbw_gb_s
    assert algbw <= reached < optimum(topology).algbw_gb_s == Fraction(1040, 3)
    assert pattern != "ring" or reached == algbw


@settings(max_examples=rounds(40), deadline=None)
@given(topology=topologies())
def test_no_unwinding_beats_the_optimum(topology: Topology) -> None:
    """The bound of ForestColl section 4 holds for all; without switches it is attained."""
    forest = unwound.generate(topology, pattern="clique")
    verified(forest, "unwound")
    best = optimum(topology).time_s_per_gb
    assert forest.time_s_per_gb >= best
    assert topology.switches or forest.time_s_per_gb == best


def test_an_allreduce_with_a_root_is_a_reduce_and_a_broadcast() -> None:
    both = unwound.generate(load_topology("paper_example"), "allreduce", root="c2.1")
    assert isinstance(both, Allreduce)
    verified(both, "unwound")
    assert [(phase.collective, set(phase.root)) for phase in both.phases] == [
        ("reduce", {4}),
        ("broadcast", {4}),
    ]


def test_trees_are_rounded_only_if_exact_shares_need_too_many() -> None:
    """Cliques of several levels share links in fractions with large denominators.

    With some 2^40 trees a link carries at most a few dozen more than its share.
    """
    exact, rounded = (
        unwound.generate(load_topology(spec), pattern="clique")
        for spec in ("paper_example", "dgx_a100:boxes=2,nics=nodes,ib_switches=2")
    )
    assert isinstance(exact, Forest)
    assert isinstance(rounded, Forest)
    assert exact.num_trees < 2**20
    assert 2**40 <= rounded.num_trees < 2**42
    assert verify(rounded).congestion == rounded.congestion


def one_way_round() -> Topology:
    """One GPU sends to the switch, which sends to the other two."""
    return network_of("a b c [w]", "a > w: 2, w c > b: 2, b > a: 2, w > c", "round")


def test_unsupported_networks_and_parameters_raise_typed_errors() -> None:
    alone = Topology("alone", (Node("gpu", NodeKind.COMPUTE),), ())
    apart = Topology("apart", (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE)), ())
    star = load_topology("fat_tree:leaves=1,hosts=6,spines=1")
    with pytest.raises(UnsupportedError, match=r"^unsupported: alone has 1 GPUs"):
        unwound.generate(alone)
    with pytest.raises(UnsupportedError, match=r"^unsupported: with its switches unwound, "):
        unwound.generate(apart)
    with pytest.raises(
        UnsupportedError, match=r"^unsupported: 1 nodes only send to w and 2 only rec"
    ):
        unwound.generate(one_way_round(), pattern="ring")
    with pytest.raises(UnsupportedError, match=r"^unsupported: .* a power of two of them"):
        unwound.generate(star, pattern="hypercube")
    with pytest.raises(UnsupportedError, match=r"^unsupported: unwound has no all-to-all"):
        unwound.generate(star, "all-to-all")
    with pytest.raises(InvalidParameterError, match="pattern is 'tree'; it must be one of"):
        unwound.generate(star, pattern="tree")
    with pytest.raises(InvalidParameterError, match="allgather takes no root"):
        unwound.generate(star, root=1)
