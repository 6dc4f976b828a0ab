"""Parts of a network, those that are alike together."""

from dataclasses import replace

from forestcoll.topology import NodeKind, Topology, load_topology
from forestcoll.topology.symmetry.automorphism import find_orbits, no_symmetry
from forestcoll.what_if.symmetric_parts import (
    PartKind,
    SymmetricParts,
    counted_parts,
    symmetric_parts,
    symmetries,
)
from tests.hand_networks import network_of

BOXES = load_topology("dgx_a100:boxes=2")


def test_every_part_is_in_one_class_by_a_name_that_finds_it() -> None:
    for topology in (BOXES, BOXES.without("b0.gpu1 - ib", "b1.gpu2 -> b1.nvswitch")):
        for orbits in (find_orbits(topology), no_symmetry(topology)):
            found = symmetric_parts(topology, orbits)
            nodes = [n for c in found if c.kind in ("GPU", "switch") for n in c.names]
            assert sorted(nodes) == sorted(node.name for node in topology.nodes)
            links = [n for c in found if c.kind in ("NIC", "link") for n in c.names]
            left = topology.without(*links)
            assert left.links == ()
            assert len(links) == len(set(links))


def test_symmetries_make_classes() -> None:
    words = [one.in_words() for one in symmetric_parts(BOXES, find_orbits(BOXES))]
    assert words == [
        "any of 16 NICs, b*.gpu* - ib",
        "any of 16 links, b*.gpu* - b*.nvswitch",
        "any of 16 GPUs, b*.gpu*",
        "any of 2 switches, b*.nvswitch",
        "switch ib",
    ]
    damaged = BOXES.without("b0.gpu0 - ib")
    nics = [p for p in symmetric_parts(damaged, find_orbits(damaged)) if p.kind is PartKind.NIC]
    assert sorted(len(part.names) for part in nics) == [7, 8]
    assert nics[0].in_words() == "NIC b0.gpu1 - ib or 6 others alike, of b*.gpu* - ib"


def test_a_link_of_one_way_is_a_part_of_its_own() -> None:
    ring = load_topology("ring:nodes=3,bidirectional=false")
    (links,) = (p for p in symmetric_parts(ring, find_orbits(ring)) if p.kind is PartKind.LINK)
    assert links.names == ("gpu0 -> gpu1", "gpu1 -> gpu2", "gpu2 -> gpu0")


def test_nics_leave_boxes_and_links_do_not() -> None:
    fat = load_topology("fat_tree:leaves=2,hosts=2,spines=1")
    kinds = {part.kind for part in symmetric_parts(fat, no_symmetry(fat))}
    assert PartKind.LINK in kinds
    explicit = load_topology("dgx_a100:boxes=2,nics=nodes")
    nics = [p for p in symmetric_parts(explicit, find_orbits(explicit)) if p.kind is PartKind.NIC]
    assert [part.pattern for part in nics] == ["b*.nic* - ib"]


def test_marks_distinguish_kinds_and_weights() -> None:
    weights = tuple(int(rank == 3) for rank in range(16))
    orbits = symmetries(BOXES, weights)
    alone = [p for p in symmetric_parts(BOXES, orbits) if p.names[0] == "b0.gpu3"]
    assert alone == [SymmetricParts(PartKind.GPU, ("b0.gpu3",), "b*.gpu*", False)]
    assert alone[0].in_words() == "GPU b0.gpu3"


def test_shared_capacities_that_symmetries_carry_into_one_another_are_alike() -> None:
    """Wires 0 - 1 and 2 - 3 of a square, and 1 - 2 of another limit; two names of one wire."""
    square = load_topology("ring:nodes=4")
    for name, wire, limit in (
        ("a", "gpu0 - gpu1", 1),
        ("b", "gpu2 - gpu3", 1),
        ("c", "gpu1 - gpu2", 2),
        ("d", "gpu0 - gpu3", 2),
        ("e", "gpu0 - gpu3", 2),
        ("f", "gpu1 - gpu2", 2),
    ):
        square = square.with_shared(name, wire, limit)
    parts = symmetric_parts(square, find_orbits(square))
    groups = [one.names for one in parts if one.kind is PartKind.SHARED]
    assert sorted(groups) == [("a", "b"), ("c", "d", "e", "f")]


def test_parts_are_counted_in_words() -> None:
    words = [counted_parts(kind, number) for kind in PartKind for number in (1, 2)]
    assert {"1 NIC", "2 NICs", "1 link", "2 links", "1 GPU", "2 GPUs"} <= set(words)
    assert {"1 switch", "2 switches"} <= set(words)


def test_a_nic_joins_the_inside_of_a_box_with_a_switch_outside() -> None:
    """Neither a link between GPUs of two boxes, nor one of a GPU outside to a box's own switch."""
    topology = network_of(
        "a@0 b@1 lone [own]@0 [outside]", "a - b own, lone - own, a lone own - outside", "kinds"
    )
    found = symmetric_parts(topology, no_symmetry(topology))
    assert [one.names[0] for one in found if one.kind is PartKind.NIC] == [
        "a - outside",
        "own - outside",
    ]
    links = {one.names[0] for one in found if one.kind is PartKind.LINK}
    assert links == {"a - b", "a - own", "lone - own", "lone - outside"}


def test_patterns_are_reported_in_order() -> None:
    """GPUs of four kinds of names in a ring, all alike."""
    ring = network_of("delta1 beta1 gamma1 alpha1", "delta1 gamma1 - beta1 alpha1", "names")
    (gpus,) = (one for one in symmetric_parts(ring, find_orbits(ring)) if one.kind is PartKind.GPU)
    assert gpus.pattern == "alpha* and beta* and delta* and gamma*"


def test_kinds_and_weights_mark_nodes_apart() -> None:
    """A relay in the place of one of four GPUs, and a switch, each with the same links."""
    ring = load_topology("ring:nodes=6")
    kinds = [NodeKind.COMPUTE, NodeKind.RELAY, NodeKind.SWITCH] * 2
    nodes = tuple(replace(node, kind=k) for node, k in zip(ring.nodes, kinds, strict=True))
    mixed = Topology("mixed", nodes, ring.links)
    orbits = symmetries(mixed, [1, 1]).node.tolist()
    assert orbits[:3] == orbits[3:]
    assert len(set(orbits)) == 3
    assert len(set(symmetries(mixed, [1, 2]).node.tolist())) == 6
