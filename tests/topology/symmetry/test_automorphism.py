"""Symmetries of networks: what is found is right, and as much as is known by hand."""

import math
from typing import Any

import numpy as np
import pytest

from forestcoll.allreduce.cutting_planes import allreduce_optimum
from forestcoll.errors import InvalidParameterError
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import TopologyBuilder, cartesian_power, load_topology
from forestcoll.topology.symmetry.automorphism import (
    Ints,
    Orbits,
    _merge,
    check_orbits,
    find_orbits,
    no_symmetry,
    orbits_under,
)
from forestcoll.topology.symmetry.automorphism_search import LabelledGraph, RefinementSearch
from tests.hand_networks import network_of
from tests.lp.networks import line, one_way_detour, star, two_boxes
from tests.random_topologies import KINDS, random_topology


def counts(spec: str) -> tuple[int, int]:
    orbits = find_orbits(load_topology(spec))
    return int(orbits.node.max()) + 1, int(orbits.link.max()) + 1


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("dgx_a100:boxes=1", (2, 2)),  # GPUs, NVSwitch; up and down
        ("dgx_a100:boxes=16", (3, 4)),  # GPUs, NVSwitches, InfiniBand switch; two of each
        ("ring:nodes=12", (1, 1)),
        ("hypercube:dimension=4", (1, 1)),
        ("torus:dims=4x4", (1, 1)),
        ("fat_tree:leaves=4,hosts=3,spines=2", (3, 4)),
    ],
)
def test_alike_by_hand(spec: str, expected: tuple[int, int]) -> None:
    assert counts(spec) == expected


def test_orbits_of_unlike_nodes() -> None:
    """Slow GPUs are alike, the fast one is not; the ends of a line are; boxes of 2 and 6 are not.

    A one-way ring with one link that goes both ways has no symmetry.
    """
    assert find_orbits(star(1, 1, 2)).node.tolist() == [0, 1, 1, 2]
    assert find_orbits(line(4)).node.tolist() == [0, 1, 1, 0]
    assert int(find_orbits(two_boxes(2, 6)).node.max()) + 1 == 4
    assert find_orbits(one_way_detour()).generators == ()


def test_twins_need_no_refinement(monkeypatch: pytest.MonkeyPatch) -> None:
    """A swap and a rotation of the five GPUs on a switch; one swap of two that are faster.

    No twins are a GPU and a switch that share their neighbours, nor GPUs with other neighbours.
    """
    tries = []
    carrying = RefinementSearch.carrying

    def counted(self: RefinementSearch, start: tuple[int, ...], end: tuple[int, ...]) -> Any:
        tries.append((start, end))
        return carrying(self, start, end)

    monkeypatch.setattr(RefinementSearch, "carrying", counted)
    orbits = find_orbits(star(1, 1, 1, 1, 1, 2, 2))
    assert not tries
    assert sorted(moved.tolist() for moved in orbits.generators) == [
        [0, 1, 2, 3, 4, 5, 7, 6],
        [0, 2, 1, 3, 4, 5, 6, 7],
        [0, 2, 3, 4, 5, 1, 6, 7],
    ]
    assert orbits.node.tolist() == [0, 1, 1, 1, 1, 1, 2, 2]
    square = network_of("a b c [w]", "a - b, b - c, c - w, w - a", "a square")
    assert [moved.tolist() for moved in find_orbits(square).generators] == [[2, 1, 0, 3]]
    assert find_orbits(line(4)).node.tolist() == [0, 1, 1, 0]
    assert tries


def test_symmetries_carry_shared_capacities_into_equal_ones() -> None:
    """Six GPUs on a star; the links up of three pairs have limits of 3, 3 and 5 GB/s.

    GPUs of the first two pairs are alike, so are those of the last: 3 orbits of nodes with the
    switch, 4 of links. Every generator carries each pair to one with the same limit.
    """
    topology = star(*[2] * 6)
    pairs = [("a", "gpu[01] -> *", 3), ("b", "gpu[23] -> *", 3), ("c", "gpu[45] -> *", 5)]
    for name, links, limit in pairs:
        topology = topology.with_shared(name, links, limit)
    orbits = find_orbits(topology)
    gpus = [topology.position_of[f"gpu{i}"] for i in range(6)]
    assert len({int(orbits.node[v]) for v in gpus[:4]}) == 1
    assert (int(orbits.node.max()) + 1, int(orbits.link.max()) + 1) == (3, 4)
    sets = {frozenset(group.links): group.bandwidth_gb_s for group in topology.shared}
    for moves in orbits.generators:
        for links, limit in sets.items():
            assert sets[frozenset((int(moves[a]), int(moves[b])) for a, b in links)] == limit


def test_a_shared_capacity_of_crossed_links_breaks_a_symmetry() -> None:
    """In a square of GPUs the links 0 -> 1 and 2 -> 3 share; turning by one GPU carries them away.

    Turning by two keeps them: two orbits of GPUs, {0, 2} and {1, 3}.
    """
    square = load_topology("ring:nodes=4").with_shared("x", ["gpu0 -> gpu1", "gpu2 -> gpu3"], 1)
    assert find_orbits(square).node.tolist() == [0, 1, 0, 1]
    with pytest.raises(InvalidParameterError, match="shared capacity"):
        orbits_under(square, [[1, 2, 3, 0]])
    assert orbits_under(square, [[2, 3, 0, 1]]).node.tolist() == [0, 1, 0, 1]


