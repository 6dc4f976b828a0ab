"""Nodes and links in words."""

import json
from fractions import Fraction

import pytest

from forestcoll.cli.facts import as_json, as_text
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from forestcoll.topology.describe import as_float, counted, decimal, link_classes, nodes_in_words
from tests.hand_networks import network_of


def words(topology: Topology, *names: str) -> str:
    return nodes_in_words(topology, [topology.position_of[name] for name in names])


def box(number: int) -> tuple[str, ...]:
    return (*(f"b{number}.gpu{i}" for i in range(8)), f"b{number}.nvswitch")


A100 = load_topology("dgx_a100:boxes=4")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (box(2), "box 2 (8 GPUs)"),
        ((*box(0), *box(1), *box(3)), "boxes 0-1, 3 (8 GPUs each)"),
        (("b1.gpu5",), "GPU 5 of box 1"),
        (("b1.gpu0", "b1.gpu1", "b1.gpu2", "b1.gpu7"), "GPUs 0-2, 7 of box 1"),
        (("b0.gpu3", "b2.gpu3"), "GPU 3 of boxes 0, 2"),
        (box(0)[:8], "GPUs 0-7 of box 0"),
        ((*box(0), "b1.gpu0", "ib"), "box 0 (8 GPUs), GPU 0 of box 1 and switch ib"),
        (("b0.nvswitch", "ib"), "switches b0.nvswitch and ib"),
        ((), "nothing"),
    ],
)
def test_a_set_of_nodes_is_named_by_boxes_first(names: tuple[str, ...], expected: str) -> None:
    """A whole box, its switch included, is one word; eight GPUs without their switch are not."""
    assert words(A100, *names) == expected


def test_boxes_of_different_sizes_are_listed_separately() -> None:
    """A box of two GPUs and one of three."""
    topology = network_of("0:0@0.0 0:1@0.1 1:0@1.0 1:1@1.1 1:2@1.2", "", "unlike")
    assert nodes_in_words(topology, range(5)) == "box 0 (2 GPUs) and box 1 (3 GPUs)"


def test_gpus_without_a_box_are_named_in_runs() -> None:
    """Of a ring of 12: gpu9 and gpu10 count on; runs of two are not shortened."""
    ring = load_topology("ring:nodes=12")
    chosen = [f"gpu{i}" for i in (0, 1, 2, 5, 9, 10)]
    assert words(ring, *chosen) == "GPUs gpu0-gpu2, gpu5, gpu9 and gpu10"


def test_a_long_list_of_names_is_cut_short_and_counted() -> None:
    """Eight names that do not count on: five shown, three counted."""
    builder = TopologyBuilder()
    names = [builder.gpu(name) for name in ("oak", "elm", "ash", "fir", "yew", "may", "box", "bay")]
    topology = builder.build("wood")
    assert words(topology, *names) == "8 GPUs (oak, elm, ash, fir, yew and 3 more)"


def test_gpus_with_a_box_but_no_number_go_by_name() -> None:
    """Numbers in a box are optional in a file."""
    topology = network_of("left@0 right@0", "", "pair")
    assert words(topology, "left") == "GPU left"


def test_links_are_gathered_by_bandwidth_and_place() -> None:
    """Two A100 boxes: 16 links each way to the NVSwitches, fastest first, 16 to InfiniBand."""
    topology = load_topology("dgx_a100:boxes=2")
    gathered = link_classes(topology, topology.links)
    assert [(each.count, each.bandwidth_gb_s) for each in gathered] == [
        (16, 300),
        (16, 300),
        (16, 25),
        (16, 25),
    ]
    assert str(gathered[3]) == "16 x 25 GB/s from switch ib to GPUs 0-7 of boxes 0-1"


def test_gathered_links_are_all_there() -> None:
    """Every link is in one class: the counts and bandwidths add up."""
    topology = load_topology("mi250:boxes=2")
    gathered = link_classes(topology, topology.links)
    assert sum(each.count for each in gathered) == len(topology.links)
    assert sum(each.count * each.bandwidth_gb_s for each in gathered) == sum(topology.egress_gb_s)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Fraction(10**400), "1.00000e+400"),
        (Fraction(-(10**400), 3), "-3.33333e+399"),
        (Fraction(2, 3 * 10**400), "6.66667e-401"),
    ],
)
def test_a_number_that_no_float_holds_is_still_written(value: Fraction, expected: str) -> None:
    """Beyond 1e308 and below 5e-324; JSON says null beside the exact value."""
    assert decimal(value) == expected
    assert as_float(value) is None
    assert json.loads(as_json({"x": value}))["x"] == {"exact": str(value), "value": None}
    assert as_text({"x": value}).endswith(f"= {expected}")


def test_zero_is_a_float() -> None:
    """Nothing is lost in it."""
    assert (decimal(Fraction(0)), as_float(Fraction(0))) == ("0", 0.0)


def test_small_words() -> None:
    """One link, two links; six digits, or as many as wanted."""
    assert counted(1, "link") == "1 link"
    assert counted(2, "link") == "2 links"
    assert decimal(Fraction(1, 3)) == "0.333333"
    assert decimal(Fraction(2, 3), digits=2) == "0.67"
