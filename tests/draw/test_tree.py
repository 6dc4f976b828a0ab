"""Pictures of trees."""

from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from forestcoll.draw import draw_tree
from forestcoll.draw.canvas import CROSSING
from forestcoll.draw.layouts.places import GPU_RADIUS
from forestcoll.errors import InvalidScheduleError
from forestcoll.generation import generate
from forestcoll.schedule import Forest, Routes, write_schedule
from forestcoll.topology import TopologyBuilder, load_topology
from tests.draw.figures import patches, texts


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
    forest = generate(load_topology("mi250:boxes=2")).schedule
    batch = int(np.argmax(forest.tree_depths()))
    discs = [np.array(disc.center) for disc in patches(draw_tree(forest, batch), Circle)]
    assert len(discs) == 32
    assert min(np.linalg.norm(a - b) for a, b in combinations(discs, 2)) > 2 * GPU_RADIUS
    rows = {round(float(y), 6) for _, y in discs}
    assert len(rows) == forest.tree_depths()[batch] + 1


def test_switches_that_copy_are_nodes_of_a_tree_and_no_two_nodes_touch() -> None:
    """16 GPUs and the NVSwitch of both boxes; InfiniBand only forwards. Upwards in a reduction."""
    topology = load_topology("dgx_h100:boxes=2")
    both = generate(topology, collective="allreduce", multicast=True).schedule
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


def test_above_64_gpus_a_tree_is_drawn_by_box() -> None:
    """Nine boxes of eight: a bar for each, eight edges between them; 64 GPUs are 64 discs."""
    by_box = draw_tree(generate(load_topology("dgx_a100:boxes=9")).schedule, 0)
    assert not patches(by_box, Circle)
    assert len(patches(by_box, FancyBboxPatch)) == 9
    assert len(patches(by_box, FancyArrowPatch, CROSSING)) == 8
    assert {*map(str, range(9)), "between boxes: 8"} <= set(texts(by_box))
    whole = draw_tree(generate(load_topology("dgx_a100:boxes=8")).schedule, 0)
    assert len(patches(whole, Circle)) == 64


def test_a_bar_with_some_gpus_of_a_box_says_how_many() -> None:
    """A ring through nine boxes of eight, box 0 entered twice: one and seven GPUs of it."""
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"b{i // 8}.gpu{i % 8}", box=i // 8, index=i % 8) for i in range(72)]
    order = [0, *range(8, 72), *range(1, 8)]
    for a, b in zip(order, [*order[1:], 0], strict=True):
        builder.link(gpus[a], gpus[b], 1)
    parent = np.full((1, 72), -1, dtype=np.int32)
    for a, b in pairwise(order):
        parent[0, b] = a
    forest = Forest(
        topology=builder.build("a ring"),
        method="by hand",
        k=1,
        congestion=Fraction(1),
        root=np.array([0], dtype=np.int32),
        multiplicity=np.array([1], dtype=np.int64),
        parent=parent,
        routes=Routes.from_paths({}),
    )
    written = texts(draw_tree(forest, 0))
    assert {"0: 1", "0: 7", "1", "8"} <= set(written)


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=128", "dgx_a100:boxes=8", "mi250:boxes=4"])
def test_trees_fit_a_page(spec: str) -> None:
    """Twelve inches at most, where eight-point text is still read when it is scaled to a page."""
    assert max(draw_tree(generate(load_topology(spec)).schedule, 0).get_size_inches()) <= 12


def test_a_schedule_file_is_drawn_by_its_path(tmp_path: Path) -> None:
    forest = generate(load_topology("ring:nodes=4")).schedule
    write_schedule(forest, tmp_path / "ring.npz")
    drawn = draw_tree(tmp_path / "ring.npz", 0)
    assert sorted(texts(drawn)) == sorted(texts(draw_tree(forest, 0)))
