"""Places of GPUs that are wired directly: circles where they serve, springs elsewhere."""

import numpy as np
import pytest

from forestcoll.draw.layouts.springs import Coordinates, spring_places
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of


def wired(*pairs: str, alone: str = "") -> Topology:
    """GPUs of one letter, joined in pairs."""
    names = " ".join(sorted({*"".join(pairs), *alone}))
    return network_of(names, ", ".join(f"{a} - {b}" for a, b in pairs), "wired")


def apart(places: Coordinates) -> np.ndarray:
    between = np.linalg.norm(places[:, None] - places[None], axis=2)
    return between[~np.eye(len(places), dtype=bool)]


def on_a_circle(places: Coordinates) -> bool:
    """Equally far from their middle."""
    from_middle = np.linalg.norm(places - places.mean(axis=0), axis=1)
    return bool(np.ptp(from_middle) < 1e-9 * from_middle.max())


@pytest.mark.parametrize("spec", ["ring:nodes=7", "complete:nodes=5", "ring:nodes=160"])
def test_rings_and_cliques_stand_on_a_circle(spec: str) -> None:
    """Neighbours as far apart as is asked, the lowest and leftmost at 0."""
    topology = load_topology(spec)
    places = spring_places(topology, topology.compute, pitch=0.7)
    assert on_a_circle(places)
    assert apart(places).min() == pytest.approx(0.7)
    assert places.min(axis=0).tolist() == [0, 0]


def test_disconnected_networks_stand_on_a_circle() -> None:
    """Two triangles with a tail, of different GPUs, and a lone GPU: springs would fly apart."""
    net = wired("ab", "bc", "ca", "cd", "ef", "fg", "ge", "gh", alone="i")
    assert on_a_circle(spring_places(net, net.compute, pitch=1))


def test_springs_put_neighbours_near_and_others_far() -> None:
    """A triangle with a tail of three: the end of the tail is nearest to its only neighbour."""
    net = wired("ab", "bc", "ca", "cd", "de", "ef")
    places = spring_places(net, net.compute, pitch=1)
    assert not on_a_circle(places)
    far = np.linalg.norm(places - places[5], axis=1)
    assert far.argsort().tolist()[:4] == [5, 4, 3, 2]
    assert apart(places).min() >= 1 - 1e-9
    assert np.array_equal(places, spring_places(net, net.compute, pitch=1))


def test_only_links_among_the_nodes_asked_for_count() -> None:
    """Of a wired box and what is around it: four of seven, a ring by themselves, so a circle."""
    net = wired("ab", "bc", "cd", "da", "ae", "ef", "fg")
    assert on_a_circle(spring_places(net, range(4), pitch=1))
    assert spring_places(net, [6], pitch=1).tolist() == [[0, 0]]
