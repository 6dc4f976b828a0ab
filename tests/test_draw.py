"""Drawings: everything is there, apart, in its frame, and coloured as the legend says."""

from __future__ import annotations

import io
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path as FilePath

import matplotlib.colors as mcolors
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch
from matplotlib.text import Text

from forestcoll.core.optimality import optimum
from forestcoll.draw import draw_topology, draw_tree, save_figure
from forestcoll.draw.canvas import CROSSING, GPU_RADIUS
from forestcoll.draw.layout import lay_out
from forestcoll.errors import ExportError, InvalidScheduleError
from forestcoll.generate import generate, generate_multicast
from forestcoll.problem.cuts import Cut
from forestcoll.schedule import Forest, Routes
from forestcoll.topology import TopologyBuilder, load_topology

SPECS = [
    "dgx_a100:boxes=1",
    "dgx_a100:boxes=4",
    "dgx_a100:boxes=2,ib_switches=2,nics=nodes",
    "mi250:boxes=2",
    "mi250:boxes=3,gpus_per_box=8",
    "paper_example",
    "ring:nodes=8",
    "torus:dims=4x4",
    "torus:dims=3x3x3",
    "hypercube:dimension=4",
    "complete:nodes=5",
    "fat_tree:leaves=4,hosts=4,spines=2",
    "rail_optimized:boxes=3,spines=2",
]


def patches(figure: Figure, kind: type, colour: str | None = None) -> list:
    return [
        patch
        for patch in figure.axes[0].patches
        if isinstance(patch, kind)
        and (colour is None or mcolors.same_color(patch.get_edgecolor(), colour))
    ]


def texts(figure: Figure) -> list[str]:
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    written = [text.get_text() for text in [*figure.texts, *figure.axes[0].texts]]
    return legends + written


def hand_made_forest() -> Forest:
    """Two boxes of two: 0 -> 1 and 2 (in the other box), 2 -> 3; and the mirror image from 3."""
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"b{i // 2}.gpu{i % 2}", box=i // 2, index=i % 2) for i in range(4)]
    for a, b in combinations(gpus, 2):
        builder.link(a, b, 1)
    return Forest(
        topology=builder.build("two pairs"),
        method="by hand",
        k=2,
        congestion=Fraction(2),
        root=np.array([0, 3], dtype=np.int32),
        multiplicity=np.array([2, 1], dtype=np.int64),
        parent=np.array([[-1, 0, 0, 2], [1, 3, 3, -1]], dtype=np.int32),
        routes=Routes.from_paths({}),
    )


@pytest.mark.parametrize("spec", SPECS)
def test_every_node_has_a_place_and_no_two_gpus_touch(spec: str) -> None:
    """Two radii between any two GPUs."""
    topology = load_topology(spec)
    places = lay_out(topology).places
    assert set(places) == set(range(len(topology.nodes)))
    points = np.array([(places[v].x, places[v].y) for v in topology.compute])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert apart[~np.eye(len(points), dtype=bool)].min() > 2 * GPU_RADIUS


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


def test_a_torus_stands_on_its_grid_and_its_long_links_are_bent() -> None:
    """Of a 4x4 torus, one link in four of each row and column wraps around: 8 pairs."""
    topology = load_topology("torus:dims=4x4")
    layout = lay_out(topology)
    columns = {place.x for place in layout.places.values()}
    rows = {place.y for place in layout.places.values()}
    assert (len(columns), len(rows)) == (4, 4)
    assert len(layout.bent) == 2 * 8
    figure = draw_topology(topology)
    (straight,) = (c for c in figure.axes[0].collections if isinstance(c, LineCollection))
    assert len(straight.get_segments()) == 24
    assert len(patches(figure, FancyArrowPatch)) == 8


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


def test_networks_without_order_can_be_drawn() -> None:
    """No boxes, no coordinates, no switch: springs; a lone GPU in a box with a switch; a bridge."""
    builder = TopologyBuilder()
    names = [builder.gpu(name) for name in ("ada", "bob", "cyd", "dan")]
    for a, b in [(0, 1), (1, 2), (2, 0), (2, 3)]:
        builder.link(names[a], names[b], 1)
    builder.link(builder.gpu("eve", box=0), builder.switch("hub"), 2)
    builder.link("hub", "ada", 2)
    figure = draw_topology(builder.build("odd"))
    assert {"ada", "eve", "hub", "box 0"} <= set(texts(figure))


def test_a_huge_network_is_scaled_down_instead_of_refused() -> None:
    """1024 GPUs in a ring: at most 60 inches wide, labels left out where they would be dust."""
    figure = draw_topology(load_topology("ring:nodes=1024"))
    assert max(figure.get_size_inches()) <= 60
    assert len(patches(figure, Circle)) == 1024
    assert not figure.axes[0].texts


def test_a_tree_has_an_edge_for_each_gpu_but_the_root() -> None:
    """Two boxes of two, 0 -> 1, 0 -> 2, 2 -> 3: three edges, one from box to box."""
    figure = draw_tree(hand_made_forest(), 0)
    assert len(patches(figure, FancyArrowPatch)) == 3
    assert len(patches(figure, FancyArrowPatch, CROSSING)) == 1
    assert {"box 0", "box 1", "between boxes: 1", "0.0", "1.1"} <= set(texts(figure))
    assert "two pairs, tree 0: the shard of b0.gpu0" in texts(figure)


