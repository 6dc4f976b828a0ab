"""A box on its own."""

import itertools

import pytest

from forestcoll.draw.blocks import blocks, tiers
from forestcoll.draw.places import GPU_RADIUS
from forestcoll.topology import load_topology


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
