"""Where nodes are drawn."""

from dataclasses import replace

import numpy as np
import pytest

from forestcoll.draw import draw_topology
from forestcoll.draw.layouts.layout import lay_out
from forestcoll.draw.layouts.places import GPU_RADIUS
from forestcoll.topology import load_topology
from tests.draw.figures import SPECS, texts
from tests.hand_networks import network_of


@pytest.mark.parametrize("spec", SPECS)
def test_every_node_has_a_place_and_no_two_gpus_touch(spec: str) -> None:
    """Two radii between any two GPUs."""
    topology = load_topology(spec)
    places = lay_out(topology).places
    assert set(places) == set(range(len(topology.nodes)))
    points = np.array([(places[v].x, places[v].y) for v in topology.compute])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert apart[~np.eye(len(points), dtype=bool)].min() > 2 * GPU_RADIUS


def test_scale_out_switches_stand_in_tiers() -> None:
    """Rails are one hop from the GPUs, spines two: GPUs below rails below spines."""
    topology = load_topology("rail_optimized:boxes=2,spines=2")
    places = lay_out(topology).places
    height = {topology.nodes[v].name: place.y for v, place in places.items()}
    assert height["b0.nvswitch"] < height["b0.gpu0"] < height["rail0"] < height["spine0"]
    assert height["rail0"] == height["rail7"]
    assert height["spine0"] == height["spine1"]


def test_many_boxes_stand_on_both_sides_of_their_switch() -> None:
    """Four boxes: 0 and 1 above InfiniBand, 2 and 3 below."""
    topology = load_topology("dgx_a100:boxes=4")
    places = lay_out(topology).places
    ib = places[topology.position_of["ib"]].y
    above = [places[topology.position_of[f"b{box}.gpu0"]].y > ib for box in range(4)]
    assert above == [True, True, False, False]


def test_rows_of_boxes_behind_the_first_are_led_round_it() -> None:
    """Eight boxes of DGX A100 are two rows of two on each side; the outer ones' links turn."""
    topology = load_topology("dgx_a100:boxes=8")
    layout = lay_out(topology)
    assert len({frame.y for frame in layout.frames.values()}) == 4
    turned = {topology.nodes[v].box for pair in layout.lanes for v in pair} - {None}
    assert turned == {0, 1, 6, 7}
    for (tail, head), corners in layout.lanes.items():
        gap = corners[1][0]
        box = topology.nodes[tail if topology.nodes[tail].box is not None else head].box
        assert box is not None
        assert gap < layout.frames[box].x


def test_a_link_that_is_only_drawn_is_led_round_too() -> None:
    """A dead one, from GPU 0 of a box behind another."""
    whole = load_topology("dgx_a100:boxes=8")
    dead = (whole.position_of["b0.gpu0"], whole.position_of["ib"])
    links = [e for e in whole.links if {e.tail, e.head} != set(dead)]
    assert dead not in lay_out(replace(whole, links=links)).lanes
    assert dead in lay_out(replace(whole, links=links), [dead]).lanes


def test_networks_without_order_can_be_drawn() -> None:
    """No boxes, no coordinates, no switch: springs; a lone GPU in a box with a switch; a bridge."""
    links = "ada bob dan - cyd, ada - bob, ada eve - hub: 2"
    figure = draw_topology(network_of("ada bob cyd dan eve@0 [hub]", links, "odd"))
    assert {"ada", "eve", "hub", "box 0"} <= set(texts(figure))