def test_a_tree_that_carries_a_part_of_the_shard_says_so() -> None:
    """Multiplicity 1 of k = 2 is half of the shard of the last GPU."""
    assert "two pairs, tree 1: 1/2 of the shard of b1.gpu1" in texts(
        draw_tree(hand_made_forest(), 1)
    )


def test_depth_goes_down_and_no_two_gpus_of_a_tree_touch() -> None:
    """In each tree of two MI250 boxes (16 or more hops high), children stand below parents."""
    forest = generate(load_topology("mi250:boxes=2"))
    batch = int(np.argmax(forest.heights()))
    discs = [np.array(disc.center) for disc in patches(draw_tree(forest, batch), Circle)]
    assert len(discs) == 32
    assert min(np.linalg.norm(a - b) for a, b in combinations(discs, 2)) > 2 * GPU_RADIUS
    rows = {round(float(y), 6) for _, y in discs}
    assert len(rows) == forest.heights()[batch] + 1


def test_switches_that_copy_are_nodes_of_a_tree_and_no_two_nodes_touch() -> None:
    """16 GPUs and the NVSwitch of both boxes; InfiniBand only forwards. Upwards in a reduction."""
    topology = load_topology("dgx_h100:boxes=2")
    both = generate_multicast(topology, collective="allreduce").schedule
    for forest in both.phases:
        figure = draw_tree(forest, 0)
        discs = [np.array(disc.center) for disc in patches(figure, Circle)]
        bars = [middle(bar) for bar in patches(figure, FancyBboxPatch)]
        assert (len(discs), len(bars), len(patches(figure, FancyArrowPatch))) == (16, 2, 17)
        assert len(patches(figure, FancyArrowPatch, CROSSING)) == 1
        assert min(np.linalg.norm(a - b) for a, b in combinations(discs + bars, 2)) > 0.4
        assert texts(figure).count("nvswitch") == 2
    assert f"{topology.name}, tree 0: the sum for b0.gpu0" in texts(draw_tree(both.reduce, 0))


def middle(bar: FancyBboxPatch) -> np.ndarray:
    return np.array([bar.get_x() + bar.get_width() / 2, bar.get_y() + bar.get_height() / 2])


@pytest.mark.parametrize("batch", [-1, 2])
def test_a_tree_that_does_not_exist_is_refused(batch: int) -> None:
    """The forest has trees 0 and 1."""
    with pytest.raises(InvalidScheduleError, match="trees are 0 to 1"):
        draw_tree(hand_made_forest(), batch)


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_a_figure_is_written_in_the_format_of_its_name(suffix: str, tmp_path: FilePath) -> None:
    """By the first bytes of the file."""
    path = tmp_path / f"ring.{suffix}"
    save_figure(draw_topology(load_topology("ring:nodes=3")), path)
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[suffix]
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_names_with_dollar_signs_are_no_mathematics(suffix: str, tmp_path: FilePath) -> None:
    r"""Title, caption and labels that matplotlib cannot parse as TeX are written as they stand."""
    name = r"$x^2 \frac{ $"
    builder = TopologyBuilder()
    builder.link(builder.gpu(name), builder.switch(f"s {name}"), 1)
    builder.link(builder.gpu(f"b {name}", box=0), f"s {name}", 1)
    topology = builder.build(name)
    figure = draw_topology(topology, Cut(topology, [0]))
    assert {name, f"s {name}"} <= set(texts(figure))
    save_figure(figure, tmp_path / f"math.{suffix}")


def test_no_text_of_a_drawing_is_parsed() -> None:
    """Legends included."""
    topology = load_topology("dgx_a100:boxes=2")
    figure = draw_topology(topology, Cut(topology, optimum(topology).cut))
    assert figure.findobj(Text)
    assert not [text for text in figure.findobj(Text) if text.get_parse_math() and text.get_text()]


def test_an_unknown_format_and_a_missing_directory_are_refused(tmp_path: FilePath) -> None:
    """With the names of the formats, and with the reason."""
    figure = draw_topology(load_topology("ring:nodes=3"))
    with pytest.raises(ExportError, match=r"ends in \.png, \.pdf or \.svg"):
        save_figure(figure, tmp_path / "ring.doc")
    with pytest.raises(ExportError, match="cannot be written: no such file"):
        save_figure(figure, tmp_path / "nowhere" / "ring.png")


def test_the_same_network_gives_the_same_picture() -> None:
    """The layout has a fixed seed; equal bytes twice."""
    images = []
    for _ in range(2):
        buffer = io.BytesIO()
        draw_topology(load_topology("mi250:boxes=1,gpus_per_box=8")).savefig(buffer)
        images.append(buffer.getvalue())
    assert images[0] == images[1]


def test_drawing_leaves_pyplot_alone() -> None:
    """No global figure, no screen: pyplot is not even loaded."""
    code = "import sys, forestcoll.draw; sys.exit('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
