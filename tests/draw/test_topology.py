"""Pictures of networks and of cuts."""

import io
from collections import Counter
from fractions import Fraction

import matplotlib.colors as mcolors
import pytest
from matplotlib.patches import Circle, FancyArrowPatch

from forestcoll.core.optimality import optimum
from forestcoll.draw import draw_topology
from forestcoll.draw.canvas import CROSSING, DEAD, SLOW
from forestcoll.draw.layouts.layout import lay_out
from forestcoll.problem.cuts import Cut
from forestcoll.topology import load_topology
from tests.draw.figures import SPECS, arrows, damaged, patches, texts


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
    assert texts(figure)[:2] == ["300 GB/s each direction", "25 GB/s each direction"]


def test_a_one_way_link_has_a_head_and_a_pair_of_links_is_one_line() -> None:
    """A directed ring of four has four arrows; a bidirectional one four lines without a head."""
    one_way = draw_topology(load_topology("ring:nodes=4,bidirectional=false"))
    both_ways = draw_topology(load_topology("ring:nodes=4"))
    assert len(patches(one_way, FancyArrowPatch)) == len(arrows(one_way)) == 4
    assert (len(patches(both_ways, FancyArrowPatch)), len(arrows(both_ways))) == (4, 0)
    assert texts(one_way)[0] == "1 GB/s"


def test_speeds_differ_in_width_and_in_grey() -> None:
    """Those of an MI250 box, and 16 GB/s to the network: four of each."""
    lines = patches(draw_topology(load_topology("mi250:boxes=2")), FancyArrowPatch)
    assert len({line.get_linewidth() for line in lines}) == 4
    assert len({mcolors.to_hex(line.get_edgecolor()) for line in lines}) == 4


def test_dead_and_slow_links_are_dashed_in_colours_of_their_own() -> None:
    """Of four boxes one NIC is gone, one cannot send, one has half its speed."""
    figure = draw_topology(damaged("dgx_a100:boxes=4", _HARM))
    dead, slow = (patches(figure, FancyArrowPatch, colour) for colour in (DEAD, SLOW))
    assert (len(dead), len(slow)) == (2, 1)  # both ways of the first and of the last are one line
    assert all(line.get_linestyle() != "-" for line in [*dead, *slow])
    assert {"dead: 3 directions", "slow: 2 directions, 12.5 of 25 GB/s"} <= set(texts(figure))
    assert "12.5 GB/s each direction" not in texts(figure)


_HARM = {
    "b3.gpu2 ib": None,
    "ib b3.gpu2": None,
    "b1.gpu0 ib": None,
    "b0.gpu5 ib": Fraction("12.5"),
    "ib b0.gpu5": Fraction("12.5"),
}


@pytest.mark.slow
def test_128_boxes_are_one_readable_page() -> None:
    """One box and a stack of 127; no text smaller than 5.5 points on a page of 7 x 10."""
    figure = draw_topology(load_topology("dgx_a100:boxes=128"))
    assert {"box 0", "boxes 1-127 (x 127)"} <= set(texts(figure))
    width, height = figure.get_size_inches()
    assert max(width / 7, height / 10) * 5.5 <= 8
    assert min(text.get_fontsize() for text in figure.axes[0].texts) >= 8


def test_the_edge_of_a_cut_keeps_a_box_out_of_the_stack() -> None:
    """Fifteen boxes are inside, one is not: 8 arrows into it."""
    topology = load_topology("dgx_a100:boxes=16")
    figure = draw_topology(topology, Cut(topology, optimum(topology).cut))
    assert "boxes 1-15 (x 15)" in texts(figure)
    assert len(patches(figure, FancyArrowPatch, CROSSING)) == 8
    assert "inside the cut: 120 of 128 GPUs" in texts(figure)


def test_links_of_a_bundle_are_counted() -> None:
    """Sixteen rails on each of two spines."""
    figure = draw_topology(load_topology("rail_optimized:boxes=4,gpus_per_box=16,spines=2"))
    assert texts(figure).count("x 16") == 2
    assert "rail0 to rail15, one for each GPU of a box" in texts(figure)


