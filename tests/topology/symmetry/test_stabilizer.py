"""Symmetries that leave a GPU in place."""

from forestcoll.topology import (
    load_topology,
)
from forestcoll.topology.symmetry.automorphism import find_orbits, orbits_under
from forestcoll.topology.symmetry.stabilizer import bringing, link_orbits_around, stabilizer_of


def test_symmetries_bring_a_node_to_its_orbit_and_leave_it_in_place() -> None:
    """From the corner of a 3 x 3 mesh: four corners, and 2 x 3 links more than across its diagonal.

    Under the reflection at the diagonal the mesh's 24 links, none of them fixed, make 12 orbits.
    """
    mesh = load_topology("torus:dims=3x3,wrap=false")
    generators = find_orbits(mesh).generators
    bring = bringing(generators, 0, 9)
    assert sorted(bring) == [0, 2, 6, 8]
    assert all(int(moved[0]) == node for node, moved in bring.items())
    around = link_orbits_around(mesh, generators, bring)
    assert int(around.max()) + 1 == 12


def test_few_symmetries_generate_a_stabilizer() -> None:
    """The rest of a ring of six is turned over by the symmetries that leave one GPU in place."""
    topology = load_topology("ring:nodes=6")
    orbits = find_orbits(topology)
    bring = bringing(orbits.generators, 0, 6)
    kept = stabilizer_of(orbits.generators, bring)
    assert all(moves[0] == 0 for moves in kept)
    assert orbits_under(topology, kept).node.tolist() == [0, 1, 2, 3, 2, 1]


def test_without_a_symmetry_that_fixes_a_node_each_link_is_by_itself() -> None:
    """A one-way ring of four only rotates."""
    ring = load_topology("ring:nodes=4,bidirectional=false")
    generators = find_orbits(ring).generators
    bring = bringing(generators, 0, 4)
    assert stabilizer_of(generators, bring) == []
    assert link_orbits_around(ring, generators, bring).tolist() == [0, 1, 2, 3]
