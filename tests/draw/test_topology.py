"""Pictures of networks and of cuts."""

from __future__ import annotations

import io
from collections import Counter

import matplotlib.colors as mcolors
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle, FancyArrowPatch

from forestcoll.core.optimality import optimum
from forestcoll.draw import draw_topology
from forestcoll.draw.canvas import CROSSING
from forestcoll.draw.layout import lay_out
from forestcoll.problem.cuts import Cut
from forestcoll.topology import load_topology
from tests.draw.figures import SPECS, patches, texts


@pytest.mark.parametrize("spec", ["paper_example", "torus:dims=3x3x3", "mi250:boxes=1"])
def test_every_gpu_is_drawn(spec: str) -> None:
    """A disc for each."""
    topology = load_topology(spec)
    assert len(patches(draw_topology(topology), Circle)) == topology.num_compute


@pytest.mark.parametrize("spec", SPECS)
def test_a_box_frames_its_own_nodes_and_no_others(spec: str) -> None:
    """Frames do not overlap either: they would hold each other's nodes."""
    topology = load_topology(spec)
    layout = lay_out(topology)
    for box, frame in layout.frames.items():
        for v, node in enumerate(topology.nodes):
            place = layout.places[v]
            across = frame.x < place.x < frame.x + frame.width
            assert (across and frame.y < place.y < frame.y + frame.height) == (node.box == box)


def test_exit_links_of_a_cut_are_highlighted_one_by_one() -> None:
    """Four A100 boxes: 8 links enter the box outside, and 24 of 32 GPUs are inside."""
    topology = load_topology("dgx_a100:boxes=4")
    cut = Cut(topology, optimum(topology).cut)
    figure = draw_topology(topology, cut)
    assert len(patches(figure, FancyArrowPatch, CROSSING)) == len(cut.exit_links) == 8
    fills = Counter(mcolors.to_hex(disc.get_facecolor()) for disc in patches(figure, Circle))
    assert sorted(fills.values()) == [8, 24]
    written = "\n".join(texts(figure))
    assert "inside the cut: 24 of 32 GPUs" in written
    assert "exit links: 200 GB/s in all" in written
    assert "24 / 200 = 3/25 s/GB" in written


def test_without_a_cut_nothing_is_highlighted() -> None:
    """No link in the cut's colour, nothing about cuts in the legend."""
    figure = draw_topology(load_topology("dgx_a100:boxes=2"))
    assert not patches(figure, FancyArrowPatch, CROSSING)
    assert texts(figure)[:2] == ["300 GB/s", "25 GB/s"]


def test_a_one_way_link_has_a_head_and_a_pair_of_links_is_one_line() -> None:
    """A directed ring of four has four arrows and no plain line; a bidirectional one no arrow."""
    one_way = draw_topology(load_topology("ring:nodes=4,bidirectional=false"))
    assert len(patches(one_way, FancyArrowPatch)) == 4
    both_ways = draw_topology(load_topology("ring:nodes=4"))
    (lines,) = (c for c in both_ways.axes[0].collections if isinstance(c, LineCollection))
    assert (len(lines.get_segments()), len(patches(both_ways, FancyArrowPatch))) == (4, 0)


def test_a_huge_network_is_scaled_down_instead_of_refused() -> None:
    """1024 GPUs in a ring: at most 60 inches wide, labels left out where they would be dust."""
    figure = draw_topology(load_topology("ring:nodes=1024"))
    assert max(figure.get_size_inches()) <= 60
    assert len(patches(figure, Circle)) == 1024
    assert not figure.axes[0].texts


def test_the_same_network_gives_the_same_picture() -> None:
    """The layout has a fixed seed; equal bytes twice."""
    images = []
    for _ in range(2):
        buffer = io.BytesIO()
        draw_topology(load_topology("mi250:boxes=1,gpus_per_box=8")).savefig(buffer)
        images.append(buffer.getvalue())
    assert images[0] == images[1]
