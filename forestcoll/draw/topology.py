"""A picture of a network, with a cut in colour.

Problem: show where the shards must squeeze through.
Input:   a topology and, if wanted, a cut.
Output:  a matplotlib Figure, tied to no screen and to no global state; save it with ``savefig``.
Cost:    linear in nodes and links, after the layout.
Source:  none.
"""

from __future__ import annotations

from fractions import Fraction

from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forestcoll.draw.canvas import CROSSING, INK, PLAIN, QUIET, Canvas, gpu_label
from forestcoll.draw.layout import Layout, Place, lay_out
from forestcoll.problem.cuts import Cut
from forestcoll.topology.describe import decimal
from forestcoll.topology.model import Link, Topology

__all__ = ["draw_topology"]

_FRAME = "#f5f5f3"
_SWITCH = "#dcdcdc"
_RELAY = "#ececea"
_INSIDE = "#a6d5f2"
_INSIDE_FRAME = "#e6f2fa"
_BEND = 0.18  # of a bent link, as a share of its length
_BANDWIDTHS_IN_LEGEND = 5


def draw_topology(topology: Topology, cut: Cut | None = None) -> Figure:
    """Draw a network by box, links as thick as they are fast, and a cut in colour.

    Parameters
    ----------
    topology : Topology
    cut : Cut, optional
        Its nodes are shaded, the links that leave it highlighted, its bound written below.
    """
    layout = lay_out(topology)
    inside = set(cut.nodes) if cut is not None else set()
    canvas = Canvas.of(layout)
    for box, frame in layout.frames.items():
        members = {v for v, node in enumerate(topology.nodes) if node.box == box}
        canvas.frame(frame, f"box {box}", _INSIDE_FRAME if members <= inside else _FRAME)
    _draw_links(canvas, topology, layout, cut)
    _draw_nodes(canvas, topology, layout, inside)
    canvas.write(topology.name, _cut_caption(cut) if cut else "", _legend(topology, cut))
    return canvas.figure


def _draw_links(canvas: Canvas, topology: Topology, layout: Layout, cut: Cut | None) -> None:
    """Draw a pair of opposite equal links as one line, a lone one as an arrow."""
    fastest = max(link.bandwidth_gb_s for link in topology.links)
    exits = set(cut.exit_links) if cut is not None else set()
    segments, widths = [], []
    for link in topology.links:
        back = topology.link_between.get((link.head, link.tail))
        both_ways = back is not None and back.bandwidth_gb_s == link.bandwidth_gb_s
        start, end = _ends(layout, link)
        wide = _line_width(link.bandwidth_gb_s, fastest)
        bend = _BEND if (link.tail, link.head) in layout.bent else 0.0
        if link in exits:
            canvas.arrow(start, end, CROSSING, wide + 0.5, bend=bend)
        elif back in exits:
            continue
        elif not both_ways:
            canvas.arrow(start, end, QUIET, wide, bend=bend or 0.7 * _BEND)
        elif bend and link.tail < link.head:
            canvas.arrow(start, end, QUIET, wide, bend=bend, head=False)
        elif link.tail < link.head:
            segments.append(((start.x, start.y), (end.x, end.y)))
            widths.append(wide)
    lines = LineCollection(segments, linewidths=widths, colors=QUIET, zorder=2)
    canvas.axes.add_collection(lines)


def _ends(layout: Layout, link: Link) -> tuple[Place, Place]:
    """Return where a link meets its nodes: straight under or over a switch if its bar allows."""
    tail, head = layout.places[link.tail], layout.places[link.head]
    start = Place(tail.nearest_x(head.x), tail.y, tail.width)
    return start, Place(head.nearest_x(start.x), head.y, head.width)


def _line_width(bandwidth: Fraction, fastest: Fraction) -> float:
    return 0.5 + 2.0 * float(bandwidth / fastest)


def _draw_nodes(canvas: Canvas, topology: Topology, layout: Layout, inside: set[int]) -> None:
    for v, node in enumerate(topology.nodes):
        place = layout.places[v]
        if not node.is_gpu:
            label = node.name.rpartition(".")[2] if node.box in layout.frames else node.name
            canvas.switch(place, _INSIDE if v in inside else _SWITCH, label)
        else:
            label = gpu_label(topology, v, boxed=bool(layout.frames))
            plain = _RELAY if node.is_switch else PLAIN
            canvas.gpu(place, _INSIDE if v in inside else plain, label)


def _cut_caption(cut: Cut) -> str:
    bound = f"{cut.weight} / {decimal(cut.exit_gb_s)} = {cut.inverse_rate}"
    return (
        f"{cut.in_words()}\n"
        f"1/x* is at least {bound} s/GB; algbw is at most {decimal(cut.algbw_gb_s)} GB/s"
    )


def _legend(topology: Topology, cut: Cut | None) -> list[Line2D | Patch]:
    speeds = sorted({link.bandwidth_gb_s for link in topology.links}, reverse=True)
    shown = [*speeds[: _BANDWIDTHS_IN_LEGEND - 1], speeds[-1]] if len(speeds) > 5 else speeds
    entries: list[Line2D | Patch] = [
        Line2D([], [], c=QUIET, lw=_line_width(b, speeds[0]), label=f"{decimal(b)} GB/s")
        for b in shown
    ]
    if cut is not None:
        count = f"inside the cut: {len(cut.compute)} of {topology.num_compute} GPUs"
        entries.append(Patch(facecolor=_INSIDE, edgecolor=INK, label=count))
        way = "entry" if cut.reduction else "exit"
        exits = f"{way} links: {decimal(cut.exit_gb_s)} GB/s in all"
        entries.append(Line2D([], [], c=CROSSING, lw=2.5, label=exits))
    return entries
