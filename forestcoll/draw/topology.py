"""Drawing of a network with its bottleneck cut and damaged links.

The matplotlib Figure has no screen or global state; ``save_figure`` saves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from forestcoll.draw.canvas import CROSSING, DEAD, INK, PLAIN, SLOW, Canvas, Line, gpu_label
from forestcoll.draw.damage import Damage, damage
from forestcoll.draw.folding import Folded, fold
from forestcoll.draw.layouts.layout import has_lattice, lay_out
from forestcoll.draw.layouts.places import Layout, Pair
from forestcoll.draw.matrix import as_square, is_dense, matrix_canvas
from forestcoll.draw.routes import Route, routes
from forestcoll.problem.cuts import Cut
from forestcoll.topology.describe import counted, decimal
from forestcoll.topology.model import Link, SharedCapacity, Topology
from forestcoll.topology.spec import Network, as_topology

__all__ = ["Colouring", "Marks", "colouring_of", "draw_coloured", "draw_marked", "draw_topology"]

Dash = tuple[float, tuple[float, ...]]

_FRAME = "#f5f5f3"
_SWITCH = "#dcdcdc"
_RELAY = "#ececea"
_INSIDE = "#a6d5f2"
_INSIDE_FRAME = "#e6f2fa"
_SPEEDS = ((3.0, "#5c5c5c"), (1.9, "#7a7a7a"), (1.2, "#8a8a8a"), (0.8, "#949494"), (0.5, "#9e9e9e"))
"""Width in points and grey of links, the fastest first; the last is for all slower ones."""

_SHARED: tuple[tuple[str, Dash], ...] = (
    ("#0072b2", (0.0, (4.5, 1.2, 1.0, 1.2))),
    ("#009e73", (0.0, (2.2, 1.0))),
    ("#cc79a7", (0.0, (1.0, 0.8))),
    ("#b07800", (0.0, (6.0, 1.0, 1.0, 1.0, 1.0, 1.0))),
)
"""Colour and dash of links with a shared capacity, by kind; the last is for all further kinds."""

_SLOW_DASH = (0.0, (5.0, 2.0))
_DEAD_DASH = (0.0, (1.5, 2.0))


def draw_topology(topology: Network, cut: Cut | None = None) -> Figure:
    """Draw a network by box, with faster links thicker, and a cut in colour.

    One of many equal boxes is drawn, with their number. Links that are slower than others of their
    class, or dead in one direction, are dashed. So are links with a shared capacity, in a colour
    for each kind; a link in several of them shows the tightest. Many links between GPUs without an
    order are drawn as a matrix.

    Parameters
    ----------
    cut : Cut, optional
        Its nodes are shaded, the links that leave it highlighted, its bound written below.
    """
    topology = as_topology(topology)
    return draw_coloured(topology, Colouring() if cut is None else colouring_of(cut))


@dataclass(frozen=True, slots=True)
class Colouring:
    """What a drawing of a network shows of a proof.

    Parameters
    ----------
    colours : mapping
        Fill of nodes, by position; nodes of different colours are not folded into one.
    framed : set of int
        Boxes whose nodes are all among these have a coloured frame; of a matrix, their rows.
    crossing : set of (int, int)
        Ends of links to highlight.
    legend : sequence of handles
        What the colours mean.
    """

    colours: Mapping[int, str] = field(default_factory=dict)
    framed: frozenset[int] = frozenset()
    crossing: frozenset[Pair] = frozenset()
    caption: str = ""
    legend: Sequence[Line2D | Patch] = ()


def colouring_of(cut: Cut) -> Colouring:
    """Return the colouring of a cut: its nodes, the links that leave it, its bound."""
    return Colouring(
        colours=dict.fromkeys(cut.nodes, _INSIDE),
        framed=frozenset(cut.nodes),
        crossing=frozenset((link.tail, link.head) for link in cut.exit_links),
        caption=_cut_caption(cut),
        legend=_cut_legend(cut),
    )


def draw_coloured(topology: Topology, colouring: Colouring) -> Figure:
    """Draw a network with coloured nodes and highlighted links, as :func:`draw_topology` does."""
    picture = _Picture(topology, colouring, fold(topology, colouring.colours), damage(topology))
    if is_dense(topology) and not has_lattice(topology):
        canvas = matrix_canvas(topology, _each_way(picture), colouring.framed, _INSIDE_FRAME)
        entries = [as_square(entry) for entry in _legend(picture)]
        canvas.write(topology.name, colouring.caption, entries)
        return canvas.figure
    canvas = Canvas.of(picture.layout, picture.ways.values())
    _draw_frames(canvas, picture)
    _draw_links(canvas, picture)
    _draw_nodes(canvas, picture)
    canvas.write(topology.name, colouring.caption, _legend(picture))
    return canvas.figure


@dataclass(frozen=True, slots=True)
class Marks:
    """What is drawn over a network besides its links.

    Parameters
    ----------
    lines : mapping
        By (tail, head), a line in place of that of the link; the pair may have no link.
    legend : sequence of (Line, str)
    shaded : set of int
        Nodes in colour.
    unit : str
        Of the capacities in the legend, in the plural.
    placed_as : Topology, optional
        A network with the same nodes whose links decide the places of nodes.
    """

    title: str
    caption: str = ""
    lines: Mapping[Pair, Line] = field(default_factory=dict)
    legend: Sequence[tuple[Line, str]] = ()
    shaded: frozenset[int] = frozenset()
    unit: str = "GB/s"
    placed_as: Topology | None = None


def draw_marked(topology: Topology, marks: Marks) -> Figure:
    """Draw every node of a network with marked links and nodes; nothing is folded."""
    nodes = tuple(range(len(topology.nodes)))
    whole = Folded(topology, nodes, dict(enumerate(nodes)), {}, {})
    shaded = Colouring(dict.fromkeys(marks.shaded, _INSIDE), frozenset(marks.shaded))
    picture = _Picture(topology, shaded, whole, Damage({}, frozenset()), marks)
    canvas = Canvas.of(picture.layout, picture.ways.values())
    _draw_frames(canvas, picture)
    _draw_links(canvas, picture)
    _draw_nodes(canvas, picture)
    entries = [*_speed_legend(picture), *(_entry(line, label) for line, label in marks.legend)]
    canvas.write(marks.title, marks.caption, entries)
    return canvas.figure


@dataclass(frozen=True)
class _Picture:
    """A network, the part to draw, and its damage."""

    whole: Topology
    colouring: Colouring
    folded: Folded
    damage: Damage
    marks: Marks | None = None

    @property
    def drawn(self) -> Topology:
        return self.folded.topology

    @cached_property
    def layout(self) -> Layout:
        as_in = self.marks.placed_as if self.marks else None
        return lay_out(self.drawn if as_in is None else as_in, self.dead)

    @cached_property
    def lines(self) -> dict[Pair, Line]:
        """The style of each drawn link."""
        if self.marks is None:
            return dict(_lines(self))
        marked = self.marks.lines
        plain = {
            pair: line
            for pair, line in _lines(self)
            if pair not in marked and (line.head or pair[::-1] not in marked)
        }
        return plain | dict(marked)

    @cached_property
    def ways(self) -> dict[Pair, Route]:
        """The route of each; opposite links with separate lines run beside each other."""
        unlike = {pair for pair in self.lines if pair[::-1] in self.lines}
        return routes(self.layout, self.lines, unlike)

    @cached_property
    def speeds(self) -> list[Fraction]:
        """The bandwidths of undamaged links, the fastest first."""
        slow = self.damage.slow
        found = {e.bandwidth_gb_s for e in self.whole.links if (e.tail, e.head) not in slow}
        return sorted(found, reverse=True)

    @cached_property
    def exits(self) -> frozenset[Pair]:
        """Highlighted links, as drawn."""
        return self._as_drawn(self.colouring.crossing)

    @cached_property
    def slow(self) -> frozenset[Pair]:
        return self._as_drawn(self.damage.slow)

    @cached_property
    def dead(self) -> frozenset[Pair]:
        return self._as_drawn(self.damage.dead)

    @cached_property
    def shared(self) -> tuple[_Shared, ...]:
        """The kinds of shared capacities, the tightest first."""
        return _kinds_of_shared(self.whole)

    @cached_property
    def shared_look(self) -> dict[Pair, tuple[str, Dash]]:
        """Colour and dash of each drawn link with a shared capacity."""
        found: dict[Pair, tuple[str, Dash]] = {}
        for rank, kind in enumerate(self.shared):
            for pair in self._as_drawn(kind.links):
                found.setdefault(pair, _SHARED[min(rank, len(_SHARED) - 1)])
        return found

    def _as_drawn(self, pairs: Iterable[Pair]) -> frozenset[Pair]:
        drawn = self.folded.drawn
        return frozenset(
            (drawn[tail], drawn[head]) for tail, head in pairs if drawn.keys() >= {tail, head}
        )

    @cached_property
    def both_ways(self) -> bool:
        """Whether all links are opposite pairs, except for damage."""
        back = self.whole.link_between
        alone = sum((link.head, link.tail) not in back for link in self.whole.links)
        return alone <= len(self.whole.links) / 4

    def look(self, link: Link) -> Line:
        """Return the style of an undamaged link that is not highlighted."""
        rank = sum(speed > link.bandwidth_gb_s for speed in self.speeds)
        width, colour = self.styles[min(rank, len(self.styles) - 1)]
        shared = self.shared_look.get((link.tail, link.head))
        if shared is None:
            return Line(colour=colour, width=width)
        return Line(colour=shared[0], width=max(width, 1.2), dash=shared[1])

    @property
    def styles(self) -> Sequence[tuple[float, str]]:
        """Width and colour by rank of bandwidth; finer if all links have the same."""
        return _SPEEDS if len(self.speeds) > 1 else _SPEEDS[2:]


@dataclass(frozen=True)
class _Shared:
    """Shared capacities of one kind: similar names, equal bandwidth and number of links."""

    label: str
    links: frozenset[Pair]


def _kinds_of_shared(topology: Topology) -> tuple[_Shared, ...]:
    """Group shared capacities by kind, the smallest relative to their links first."""
    kinds: dict[tuple[str, Fraction, int], list[SharedCapacity]] = {}
    for group in topology.shared:
        key = re.sub(r"\d+", "*", group.name), group.bandwidth_gb_s, len(group.links)
        kinds.setdefault(key, []).append(group)

    def tightness(groups: list[SharedCapacity]) -> Fraction:
        links = (topology.link_between[ends].bandwidth_gb_s for ends in groups[0].links)
        return groups[0].bandwidth_gb_s / sum(links)

    found = []
    for (name, limit, links), groups in sorted(
        kinds.items(), key=lambda item: (tightness(item[1]), item[0])
    ):
        several = len(groups) > 1
        called = f"{name} (x {len(groups)})" if several else groups[0].name
        label = f"{called}: {decimal(limit)} GB/s shared by {counted(links, 'link')}"
        found.append(_Shared(label, frozenset(ends for one in groups for ends in one.links)))
    return tuple(found)


def _draw_frames(canvas: Canvas, picture: _Picture) -> None:
    original = picture.folded.original
    for box, frame in picture.layout.frames.items():
        members = {original[v] for v, node in enumerate(picture.drawn.nodes) if node.box == box}
        colour = _INSIDE_FRAME if members <= picture.colouring.framed else _FRAME
        equal = picture.folded.boxes.get(box, ())
        label = _group_label(picture.drawn, box) or _box_label(box, equal)
        canvas.frame(frame, label, colour, stacked=bool(equal))


def _group_label(topology: Topology, box: int) -> str | None:
    """Return a name for GPUs below a leaf switch; None for a box, whose GPUs have other links."""
    members = {v for v, node in enumerate(topology.nodes) if node.box == box}
    switches = [v for v in members if not topology.nodes[v].is_gpu]
    if len(switches) != 1:
        return None
    near = [e for e in topology.links if e.tail in members and topology.nodes[e.tail].is_gpu]
    leaves = {e.tail in switches and e.head not in members for e in topology.links}
    alone = all(link.head in switches for link in near) and True in leaves
    return f"GPUs on {topology.nodes[switches[0]].name}" if alone else None


def _box_label(box: int, equal: tuple[int, ...]) -> str:
    if not equal:
        return f"box {box}"
    runs: list[list[int]] = []
    for number in equal:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    names = ", ".join(words) if len(words) <= 6 else ", ".join([*words[:5], "..."])
    return f"boxes {names} (x {len(equal)})"


def _draw_links(canvas: Canvas, picture: _Picture) -> None:
    """Draw a pair of equal opposite links as one line, other links as arrows."""
    for pair, route in picture.ways.items():
        shown = _as_far_as_the_street(route, pair, picture) if pair in picture.dead else route
        canvas.line(shown, picture.lines[pair], picture.layout.places[pair[1]])
        many = picture.folded.bundled.get(pair)
        if many and not any(picture.drawn.nodes[v].is_gpu for v in pair):  # those have no room
            (a, b), (c, d) = route.points[0], route.points[-1]
            canvas.note((a + c) / 2 + 0.22, (b + d) / 2, f"x {many}")


def _as_far_as_the_street(route: Route, pair: Pair, picture: _Picture) -> Route:
    """Shorten the route of a dead link before its box's bundle, where it would hide live links."""
    if pair not in picture.layout.lanes or not picture.layout.frames:
        return route
    boxed = picture.drawn.nodes[pair[0]].box is not None
    return Route(route.points[:2] if boxed else route.points[-2:])