def test_groups_of_the_same_ends_but_other_links_differ() -> None:
    """On two inner and two outer GPUs: 0 -> 2 with 1 -> 3, and 0 -> 3 alone with 1 -> 2 alone.

    Exchanging 2 and 3 keeps every bandwidth and the ends of all groups, but carries the pair
    {0 -> 2, 1 -> 3} to {0 -> 3, 1 -> 2}, which is not a shared capacity. Exchanging both sides at
    once keeps it.
    """
    builder = TopologyBuilder()
    names = [builder.gpu(f"gpu{i}") for i in range(4)]
    for inner in names[:2]:
        for outer in names[2:]:
            builder.link(inner, outer, 1)
    builder.share("x", ["gpu0 -> gpu2", "gpu1 -> gpu3"], 1)
    made = builder.build("crossed")
    with pytest.raises(InvalidParameterError, match="not an automorphism"):
        orbits_under(made, [[0, 1, 3, 2]])
    assert orbits_under(made, [[1, 0, 3, 2]]).node.tolist() == [0, 0, 1, 1]
    assert find_orbits(made).node.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_generators_keep_every_bandwidth(kind: str) -> None:
    """Each generator, applied to the network, gives the same links; orbits are unions of moves."""
    for seed in range(15):
        topology = random_topology(seed, kind)
        orbits = find_orbits(topology)
        known = {(e.tail, e.head): e.bandwidth_gb_s for e in topology.links}
        for moved in orbits.generators:
            image = {(moved[a], moved[b]): bandwidth for (a, b), bandwidth in known.items()}
            assert image == known
            assert (orbits.node[moved] == orbits.node).all()
            for node, other in enumerate(moved):
                assert topology.nodes[node].is_switch == topology.nodes[other].is_switch
        again = orbits_under(topology, orbits.generators)
        assert (again.node == orbits.node).all()
        assert (again.link == orbits.link).all()


def test_a_given_group_is_checked() -> None:
    """Rotating a ring of 4 by two makes two orbits; swapping two neighbours is no automorphism."""
    ring = load_topology("ring:nodes=4")
    assert orbits_under(ring, [[2, 3, 0, 1]]).node.tolist() == [0, 1, 0, 1]
    for wrong in ([1, 0, 2, 3], [0, 0, 1, 2], [0, 1, 2]):
        with pytest.raises(InvalidParameterError, match="generator 1 is not an automorphism"):
            orbits_under(ring, [[0, 1, 2, 3], wrong])


def test_orbits_of_another_network_are_refused() -> None:
    """All three GPUs of one star are alike; in the other, as large, one is twice as fast."""
    alike, unlike = find_orbits(star(1, 1, 1)), star(1, 1, 2)
    check_orbits(star(1, 1, 1), alike)
    check_orbits(unlike, find_orbits(unlike))
    check_orbits(unlike, no_symmetry(unlike))
    with pytest.raises(InvalidParameterError, match="not an automorphism"):
        check_orbits(unlike, alike)
    with pytest.raises(InvalidParameterError, match="not an automorphism"):
        allreduce_optimum(unlike, Settings(seconds=10), orbits=alike)
    with pytest.raises(InvalidParameterError, match="orbits are not those of"):
        check_orbits(unlike, Orbits(alike.node, alike.link, ()))
    with pytest.raises(InvalidParameterError, match="orbits are not those of"):
        check_orbits(unlike, no_symmetry(star(1, 1, 1, 1)))


def test_no_symmetry_leaves_each_by_itself() -> None:
    topology = load_topology("dgx_a100:boxes=1")
    orbits = no_symmetry(topology)
    assert len(np.unique(orbits.node)) == len(topology.nodes)
    assert len(np.unique(orbits.link)) == len(topology.links)


def test_a_search_without_success_ends() -> None:
    """Refinement alone separates no two nodes of two triangles and a hexagon; they differ.

    Of a ring of 3 and one of 6 in one network the nodes all have one neighbour each way.
    """
    links = [f"ring{n}.gpu{i} - ring{n}.gpu{(i + 1) % n}" for n in (3, 6) for i in range(n)]
    net = network_of("ring3.gpu0..2 ring6.gpu0..5", ", ".join(links), "two rings")
    orbits = find_orbits(net)
    assert orbits.node.tolist() == [0] * 3 + [1] * 6
    assert len(np.unique(orbits.link)) == 2


def test_nodes_that_look_alike_are_tried_once_each_after_a_failure() -> None:
    """A Cartesian square without symmetries but the exchange of its factors, from 16 nodes each.

    All 256 nodes have degree 4 and one colour. The orbits are the 16 on the diagonal and 120 pairs.
    Trying all pairs takes thousands of refinements; 255 signatures and few tries suffice.
    """
    topology = cartesian_power(load_topology("modified_de_bruijn:degree=2,length=4"), 2)
    search = RefinementSearch(LabelledGraph.of(topology), 10**6, math.inf)
    moves: list[tuple[Ints, Ints]] = []
    _merge(moves, 0, search.colours, search.colours, search, lambda node: (node,))
    assert int(search.colours.max()) == 0
    assert len(moves) == 1
    assert len(np.unique(find_orbits(topology).node)) == 16 + 120
    assert 10**6 - search.budget < 300