@pytest.mark.slow
def test_no_line_of_a_drawing_leaves_it() -> None:
    """Bent links included, which title and legend would cover otherwise."""
    for spec in ("hypercube:dimension=6", "torus:dims=3x3x3"):
        figure = draw_topology(load_topology(spec))
        (left, right), (low, high) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
        for line in patches(figure, FancyArrowPatch):
            x, y = line.get_path().interpolated(20).vertices.T
            assert left < x.min()
            assert x.max() < right
            assert low < y.min()
            assert y.max() < high


@pytest.mark.slow
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


def test_links_with_a_shared_capacity_have_a_colour_and_a_dash_of_their_own() -> None:
    """Eight GPUs into the host: eight arrows in, dashed in blue, and eight out, plain."""
    figure = draw_topology("docs/examples/host-memory.yaml")
    into = patches(figure, FancyArrowPatch, "#0072b2")
    assert len(into) == 8
    assert all(line.get_linestyle() != "-" for line in into)
    assert len(patches(figure, FancyArrowPatch)) == 16
    assert "host memory: 150 GB/s shared by 8 links" in texts(figure)


def test_kinds_of_shared_capacities_share_an_entry_and_a_link_shows_the_tightest() -> None:
    """Half-duplex wires 0 to 3, 1 of 2 GB/s, once each; all wires of GPU 0, 4 of 4 GB/s, hidden.

    Wires 4 and 5 of the ring are in no group.
    """
    ring = load_topology("ring:nodes=6")
    for v in range(4):
        ring = ring.with_shared(f"wire {v}", f"gpu{v} - gpu{v + 1}", 1)
    ring = ring.with_shared("engine", "gpu1", 4)
    figure = draw_topology(ring)
    assert len(patches(figure, FancyArrowPatch, "#0072b2")) == 4
    assert not patches(figure, FancyArrowPatch, "#009e73")
    written = texts(figure)
    assert "wire * (x 4): 1 GB/s shared by 2 links" in written
    assert "engine: 4 GB/s shared by 4 links (which have a tighter one)" in written


def test_many_kinds_are_counted() -> None:
    """Six kinds have four looks: the last entry counts two more."""
    ring = load_topology("ring:nodes=6")
    for v in range(6):
        name = f"{'abcdef'[v]}"
        ring = ring.with_shared(name, f"gpu{v} - gpu{(v + 1) % 6}", Fraction(v + 1, 7))
    figure = draw_topology(ring)
    assert len(patches(figure, FancyArrowPatch, "#b07800")) == 3
    assert "d: 0.571429 GB/s shared by 2 links, and 2 more" in texts(figure)


def test_exits_of_a_cut_keep_the_dash_of_their_shared_capacity() -> None:
    star = load_topology("dgx_a100:boxes=1").with_shared("up", "b0.gpu0 -> b0.nvswitch", 100)
    cut = Cut(star, (star.position_of["b0.gpu0"],))
    (line,) = patches(draw_topology(star, cut), FancyArrowPatch, CROSSING)
    assert line.get_linestyle() != "-"


def test_boxes_with_different_shared_capacities_are_not_folded_into_one() -> None:
    """Of six equal boxes five are folded; a common limit in one box sets it apart."""
    boxes = load_topology("dgx_a100:boxes=6")
    limited = boxes.with_shared("slow", "b3.gpu* -> b3.nvswitch", 100)
    assert "boxes 1-5 (x 5)" in texts(draw_topology(boxes))
    written = texts(draw_topology(limited))
    assert "box 3" in written
    assert "boxes 0-2, 4-5 (x 5)" in written


def test_gpus_on_a_leaf_are_no_box() -> None:
    """Frames of a fat tree have the names of the leaves, those of machines their numbers."""
    leaves = texts(draw_topology(load_topology("fat_tree:leaves=3,hosts=4,spines=2")))
    assert {"GPUs on leaf0", "GPUs on leaf1", "GPUs on leaf2"} <= set(leaves)
    assert "box 0" in texts(draw_topology(load_topology("dgx_a100:boxes=2")))
    assert "box 0" in texts(draw_topology(load_topology("dgx_a100:boxes=1")))