def _lines(picture: _Picture) -> Iterable[tuple[Pair, Line]]:
    between = picture.drawn.link_between
    for link in picture.drawn.links:
        pair, back = (link.tail, link.head), (link.head, link.tail)
        line = picture.look(link)
        if pair in picture.exits:
            width = line.width + 0.5
            yield pair, Line(colour=CROSSING, width=width, dash=line.dash, head=True, above=True)
            continue
        like = back in between and picture.look(between[back]) == line
        like = like and between[back].bandwidth_gb_s == link.bandwidth_gb_s
        if back in picture.exits or (like and back < pair):
            continue
        if pair in picture.slow:
            width = max(line.width, 1.2)
            line = Line(colour=SLOW, width=width, dash=_SLOW_DASH, above=True)
        yield (
            pair,
            Line(
                colour=line.colour,
                width=line.width,
                dash=line.dash,
                head=not like,
                above=line.above,
            ),
        )
    for tail, head in sorted(picture.dead):
        if (head, tail) not in picture.dead or tail < head:
            yield (
                (tail, head),
                Line(
                    colour=DEAD,
                    width=1.2,
                    dash=_DEAD_DASH,
                    head=(head, tail) not in picture.dead,
                    above=True,
                ),
            )


def _each_way(picture: _Picture) -> dict[Pair, Line]:
    """Return the lines, and those of links that an arrow of the opposite link stands before."""
    behind = {
        (link.tail, link.head): replace(picture.look(link), head=True)
        for link in picture.drawn.links
        if (link.head, link.tail) in picture.exits
    }
    return behind | picture.lines


