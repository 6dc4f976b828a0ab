"""A box on its own."""

import itertools

import pytest

from forestcoll.draw.layouts.blocks import blocks, package_places, tiers
from forestcoll.draw.layouts.places import GPU_RADIUS
from forestcoll.topology import load_topology
from tests.draw.figures import damaged


@pytest.mark.parametrize(("hosts", "rows"), [(8, 1), (16, 1), (17, 2), (40, 2)])
def test_gpus_of_a_second_row_stand_between_those_of_the_first(hosts: int, rows: int) -> None:
    """So that a vertical link from any of them passes all others."""
    topology = load_topology(f"fat_tree:leaves=1,hosts={hosts},spines=1")
    (block,) = blocks(topology).values()
    gpus = [block.places[v] for v in topology.compute]
    assert len({place.y for place in gpus}) == rows
    across = sorted(place.x for place in gpus)
    assert all(b - a > GPU_RADIUS for a, b in itertools.pairwise(across))


def test_switches_on_the_way_out_stand_over_the_gpus_and_others_under_them() -> None:
    """NVSwitch, GPUs, PCIe switches, NICs; mirrored the other way round."""
    topology = load_topology("dgx_a100:boxes=2,nics=nodes")
    names = ("b0.nvswitch", "b0.gpu0", "b0.pcie0", "b0.nic0")
    block = blocks(topology)[0]
    heights = [block.places[topology.position_of[name]].y for name in names]
    assert heights == sorted(heights)
    turned = block.mirrored()
    heights = [turned.places[topology.position_of[name]].y for name in names]
    assert heights == sorted(heights, reverse=True)
    assert turned.upside_down


def test_tiers_are_as_far_from_the_gpus_as_their_switches() -> None:
    """Eight rails, then two spines; a box's own switches are in none."""
    topology = load_topology("rail_optimized:boxes=2,spines=2")
    found = [[topology.nodes[v].name for v in tier] for tier in tiers(topology)]
    assert found == [[f"rail{i}" for i in range(8)], ["spine0", "spine1"]]


@pytest.mark.parametrize(
    "spec", ["mi250:boxes=1", "mi250:boxes=1,gpus_per_box=8", "mi250_teccl:chassis=1"]
)
def test_eight_packages_stand_in_four_rows_of_two(spec: str) -> None:
    """GPUs 2i and 2i + 1 side by side; of half a box, four packages in two rows."""
    topology = load_topology(spec)
    places = package_places(topology, topology.compute)
    assert places is not None
    for i in range(len(places) // 2):
        one, other = places[2 * i], places[2 * i + 1]
        assert (other.x - one.x, other.y - one.y) == pytest.approx((0.85, -0.44))
    assert len({round(places[2 * i].y, 6) for i in range(len(places) // 2)}) == len(places) // 4


def test_a_link_out_of_the_box_passes_beside_all_gpus() -> None:
    """It runs straight up: no two GPUs are nearer to each other across than a radius."""
    topology = load_topology("mi250:boxes=1")
    places = package_places(topology, topology.compute)
    assert places is not None
    across = sorted(place.x for place in places.values())
    assert min(b - a for a, b in itertools.pairwise(across)) > GPU_RADIUS


def test_a_box_with_a_dead_link_is_still_known_and_one_with_another_is_not() -> None:
    """GPUs 4 and 6 are joined, 0 and 15 are not; a DGX-1 is wired otherwise."""
    topology = damaged("mi250:boxes=1", {"b0.gpu4 b0.gpu6": None, "b0.gpu6 b0.gpu4": None})
    assert package_places(topology, topology.compute) is not None
    for spec in ("dgx1", "complete:nodes=16"):
        other = load_topology(spec)
        assert package_places(other, other.compute) is None
