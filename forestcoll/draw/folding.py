"""Folding of large networks for drawings: one of many equal boxes, one bundle for all rails.

Boxes are equal if they are wired alike, inside and to the switches outside, link by link of the
same bandwidth and with the same shared capacities, and marked alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.topology.model import Link, Node, Topology

__all__ = ["Folded", "fold"]

_MOST_BOXES = 4  # up to so many boxes are all drawn
_LEAST_EQUAL = 3  # from so many equal boxes on, they are folded
_LEAST_RAILS = 13  # fewer are all drawn
_LEAST_TWINS = 5  # fewer switches with the same neighbours are all drawn

_Marks = Mapping[int, object]


@dataclass(frozen=True)
class Folded:
    """The network to draw in place of a larger one."""

    # the drawn network; a link has the bandwidth of one of the links that it stands for
    topology: Topology
    # for each drawn node, the position in the whole network of the first that it stands for
    original: tuple[int, ...]
    # by position in the whole network, the node drawn for it; boxes left out have none
    drawn: Mapping[int, int]
    # by drawn box, the boxes that it stands for, if there are several
    boxes: Mapping[int, tuple[int, ...]]
    # by (tail, head), the number of links that a drawn link stands for, if several
    bundled: Mapping[tuple[int, int], int]


def fold(topology: Topology, marks: Mapping[int, object] | None = None) -> Folded:
    """Fold equal boxes and equal switches into one each.

    Parameters
    ----------
    marks : dict, optional
        Marks of nodes by position; only nodes with equal marks, or all without, are folded.
    """
    marks = {} if marks is None else marks
    boxes = _equal_boxes(topology, marks)
    left_out = {box for others in boxes.values() for box in others[1:]}
    groups = [*_rails(topology, marks), *_twins(topology, marks)]
    stands_for = {switch: alike[0] for alike in groups for switch in alike}
    kept = [
        v
        for v, node in enumerate(topology.nodes)
        if node.box not in left_out and stands_for.get(v, v) == v
    ]
    place = {v: i for i, v in enumerate(kept)}
    links: dict[tuple[int, int], list[Link]] = {}
    for link in topology.links:
        pair = tuple(stands_for.get(v, v) for v in (link.tail, link.head))
        if place.keys() >= set(pair):
            links.setdefault((place[pair[0]], place[pair[1]]), []).append(link)
    nodes = [_named(topology, v, [w for w in stands_for if stands_for[w] == v]) for v in kept]
    drawn = [replace(its[0], tail=tail, head=head) for (tail, head), its in links.items()]
    return Folded(
        topology=Topology(topology.name, tuple(nodes), tuple(drawn)),
        original=tuple(kept),
        drawn=place | {rail: place[first] for rail, first in stands_for.items()},
        boxes=boxes,
        bundled={pair: len(its) for pair, its in links.items() if len(its) > 1},
    )


def _named(topology: Topology, v: int, bundle: Sequence[int]) -> Node:
    node = topology.nodes[v]
    if not bundle:
        return node
    last = topology.nodes[bundle[-1]].name
    if node.box is None and not _twin(topology, bundle[0], bundle[1]):
        return replace(node, name=f"{node.name} to {last}, one for each GPU of a box")
    return replace(node, name=f"{node.name} to {last.rpartition('.')[2]} (x {len(bundle)})")


def _equal_boxes(topology: Topology, marks: _Marks) -> dict[int, tuple[int, ...]]:
    """Return classes of equal boxes by their first member; empty if there are few boxes."""
    alike: dict[object, list[int]] = {}
    for box, signature in _signatures(topology, marks).items():
        alike.setdefault(signature, []).append(box)
    if sum(map(len, alike.values())) <= _MOST_BOXES:
        return {}
    whole = 1 if len(alike) == 1 else 0  # if all boxes are equal, also draw the first one
    groups = [boxes[whole:] for boxes in alike.values()]
    return {boxes[0]: tuple(boxes) for boxes in groups if len(boxes) >= _LEAST_EQUAL}


def _signatures(topology: Topology, marks: _Marks) -> dict[int, object]:
    """Return a key of each box from its nodes and links; unique if it is linked to another box."""
    members: dict[int, list[int]] = {}
    for v, node in enumerate(topology.nodes):
        if node.box is not None:
            members.setdefault(node.box, []).append(v)
    local = {v: i for nodes in members.values() for i, v in enumerate(nodes)}
    ends: dict[int, list[tuple[object, ...]]] = {box: [] for box in members}
    wide = _widths(topology)
    for link in topology.links:
        tail, head = (topology.nodes[v].box for v in (link.tail, link.head))
        here = ("in", local.get(link.tail), local.get(link.head))
        for box, other, place in (
            (tail, head, ("out", local.get(link.tail), link.head)),
            (head, tail, ("into", local.get(link.head), link.tail)),
        ):
            if box is not None and other != box:
                alone = ("joined to another", box) if other is not None else place
                ends[box].append((*alone, wide(link)))
        if tail is not None and tail == head:
            ends[tail].append((*here, wide(link)))
    return {
        box: (tuple(_kind(topology, v, marks) for v in nodes), tuple(sorted(ends[box], key=str)))
        for box, nodes in members.items()
    }


def _widths(topology: Topology) -> Callable[[Link], object]:
    """Return a key function of links: the bandwidth and the limits of their shared capacities."""
    groups: dict[tuple[int, int], list[tuple[Fraction, int]]] = {}
    for group in topology.shared:
        for ends in group.links:
            groups.setdefault(ends, []).append((group.bandwidth_gb_s, len(group.links)))

    def wide(link: Link) -> object:
        own = groups.get((link.tail, link.head))
        return (link.bandwidth_gb_s, tuple(sorted(own))) if own else link.bandwidth_gb_s

    return wide


def _kind(topology: Topology, v: int, marks: _Marks) -> tuple[object, ...]:
    node = topology.nodes[v]
    return (node.kind, node.index, node.multicast, node.stores, marks.get(v))


def _rails(topology: Topology, marks: _Marks) -> Iterable[list[int]]:
    """Yield sets of rail switches: each joins one GPU of every box, in the same way."""
    groups: dict[object, list[int]] = {}
    around: dict[int, dict[int, object]] = {}
    wide = _widths(topology)
    for link in topology.links:
        around.setdefault(link.tail, {})[link.head] = wide(link)
    for v, node in enumerate(topology.nodes):
        joined = around.get(v, {})
        gpus = [w for w in joined if topology.nodes[w].is_gpu]
        boxes = [topology.nodes[w].box for w in gpus]
        one_each = len(set(boxes)) == len(boxes) > 0 and None not in boxes
        if not node.is_gpu and node.box is None and one_each:
            above = {w: bandwidth for w, bandwidth in joined.items() if w not in gpus}
            groups.setdefault((marks.get(v), str(sorted(above.items()))), []).append(v)
    yield from (rails for rails in groups.values() if len(rails) >= _LEAST_RAILS)


def _twins(topology: Topology, marks: _Marks) -> Iterable[list[int]]:
    """Yield sets of switches with the same neighbours and equal links."""
    groups: dict[object, list[int]] = {}
    joined = _joined(topology)
    for v, node in enumerate(topology.nodes):
        if not node.is_gpu:
            groups.setdefault((node.box, marks.get(v), joined[v]), []).append(v)
    yield from (twins for twins in groups.values() if len(twins) >= _LEAST_TWINS)


def _twin(topology: Topology, one: int, other: int) -> bool:
    joined = _joined(topology)
    return joined[one] == joined[other]


def _joined(topology: Topology) -> list[frozenset[tuple[object, ...]]]:
    """Return for each node its outgoing and incoming links, by the other end."""
    ends: list[set[tuple[object, ...]]] = [set() for _ in topology.nodes]
    wide = _widths(topology)
    for link in topology.links:
        ends[link.tail].add(("to", link.head, wide(link)))
        ends[link.head].add(("from", link.tail, wide(link)))
    return [frozenset(its) for its in ends]
