"""Drawing of one tree of a forest.

The root is on top, GPUs (and multicast switches) are coloured by box, edges between boxes are
highlighted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch
from matplotlib.path import Path

from forestcoll.api import schedule_in
from forestcoll.draw.branches import Branches, branches, pieces
from forestcoll.draw.canvas import CROSSING, INK, PLAIN, QUIET, Canvas, gpu_label
from forestcoll.draw.layouts.places import Layout
from forestcoll.errors import InvalidScheduleError, UnsupportedError
from forestcoll.generation import Generated
from forestcoll.schedule.allreduce import Allreduce, not_taken
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.model import Topology

__all__ = ["draw_tree"]

_COLUMN = 0.42  # inches between leaves
_BAR = 0.42
_MOST_GPUS = 64  # more are drawn by box
_BOX_COLOURS = (
    "#a6d5f2", "#f5d08a", "#8fd3bd", "#e6b8d2", "#f4ec9a", "#8fb8d9", "#f0b48f", "#c9c9c9",
)  # fmt: skip


def draw_tree(
    forest: Forest | MulticastForest | Generated | str | os.PathLike[str], batch: int
) -> Figure:
    """Draw one tree of a forest, the root on top, GPUs coloured by box; above 64 GPUs by box.

    Parameters
    ----------
    forest : Forest or MulticastForest, or a result or the path of a schedule file that holds one
        In a MulticastForest, multicast switches are drawn as nodes of the tree; switches that only
        forward are not drawn.
    batch : int
        Number of the distinct tree, from 0.

    Raises
    ------
    InvalidScheduleError
        If the forest has no such tree.
    UnsupportedError
        For other schedules.
    ForestCollError
        If a file cannot be read.
    """
    forest = _checked(schedule_in(forest))
    if not 0 <= batch < forest.num_batches:
        last = forest.num_batches - 1
        known = f"the schedule's trees are 0 to {last}" if last >= 0 else "the schedule is empty"
        raise InvalidScheduleError(f"tree {batch} does not exist; {known}")
    shape = _shape(forest, batch)
    children = _children(shape)
    width = dict.fromkeys(shape.bars, _BAR)
    column = _COLUMN if not shape.by_box else _BAR + 0.08
    drawn = branches(shape.root, children, column, width)
    canvas = Canvas.of(Layout(drawn.places))
    _draw_edges(canvas, drawn, shape, upwards=forest.reduction)
    for v, place in drawn.places.items():
        if v in shape.bars:
            canvas.switch(place, shape.colours[v], shape.labels[v])
        else:
            canvas.gpu(place, shape.colours[v], shape.labels[v])
    canvas.write(_title(forest, batch), _caption(shape), _legend(shape))
    return canvas.figure


@dataclass(frozen=True)
class _Shape:
    """A tree as drawn: nodes are GPUs and switches, or connected pieces inside a box.

    ``parents`` has the parent of each node except the root, ``boxes`` the box of each node,
    ``bars`` the nodes drawn as bars; ``by_box`` is whether a node may stand for several GPUs.
    """

    root: int
    parents: Mapping[int, int]
    boxes: Mapping[int, int | None]
    labels: Mapping[int, str]
    colours: Mapping[int, str]
    bars: frozenset[int]
    by_box: bool


def _shape(forest: Forest | MulticastForest, batch: int) -> _Shape:
    """Return the tree to draw: GPU by GPU, or box by box above 64 GPUs, if there are boxes."""
    topology, parents = forest.topology, _parents(forest, batch)
    boxes = [node.box for node in topology.nodes]
    root = topology.compute[int(forest.root[batch])]
    if len(topology.compute) > _MOST_GPUS and any(boxes[v] is not None for v in topology.compute):
        return _by_box(topology, root, parents, boxes)
    nodes = [root, *parents]
    colours = _box_colours([boxes[v] for v in topology.compute])
    switches = frozenset(v for v in nodes if topology.nodes[v].is_switch)
    return _Shape(
        root=root,
        parents=parents,
        boxes={v: boxes[v] for v in nodes},
        labels={
            v: topology.nodes[v].name.rpartition(".")[2]
            if v in switches
            else gpu_label(topology, v, boxed=False)
            for v in nodes
        },
        colours={v: colours.get(boxes[v], PLAIN) for v in nodes},
        bars=switches,
        by_box=False,
    )


def _by_box(
    topology: Topology, root: int, parents: Mapping[int, int], boxes: Sequence[int | None]
) -> _Shape:
    """Draw a bar for each piece of the tree in a box; list its GPUs unless it has the whole box."""
    members, above = pieces(root, parents, boxes)
    size = Counter(boxes[v] for v in topology.compute)

    def label(top: int) -> str:
        gpus = sum(topology.nodes[v].is_gpu for v in members[top])
        if boxes[top] is None:
            return topology.nodes[top].name
        return f"{boxes[top]}" if gpus == size[boxes[top]] else f"{boxes[top]}: {gpus}"

    return _Shape(
        root=root,
        parents=above,
        boxes={v: boxes[v] for v in members},
        labels={v: label(v) for v in members},
        colours={v: _BOX_COLOURS[0] if v == root else PLAIN for v in members},
        bars=frozenset(members),
        by_box=True,
    )


def _caption(shape: _Shape) -> str:
    if not shape.by_box:
        return ""
    return "each bar is a box by its number, all its GPUs in it; 3: 2 is two GPUs of box 3"


def _checked(schedule: object) -> Forest | MulticastForest:
    """Return a schedule of explicit trees; refuse any other."""
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
    return schedule


def _parents(forest: Forest | MulticastForest, batch: int) -> dict[int, int]:
    """Return the parent of each node of a tree except the root, by positions in the topology."""
    if isinstance(forest, MulticastForest):
        entries = slice(int(forest.first_walk[batch]), int(forest.first_walk[batch + 1]))
        walk = forest.walk[entries][~forest.loopback[entries]]
        near, far = (end[walk].tolist() for end in forest.ends())
        return dict(sorted(zip(far, near, strict=True)))
    gpus = forest.topology.compute
    parents = enumerate(forest.parent[batch].tolist())
    return {gpus[rank]: gpus[parent] for rank, parent in parents if parent >= 0}


def _children(shape: _Shape) -> dict[int, list[int]]:
    """Sort the children of each node: those in its box first."""
    boxes = shape.boxes
    children: dict[int, list[int]] = {v: [] for v in [shape.root, *shape.parents]}
    for v in sorted(shape.parents, key=lambda v: (boxes[v] or 0, v)):
        children[shape.parents[v]].append(v)
    for parent, below in children.items():
        below.sort(key=lambda v: boxes[v] != boxes[parent])
    return children


def _draw_edges(canvas: Canvas, drawn: Branches, shape: _Shape, *, upwards: bool) -> None:
    """Draw each edge straight out of the parent and straight into the child, or upwards."""
    smooth = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    for child, corners in drawn.edges.items():
        across = shape.boxes[child] != shape.boxes[shape.parents[child]]
        straight = [Path.MOVETO, *[Path.LINETO] * (len(corners) - 1)]
        way = corners[::-1] if upwards else corners
        canvas.axes.add_patch(
            FancyArrowPatch(
                path=Path(way, straight if child in drawn.wrapped else smooth),
                arrowstyle="-|>,head_length=5,head_width=2",
                color=CROSSING if across else QUIET,
                linewidth=1.6 if across and not shape.by_box else 1.0,
                joinstyle="miter",
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


def _legend(shape: _Shape) -> list[Line2D | Patch]:
    known = sorted({box for box in shape.boxes.values() if box is not None})
    if len(known) < 2:
        return []
    colour = {shape.boxes[v]: shape.colours[v] for v in shape.boxes}
    entries: list[Line2D | Patch] = []
    if len(known) <= len(_BOX_COLOURS) and not shape.by_box:  # beyond, colours repeat
        entries += [Patch(facecolor=colour[b], edgecolor=INK, label=f"box {b}") for b in known]
    between = sum(shape.boxes[v] != shape.boxes[above] for v, above in shape.parents.items())
    entries.append(Line2D([], [], c=CROSSING, lw=2, label=f"between boxes: {between}"))
    return entries
