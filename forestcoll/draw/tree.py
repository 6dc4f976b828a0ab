"""A picture of one tree of a forest.

Problem: show how a shard, or a part of it, reaches every GPU, or is summed up from all.
Input:   a forest and the number of one of its distinct trees.
Output:  a matplotlib Figure: the root on top, GPUs (and switches that copy) coloured by box, edges
         between boxes stand out.
Cost:    linear in the tree.
Source:  none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch
from matplotlib.path import Path

from forestcoll.draw.canvas import CROSSING, INK, PLAIN, QUIET, Canvas, gpu_label
from forestcoll.draw.places import GPU_RADIUS, Layout, Place
from forestcoll.errors import InvalidScheduleError, UnsupportedError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.unsupported import not_taken
from forestcoll.topology.model import Topology

__all__ = ["draw_tree"]

_COLUMN = 0.42  # inches between leaves
_ROW = 0.95  # inches between depths
_BOX_COLOURS = (
    "#a6d5f2", "#f5d08a", "#8fd3bd", "#e6b8d2", "#f4ec9a", "#8fb8d9", "#f0b48f", "#c9c9c9",
)  # fmt: skip


def draw_tree(forest: Forest | MulticastForest, batch: int) -> Figure:
    """Draw one tree of a forest, the root on top, GPUs coloured by box.

    Parameters
    ----------
    forest : Forest or MulticastForest
        Of the latter, switches that copy are drawn as nodes of the tree, those that only forward
        are not.
    batch : int
        Which of the forest's distinct trees, from 0.

    Raises
    ------
    InvalidScheduleError
        If the forest has no such tree.
    UnsupportedError
        Of other schedules.
    """
    _check_type(forest)
    if not 0 <= batch < forest.num_batches:
        last = forest.num_batches - 1
        known = f"the schedule's trees are 0 to {last}" if last >= 0 else "the schedule is empty"
        raise InvalidScheduleError(f"tree {batch} does not exist; {known}")
    topology, parents = forest.topology, _parents(forest, batch)
    boxes = [node.box for node in topology.nodes]
    colours = _box_colours([boxes[v] for v in topology.compute])
    places = _tree_places(topology.compute[int(forest.root[batch])], parents, topology)
    canvas = Canvas.of(Layout(places))
    _draw_edges(canvas.axes, places, parents, boxes, upwards=forest.reduction)
    for v, place in places.items():
        colour = colours.get(boxes[v], PLAIN)
        if topology.nodes[v].is_switch:
            canvas.switch(place, colour, topology.nodes[v].name.rpartition(".")[2])
        else:
            canvas.gpu(place, colour, gpu_label(topology, v, boxed=False))
    canvas.write(_title(forest, batch), "", _legend(parents, boxes, colours))
    return canvas.figure


def _check_type(schedule: object) -> None:
    """Refuse what has no trees to be drawn."""
    if isinstance(schedule, FactoredForest):
        raise UnsupportedError(
            "unsupported: the trees of a factored forest are not written out; expand it, then draw"
        )
    if isinstance(schedule, Allreduce):
        raise UnsupportedError(
            "unsupported: an allreduce has two phases; draw a tree of its reduce or of its gather"
        )
    if not isinstance(schedule, Forest | MulticastForest):
        raise not_taken("draw_tree", schedule, "a schedule of trees")


def _parents(forest: Forest | MulticastForest, batch: int) -> dict[int, int]:
    """Return the node above each node of a tree but the root, by positions in the topology."""
    if isinstance(forest, MulticastForest):
        walk = forest.walk[forest.first_walk[batch] : forest.first_walk[batch + 1]]
        near, far = (end[walk].tolist() for end in forest.ends())
        return dict(sorted(zip(far, near, strict=True)))
    gpus = forest.topology.compute
    parents = enumerate(forest.parent[batch].tolist())
    return {gpus[rank]: gpus[parent] for rank, parent in parents if parent >= 0}


def _tree_places(root: int, parents: Mapping[int, int], topology: Topology) -> dict[int, Place]:
    """Place a tree with its root on top: a column for each leaf, a row for each depth.

    Nodes in their parent's box stand left of its other children.
    """
    boxes = [node.box for node in topology.nodes]
    children: dict[int, list[int]] = {v: [] for v in [root, *parents]}
    for v in sorted(parents, key=lambda v: (boxes[v] or 0, v)):
        children[parents[v]].append(v)
    for parent, below in children.items():
        below.sort(key=lambda v: boxes[v] != boxes[parent])
    bars = {v: _COLUMN for v in children if topology.nodes[v].is_switch}
    return {v: replace(place, width=bars.get(v, 0.0)) for v, place in _tidy(root, children).items()}


def _tidy(root: int, children: Mapping[int, Sequence[int]]) -> dict[int, Place]:
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
    parents: Mapping[int, int],
    boxes: Sequence[int | None],
    *,
    upwards: bool,
) -> None:
    """Draw each edge straight out of the parent and straight into the child, or upwards."""
    for child, parent in parents.items():
        across = boxes[child] != boxes[parent]
        start, end = places[parent], places[child]
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


def _title(forest: Forest | MulticastForest, batch: int) -> str:
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
    parents: Mapping[int, int], boxes: Sequence[int | None], colours: dict[int | None, str]
) -> list[Line2D | Patch]:
    known = sorted(box for box in colours if box is not None)
    if len(known) < 2:
        return []
    entries: list[Line2D | Patch] = [
        Patch(facecolor=colours[box], edgecolor=INK, label=f"box {box}")
        for box in known[: len(_BOX_COLOURS)]
    ]
    crossings = sum(boxes[child] != boxes[parent] for child, parent in parents.items())
    entries.append(Line2D([], [], c=CROSSING, lw=2, label=f"between boxes: {crossings}"))
    return entries