def _draw_nodes(canvas: Canvas, picture: _Picture) -> None:
    topology, layout = picture.drawn, picture.layout
    for v, node in enumerate(topology.nodes):
        place, colour = layout.places[v], picture.colouring.colours.get(picture.folded.original[v])
        if not node.is_gpu:
            label = node.name.rpartition(".")[2] if node.box in layout.frames else node.name
            canvas.switch(place, colour or _SWITCH, label)
        else:
            label = gpu_label(topology, v, boxed=bool(layout.frames))
            plain = _RELAY if node.is_switch else PLAIN
            canvas.gpu(place, colour or plain, label)


def _cut_caption(cut: Cut) -> str:
    bound = f"{cut.weight} / {decimal(cut.exit_gb_s)} = {cut.inverse_rate}"
    return (
        f"{cut.in_words()}\n"
        f"1/x* is at least {bound} s/GB; algbw is at most {decimal(cut.algbw_gb_s)} GB/s"
    )


def _legend(picture: _Picture) -> list[Line2D | Patch]:
    entries = [*_speed_legend(picture), *_shared_legend(picture)]
    entries += _damage_legend(picture.damage, picture.whole)
    return [*entries, *picture.colouring.legend]


def _speed_legend(picture: _Picture) -> list[Line2D | Patch]:
    unit = picture.marks.unit if picture.marks else "GB/s"
    each = " each direction" if picture.both_ways else ""
    speeds, most = picture.speeds, len(picture.styles)
    entries: list[Line2D | Patch] = []
    for rank, (width, colour) in enumerate(picture.styles[: len(speeds)]):
        low = f" to {decimal(speeds[-1])}" if rank == most - 1 and len(speeds) > most else ""
        of = unit.removesuffix("s") if unit == "trees" and speeds[rank] == 1 and not low else unit
        label = f"{decimal(speeds[rank])}{low} {of}{each}"
        entries.append(Line2D([], [], c=colour, lw=width, label=label))
    return entries


