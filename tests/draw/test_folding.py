"""Equal boxes and rails, drawn once."""

from fractions import Fraction

import pytest

from forestcoll.draw.folding import fold
from forestcoll.topology import load_topology
from tests.draw.figures import damaged
from tests.hand_networks import network_of


def test_up_to_four_boxes_are_all_drawn() -> None:
    """And five are one, and a stack of four."""
    four, five = (fold(load_topology(f"dgx_a100:boxes={n}")) for n in (4, 5))
    assert not four.boxes
    assert four.topology == load_topology("dgx_a100:boxes=4")
    assert five.boxes == {1: (1, 2, 3, 4)}
    assert five.topology.num_compute == 16


def test_damaged_boxes_stand_apart_from_the_stack() -> None:
    """Of 16, one lacks a link, one has a slow one: 14 are equal."""
    harm = {"b3.gpu2 ib": None, "ib b5.gpu0": Fraction(5)}
    folded = fold(damaged("dgx_a100:boxes=16", harm))
    others = tuple(box for box in range(16) if box not in (3, 5))
    assert folded.boxes == {0: others}
    assert {node.box for node in folded.topology.nodes} == {0, 3, 5, None}


def test_marked_boxes_are_not_equal_to_others() -> None:
    """A cut around boxes 0 to 2 of 8."""
    topology = load_topology("dgx_h100:boxes=8")
    inside = [v for v, node in enumerate(topology.nodes) if node.box in (0, 1, 2)]
    assert fold(topology, dict.fromkeys(inside, "in")).boxes == {0: (0, 1, 2), 3: (3, 4, 5, 6, 7)}


def test_drawn_nodes_map_to_the_original_ones() -> None:
    """And what is left out is not."""
    topology = load_topology("dgx_a100:boxes=6")
    folded = fold(topology)
    for v, drawn in folded.drawn.items():
        assert folded.topology.nodes[drawn] == topology.nodes[v]
        assert folded.original[drawn] == v
    assert topology.position_of["b2.gpu0"] not in folded.drawn


def test_boxes_joined_to_each_other_are_not_folded() -> None:
    """A ring of six boxes of two GPUs: a link is between one box and the next."""
    boxes = " ".join(f"b{i}.gpu0@{i}.0 b{i}.gpu1@{i}.1" for i in range(6))
    links = [f"b{i}.gpu0 - b{i}.gpu1: 4, b{i}.gpu1 - b{(i + 1) % 6}.gpu0" for i in range(6)]
    assert not fold(network_of(boxes, ", ".join(links), "ring of boxes")).boxes


@pytest.mark.parametrize("harm", [{}, {"b1.gpu2 rail2": None, "rail2 b1.gpu2": None}])
def test_rails_become_a_bundle_even_if_a_link_is_dead(harm: dict[str, None]) -> None:
    """Sixteen switches are one, 16 links to a spine one line; each GPU keeps its own."""
    topology = damaged("rail_optimized:boxes=3,gpus_per_box=16,spines=2", harm)
    folded = fold(topology)
    names = [node.name for node in folded.topology.nodes if node.box is None]
    assert names == ["rail0 to rail15, one for each GPU of a box", "spine0", "spine1"]
    rail = folded.topology.position_of[names[0]]
    assert folded.drawn[topology.position_of["rail5"]] == rail
    assert set(folded.bundled.values()) == {16}
    assert len(folded.bundled) == 4
    joined = [link for link in folded.topology.links if link.head == rail]
    assert len(joined) == 48 + 2 - len(harm) // 2


def test_eight_rails_are_all_drawn() -> None:
    topology = load_topology("rail_optimized:boxes=3,spines=2")
    assert fold(topology).topology == topology


def test_two_switches_or_one_are_no_rails() -> None:
    """InfiniBand as one switch, or as two that share out the GPUs of a box in halves."""
    for spec in (
        "dgx_a100:boxes=2",
        "dgx_a100:boxes=2,ib_switches=2",
        "fat_tree:leaves=4,hosts=2,spines=4",
    ):
        assert fold(load_topology(spec)).topology == load_topology(spec)


def test_many_switches_joined_to_the_same_nodes_are_one() -> None:
    """Six spines of a fat tree, x 6; of three leaves none is folded, nor of four spines one."""
    folded = fold(load_topology("fat_tree:leaves=3,hosts=2,spines=6"))
    names = [node.name for node in folded.topology.nodes if not node.is_gpu]
    assert names == ["leaf0", "leaf1", "leaf2", "spine0 to spine5 (x 6)"]
    assert set(folded.bundled.values()) == {6}
    four = load_topology("fat_tree:leaves=3,hosts=2,spines=4")
    assert fold(four).topology == four


def test_a_switch_that_lacks_a_link_is_not_in_the_bundle() -> None:
    """Five of six spines are alike."""
    harm = {"leaf1 spine2": None, "spine2 leaf1": None}
    folded = fold(damaged("fat_tree:leaves=3,hosts=2,spines=6", harm))
    names = [node.name for node in folded.topology.nodes if node.name.startswith("spine")]
    assert names == ["spine0 to spine5 (x 5)", "spine2"]
