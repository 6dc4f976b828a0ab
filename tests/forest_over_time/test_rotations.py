"""Orbits of roots, and the moves that carry one to all."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.forest_over_time.rotations import Orbit, link_classes, root_orbits
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology import Topology, load_topology
from tests.forest_over_time.on_paths import path_of_three
from tests.hand_networks import network_of


def orbits_of(network: Topology, *weights: int) -> list[tuple[int, ...]]:
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    found = root_orbits(network, links, weights or (1,) * network.num_compute)
    ends = list(zip(links.tail, links.head, strict=True))
    for orbit in found:
        for nodes, moved in zip(orbit.nodes, orbit.links, strict=True):
            assert sorted(nodes) == list(range(links.nodes))
            assert [ends[i] for i in moved] == [(nodes[t], nodes[h]) for t, h in ends]
            assert [links.latency[i] for i in moved] == list(links.latency)
            assert [links.capacity[i] for i in moved] == list(links.capacity)
    return [orbit.roots for orbit in found]


@pytest.mark.parametrize(
    ("spec", "sizes"),
    [
        ("dgx_a100:boxes=2", [16]),
        ("torus:dims=4x3", [12]),
        ("hypercube:dimension=3", [8]),
        ("mi250:boxes=1", [4, 4, 4, 4]),
        ("mi250:boxes=2", [8, 8, 8, 8]),
    ],
)
def test_orbits_of_known_networks(spec: str, sizes: list[int]):
    assert [len(roots) for roots in orbits_of(load_topology(spec))] == sizes


def test_mi250_boxes_are_carried_in_one_way_only():
    """Loads are even: the images of a link under the moves are its orbit, each as often."""
    network = load_topology("mi250:boxes=2")
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    for orbit in root_orbits(network, links, (1,) * 32):
        images = {tuple(sorted(orbit.links[:, i].tolist())) for i in range(len(links.tail))}
        assert len(images) == 22


def test_latencies_break_a_symmetry():
    assert orbits_of(path_of_three()) == [(0, 2), (1,)]
    assert orbits_of(network_of("a b c", "a - b: 1 1, b - c: 1 2")) == [(0,), (1,), (2,)]


def test_weights_break_a_symmetry_and_need_no_tree_at_0():
    assert orbits_of(path_of_three(), 1, 1, 0) == [(0,), (1,)]


def test_moves_are_permutations():
    network = load_topology("dgx_h100:boxes=3")
    (orbit,) = root_orbits(network, TimedLinks.of(network, Fraction(1), reduction=False), (1,) * 24)
    start = network.compute[orbit.roots[0]]
    assert np.array_equal(orbit.nodes[:, start], [network.compute[r] for r in orbit.roots])


def test_link_classes_are_those_of_the_group():
    links = TimedLinks.of(load_topology("torus:dims=4x3"), Fraction(10), reduction=False)
    orbits = root_orbits(load_topology("torus:dims=4x3"), links, (1,) * 12)
    classes = link_classes(orbits)
    assert sorted(np.bincount(classes)) == [12] * 4
    for moved in orbits[0].links:
        assert (classes[moved] == classes).all()


def test_uneven_images_leave_every_link_alone():
    """The ends of a path are carried to each other, the middle to itself only."""
    links = TimedLinks.of(path_of_three(), Fraction(10), reduction=False)
    orbits = root_orbits(path_of_three(), links, (1,) * 3)
    assert link_classes(orbits).tolist() == [0, 1, 2, 3]


def around(network: Topology, root: int) -> Orbit:
    links = TimedLinks.of(network, Fraction(10), reduction=False)
    weights = [int(rank == root) for rank in range(network.num_compute)]
    (orbit,) = root_orbits(network, links, weights)
    assert set(orbit.roots) == {root}
    assert (orbit.nodes[:, network.compute[root]] == network.compute[root]).all()
    assert len({tuple(nodes) for nodes in orbit.nodes.tolist()}) == orbit.images
    return orbit


@pytest.mark.parametrize(
    ("spec", "root", "images"),
    [
        ("dgx_a100:boxes=4", 0, 3 * 7),
        ("dgx_a100:boxes=4", 13, 3 * 7),
        ("nvl72", 5, 71),
        ("torus:dims=5x5", 0, 8),
        ("hypercube:dimension=4", 0, 24),
    ],
)
def test_around_a_root_others_change_places(spec: str, root: int, images: int):
    """Of four boxes those without the root in turn, and in all boxes the GPUs beside its place.

    The symmetries of a square torus that fix a GPU are those of a square; of a hypercube, those of
    its dimensions.
    """
    orbit = around(load_topology(spec), root)
    assert orbit.images == len(orbit.roots) == images


def test_around_a_root_of_many_symmetries_some_are_taken():
    """The 720 orders of six dimensions are too many; the powers of one move change all six."""
    orbit = around(load_topology("hypercube:dimension=6"), 0)
    assert 1 < orbit.images <= 256


def test_around_a_root_links_are_loaded_in_classes():
    """Links of a turn are loaded equally: those of a0, of a1 to a7; of b0 and c0, of the others."""
    network = load_topology("dgx_a100:boxes=3")
    classes = link_classes([around(network, 0)])
    assert sorted(np.bincount(classes)) == [1] * 4 + [2] * 4 + [7] * 4 + [14] * 4


def test_without_a_symmetry_around_a_root_there_is_one_image():
    assert around(network_of("a b c", "a - b: 1 1, b - c: 1 2"), 0).images == 1
    assert around(path_of_three(), 0).images == 1