def _entry(line: Line, label: str) -> Line2D:
    return Line2D([], [], c=line.colour, lw=line.width, ls=line.dash, label=label)


def _shared_legend(picture: _Picture) -> list[Line2D | Patch]:
    """Return an entry for each visible kind; links of the others all show a tighter one."""
    entries: list[Line2D | Patch] = []
    kinds, seen = picture.shared, set(picture.shared_look.values())
    for rank, look in enumerate(_SHARED[: len(kinds)]):
        label = kinds[rank].label
        if rank == len(_SHARED) - 1 and len(kinds) > len(_SHARED):
            label += f", and {len(kinds) - len(_SHARED)} more"
        elif look not in seen:
            label += " (which have a tighter one)"
        entries.append(Line2D([], [], c=look[0], lw=1.8, ls=look[1], label=label))
    return entries


def _damage_legend(found: Damage, topology: Topology) -> list[Line2D | Patch]:
    entries: list[Line2D | Patch] = []
    if found.slow:
        worst = _slowest(found.slow, topology)
        label = f"slow: {counted(len(found.slow), 'direction')}, {worst}"
        entries.append(Line2D([], [], c=SLOW, lw=1.8, ls=_SLOW_DASH, label=label))
    if found.dead:
        label = f"dead: {counted(len(found.dead), 'direction')}"
        entries.append(Line2D([], [], c=DEAD, lw=1.5, ls=_DEAD_DASH, label=label))
    return entries


def _slowest(slow: Mapping[Pair, Fraction], topology: Topology) -> str:
    shares = {
        pair: topology.link_between[pair].bandwidth_gb_s / usual for pair, usual in slow.items()
    }
    pair = min(shares, key=lambda pair: (shares[pair], pair))
    one = f"{decimal(topology.link_between[pair].bandwidth_gb_s)} of {decimal(slow[pair])} GB/s"
    return one if len(set(shares.values())) == 1 else f"{one} at worst"


def _cut_legend(cut: Cut) -> list[Line2D | Patch]:
    count = f"inside the cut: {len(cut.compute)} of {cut.topology.num_compute} GPUs"
    way = "entry" if cut.reduction else "exit"
    exits = f"{way} links: {decimal(cut.exit_gb_s)} GB/s in all"
    return [
        Patch(facecolor=_INSIDE, edgecolor=INK, label=count),
        Line2D([], [], c=CROSSING, lw=2.5, label=exits),
    ]
