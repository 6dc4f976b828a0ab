"""A picture of one tree of a forest.

Problem: show how a shard, or a part of it, reaches every GPU, or is summed up from all.
Input:   a forest and the number of one of its distinct trees.
Output:  a matplotlib Figure: the root on top, GPUs coloured by box, edges between boxes stand out.
Cost:    linear in the tree.
Source:  none.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch
from matplotlib.path import Path

from forestcoll.draw.canvas import CROSSING, GPU_RADIUS, INK, PLAIN, QUIET, Canvas, gpu_label
from forestcoll.draw.layout import Layout, Place
from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule.forest import Forest

__all__ = ["draw_tree"]

_COLUMN = 0.42  # inches between leaves
_ROW = 0.95  # inches between depths
_BOX_COLOURS = (
    "#a6d5f2", "#f5d08a", "#8fd3bd", "#e6b8d2", "#f4ec9a", "#8fb8d9", "#f0b48f", "#c9c9c9",
)  # fmt: skip


def draw_tree(forest: Forest, batch: int) -> Figure:
    """Draw one tree of a forest, the root on top, GPUs coloured by box.

    Parameters
    ----------
    forest : Forest
    batch : int
        Which of the forest's distinct trees, from 0.

    Raises
    ------
    InvalidScheduleError
        If the forest has no such tree.
    """
    if not 0 <= batch < forest.num_batches:
        last = forest.num_batches - 1
        known = f"the schedule's trees are 0 to {last}" if last >= 0 else "the schedule is empty"
        raise InvalidScheduleError(f"tree {batch} does not exist; {known}")
    topology, parents = forest.topology, forest.parent[batch].tolist()
    boxes = [topology.nodes[v].box for v in topology.compute]
    colours = _box_colours(boxes)
    places = _tree_places(parents, boxes)
    canvas = Canvas.of(Layout(places))
    _draw_edges(canvas.axes, places, parents, boxes, upwards=forest.reduction)
    for rank, place in places.items():
        label = gpu_label(topology, topology.compute[rank], boxed=False)
        canvas.gpu(place, colours[boxes[rank]], label)
    canvas.write(_title(forest, batch), "", _legend(parents, boxes, colours))
    return canvas.figure


def _tree_places(parents: Sequence[int], boxes: Sequence[int | None]) -> dict[int, Place]:
    """Place a tree with its root on top: a column for each leaf, a row for each depth.

    Parameters
    ----------
    parents : sequence of int
        Parent of each rank, -1 at the root.
    boxes : sequence of int or None
        Box of each rank; children in their parent's box stand left of the others.
    """
    children: list[list[int]] = [[] for _ in parents]
    for rank in sorted(range(len(parents)), key=lambda r: (boxes[r] or 0, r)):
        if parents[rank] >= 0:
            children[parents[rank]].append(rank)
    for parent, below in enumerate(children):
        below.sort(key=lambda rank: boxes[rank] != boxes[parent])
    return _tidy(parents.index(-1), children)


def _tidy(root: int, children: Sequence[Sequence[int]]) -> dict[int, Place]:
    """Visit depth first; a node stands over the middle of its children, leaves side by side."""
    order, depth, stack = [], {root: 0}, [root]
    while stack:
        rank = stack.pop()
        order.append(rank)
        depth |= dict.fromkeys(children[rank], depth[rank] + 1)
        stack.extend(reversed(children[rank]))
    leaves = [rank for rank in order if not children[rank]]
    x = {leaf: _COLUMN * i for i, leaf in enumerate(leaves)}
    for rank in reversed(order):
        if children[rank]:
            x[rank] = (x[children[rank][0]] + x[children[rank][-1]]) / 2
    return {rank: Place(x[rank], -_ROW * depth[rank]) for rank in order}


def _draw_edges(
    axes: Axes,
    places: dict[int, Place],
    parents: Sequence[int],
    boxes: Sequence[int | None],
    *,
    upwards: bool,
) -> None:
    """Draw each edge straight out of the parent and straight into the child, or upwards."""
    for rank, parent in enumerate(parents):
        if parent < 0:
            continue
        across = boxes[rank] != boxes[parent]
        start, end = places[parent], places[rank]
        halfway = (start.y + end.y) / 2
        below = start.y - GPU_RADIUS - 0.02 * upwards
        above = end.y + GPU_RADIUS + 0.02 * (not upwards)
        corners = [(start.x, below), (start.x, halfway), (end.x, halfway), (end.x, above)]
        axes.add_patch(
            FancyArrowPatch(
                path=Path(
                    corners[::-1] if upwards else corners,
                    [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
                ),
                arrowstyle="-|>,head_length=5,head_width=2",
                color=CROSSING if across else QUIET,
                linewidth=1.6 if across else 1.0,
                zorder=3 if across else 2,
            )
        )


def _title(forest: Forest, batch: int) -> str:
    root = forest.topology.nodes[forest.topology.compute[int(forest.root[batch])]].name
    rooted = forest.k * forest.weights[int(forest.root[batch])]
    share = Fraction(int(forest.multiplicity[batch]), rooted)
    shard = "the sum" if forest.reduction else "the shard"
    what = shard if share == 1 else f"{share} of {shard}"
    joint = "for" if forest.reduction else "of"
    return f"{forest.topology.name}, tree {batch}: {what} {joint} {root}"


def _box_colours(boxes: Sequence[int | None]) -> dict[int | None, str]:
    known = sorted({box for box in boxes if box is not None})
    colours: dict[int | None, str] = {
        box: _BOX_COLOURS[i % len(_BOX_COLOURS)] for i, box in enumerate(known)
    }
    colours[None] = PLAIN
    return colours


def _legend(
    parents: Sequence[int], boxes: Sequence[int | None], colours: dict[int | None, str]
) -> list[Line2D | Patch]:
    known = sorted({box for box in boxes if box is not None})
    if len(known) < 2:
        return []
    entries: list[Line2D | Patch] = [
        Patch(facecolor=colours[box], edgecolor=INK, label=f"box {box}")
        for box in known[: len(_BOX_COLOURS)]
    ]
    crossings = sum(p >= 0 and boxes[r] != boxes[p] for r, p in enumerate(parents))
    entries.append(Line2D([], [], c=CROSSING, lw=2, label=f"between boxes: {crossings}"))
    return entries
