"""Unwound switches: what is kept (every physical bandwidth) and what is lost."""

from collections import defaultdict
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings

from baselines.networks.unwinding import PATTERNS, Unwound, unwind
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of
from tests.random_topologies import rounds
from tests.strategies import topologies

SPECS = [
    "paper_example",
    "dgx_a100:boxes=2",
    "mi250:boxes=2,gpus_per_box=8",
    "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=2",
    "rail_optimized:boxes=3,gpus_per_box=2,spines=2",
]


def check_equivalence(topology: Topology, unwound: Unwound) -> None:
    """Paths lead from end to end through switches, and no physical link is used beyond what it has.

    A logical link has the bandwidth of its paths.
    """
    load: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    compute = topology.compute
    assert unwound.topology.nodes == tuple(topology.nodes[v] for v in compute)
    assert set(unwound.paths) == set(unwound.topology.link_between)
    for (tail, head), shares in unwound.paths.items():
        assert len({share.nodes for share in shares}) == len(shares)
        for share in shares:
            assert share.bandwidth_gb_s > 0
            assert (share.nodes[0], share.nodes[-1]) == (compute[tail], compute[head])
            assert all(topology.nodes[v].is_switch for v in share.nodes[1:-1])
            for hop in pairwise(share.nodes):
                load[hop] += share.bandwidth_gb_s
        total = sum(share.bandwidth_gb_s for share in shares)
        assert total == unwound.topology.link_between[tail, head].bandwidth_gb_s
    for hop, used in load.items():
        assert used <= topology.link_between[hop].bandwidth_gb_s


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=rounds(40), deadline=None)
@given(topology=topologies())
def test_unwinding_is_equivalent(pattern: str, topology: Topology) -> None:
    """ForestColl section 5.3: unwinding keeps equivalence, whatever it does to optimality.

    Rings and hypercubes may refuse the neighbours that random switches have; cliques take all.
    """
    allowed = () if pattern == "clique" else (UnsupportedError,)
    with suppress(*allowed):
        check_equivalence(topology, unwind(topology, pattern))


@pytest.mark.parametrize(
    ("spec", "pattern"),
    [(spec, pattern) for spec in SPECS for pattern in ("ring", "clique")]
    + [("dgx_a100:boxes=2,nics=nodes,ib_switches=2", "ring")],
)
def test_unwinding_of_real_networks_is_equivalent(spec: str, pattern: str) -> None:
    topology = load_topology(spec)
    check_equivalence(topology, unwind(topology, pattern))


def star(gpus: int) -> Topology:
    """GPUs on a switch, by links of 12 GB/s and 1 us."""
    return network_of(f"[switch] gpu0..{gpus - 1}", f"gpu0..{gpus - 1} - switch: 12 1", "star")


@pytest.mark.parametrize(
    ("pattern", "links"),
    [
        ("ring", {(0, 1): 12, (1, 2): 12, (2, 3): 12, (3, 0): 12}),
        ("clique", {(i, j): 4 for i in range(4) for j in range(4) if i != j}),
        ("hypercube", {(i, i ^ bit): 6 for i in range(4) for bit in (1, 2)}),
    ],
)
def test_patterns_of_four_neighbours(pattern: str, links: dict[tuple[int, int], int]) -> None:
    """12 GB/s each: to the next; 12/3 to each of three; 12/2 to each of two. 1 us there and on."""
    unwound = unwind(star(4), pattern)
    assert {
        ends: link.bandwidth_gb_s for ends, link in unwound.topology.link_between.items()
    } == links
    assert {link.latency_us for link in unwound.topology.links} == {2}


def test_unequal_ports_give_the_lesser_of_both_ends() -> None:
    """A ring of ports of 3, 5 and 7 GB/s: 3 from a to b, 5 from b to c, 3 from c back to a."""
    star = network_of("[switch] a b c", "switch - a: 3, switch - b: 5, switch - c: 7", "unequal")
    links = unwind(star, "ring").topology.link_between
    assert {ends: link.bandwidth_gb_s for ends, link in links.items()} == {
        (0, 1): 3,
        (1, 2): 5,
        (2, 0): 3,
    }


def test_a_ring_through_two_levels() -> None:
    """Two leaves with two GPUs of 1 GB/s and a spine between them, which goes first.

    That leaves the leaves linked to each other by 2 GB/s, and each leaf has the neighbours gpu,
    gpu, other leaf: one ring gpu0 -> gpu1 -> (leaf, spine, leaf) -> gpu2 -> gpu3 -> gpu0.
    """
    topology = load_topology("fat_tree:leaves=2,hosts=2,spines=1")
    unwound = unwind(topology, "ring")
    name = [node.name for node in topology.nodes]
    walks = {
        ends: [name[v] for v in shares[0].nodes[1:-1]] for ends, shares in unwound.paths.items()
    }
    assert walks == {
        (0, 1): ["leaf0"],
        (1, 2): ["leaf0", "spine0", "leaf1"],
        (2, 3): ["leaf1"],
        (3, 0): ["leaf1", "spine0", "leaf0"],
    }
    assert {link.bandwidth_gb_s for link in unwound.topology.links} == {1}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_network_without_switches_stays_as_it_is(pattern: str) -> None:
    topology = load_topology("mi250:boxes=1")
    assert unwind(topology, pattern).topology.links == topology.links


def one_way_in() -> Topology:
    return network_of("a b c [switch]", "a b > switch, switch > c: 2", "funnel")


@pytest.mark.parametrize(
    ("topology", "pattern", "message"),
    [
        (one_way_in(), "ring", "2 nodes only send to switch and 1 only receive from it"),
        (one_way_in(), "hypercube", "2 nodes send to switch and 1 receive from it"),
        (star(6), "hypercube", "6 nodes send to switch .* a power of two"),
    ],
)
def test_switches_without_an_unwinding_are_unsupported(
    topology: Topology, pattern: str, message: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"^unsupported: {message}"):
        unwind(topology, pattern)


def test_a_network_is_named_after_its_pattern_if_it_has_switches() -> None:
    assert unwind(load_topology("ring:nodes=3"), "clique").topology.name == "ring:nodes=3"
    unwound = unwind(load_topology("paper_example"), "clique").topology
    assert unwound.name == "paper_example unwound into cliques"


def test_an_unknown_pattern_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"pattern is 'star'; .* ring, clique, hyper"):
        unwind(star(4), "star")
