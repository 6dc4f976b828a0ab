"""Descriptions of nodes, links and numbers in words.

Problem: describe a set of nodes briefly, as an operator of the machines would.
Input:   a topology and positions of nodes, or links.
Output:  text such as "boxes 0-2 (8 GPUs each) and switch ib"; links grouped by bandwidth.
Cost:    one pass over the nodes.
Source:  none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import groupby

from forestcoll.topology.graph import Link, NetworkGraph, NodeKind

__all__ = [
    "LinkClass", "SharedInWords", "as_float", "counted", "decimal", "link_classes", "link_groups",
    "nodes_in_words", "shared_in_words",
]  # fmt: skip

_NAMES_SHOWN = 6


def as_float(value: Fraction) -> float | None:
    """Return the float nearest to an exact number; None beyond the range of floats."""
    try:
        near = float(value)
    except OverflowError:
        return None
    return near if near or not value else None


def decimal(value: Fraction, digits: int = 6) -> str:
    """Write an exact number as a decimal, rounded to ``digits`` significant digits.

    Examples
    --------
    >>> decimal(Fraction(800, 3))
    '266.667'
    """
    near = as_float(value)
    if near is None:
        return f"{Decimal(value.numerator) / Decimal(value.denominator):.{digits - 1}e}"
    return f"{near:.{digits}g}"


def rate(gb_s: Fraction) -> str:
    """Write a bandwidth exactly, and also as a decimal if it is a fraction.

    Examples
    --------
    >>> rate(Fraction(800, 3)), rate(Fraction(50))
    ('800/3 = 266.667 GB/s', '50 GB/s')
    """
    exact, near = str(gb_s), decimal(gb_s)
    return f"{exact} GB/s" if exact == near else f"{exact} = {near} GB/s"


def counted(number: int, thing: str) -> str:
    """Return "1 link" or "8 links"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


@dataclass(frozen=True, slots=True)
class LinkClass:
    """Links of the same bandwidth between the same two kinds of places.

    Parameters
    ----------
    count : int
        Number of links.
    bandwidth_gb_s : Fraction
        Bandwidth of each link, in its direction.
    tails, heads : str
        The places where they start and end, in words.
    """

    count: int
    bandwidth_gb_s: Fraction
    tails: str
    heads: str

    def __str__(self) -> str:
        each = f"{self.count} x {decimal(self.bandwidth_gb_s)} GB/s"
        return f"{each} from {self.tails} to {self.heads}"


@dataclass(frozen=True, slots=True)
class SharedInWords:
    """A shared capacity in words.

    Parameters
    ----------
    name : str
    count : int
        Number of links.
    bandwidth_gb_s : Fraction
        The limit on all of them together.
    tails, heads : str
        The places where they start and end, in words.
    """

    name: str
    count: int
    bandwidth_gb_s: Fraction
    tails: str
    heads: str

    def __str__(self) -> str:
        links = counted(self.count, "link")
        one = self.tails == self.heads
        where = f"among {self.tails}" if one else f"from {self.tails} to {self.heads}"
        return f"{self.name}: {decimal(self.bandwidth_gb_s)} GB/s shared by {links} {where}"


def link_classes(topology: NetworkGraph, links: Iterable[Link]) -> tuple[LinkClass, ...]:
    """Describe the groups of :func:`link_groups`."""
    return tuple(
        LinkClass(
            count=len(group),
            bandwidth_gb_s=group[0].bandwidth_gb_s,
            tails=nodes_in_words(topology, {link.tail for link in group}),
            heads=nodes_in_words(topology, {link.head for link in group}),
        )
        for group in link_groups(topology, links)
    )


def link_groups(topology: NetworkGraph, links: Iterable[Link]) -> tuple[tuple[Link, ...], ...]:
    """Group links by bandwidth and by the kinds of places they join, fastest first.

    A place is a GPU, a relay or a switch, in a box or outside all boxes.
    """

    def place(position: int) -> tuple[int, bool]:
        node = topology.nodes[position]
        return tuple(NodeKind).index(node.kind), node.box is None

    def key(link: Link) -> tuple[Fraction, tuple[int, bool], tuple[int, bool]]:
        return -link.bandwidth_gb_s, place(link.tail), place(link.head)

    return tuple(tuple(group) for _, group in groupby(sorted(links, key=key), key=key))


def shared_in_words(topology: NetworkGraph) -> tuple[SharedInWords, ...]:
    """Describe the shared capacities of a network.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> wire = load_topology("ring:nodes=4").with_shared("wire", "gpu0 - gpu1", 1)
    >>> print(*shared_in_words(wire))
    wire: 1 GB/s shared by 2 links among GPUs gpu0 and gpu1
    """
    return tuple(
        SharedInWords(
            name=group.name,
            count=len(group.links),
            bandwidth_gb_s=group.bandwidth_gb_s,
            tails=nodes_in_words(topology, {tail for tail, _ in group.links}),
            heads=nodes_in_words(topology, {head for _, head in group.links}),
        )
        for group in topology.shared
    )


def nodes_in_words(topology: NetworkGraph, nodes: Iterable[int]) -> str:
    """Describe a set of nodes: whole boxes, then GPUs of boxes, other GPUs, relays, switches.

    Parameters
    ----------
    topology : NetworkGraph
    nodes : iterable of int
        Positions.
    """
    chosen = set(nodes)
    boxes = _members_of_boxes(topology)
    whole = [box for box, members in boxes.items() if members <= chosen]
    rest = chosen.difference(*(boxes[box] for box in whole))
    gpus = sorted(v for v in rest if not topology.nodes[v].is_switch)
    relays = sorted(v for v in rest if topology.nodes[v].kind is NodeKind.RELAY)
    switches = sorted(v for v in rest if topology.nodes[v].kind is NodeKind.SWITCH)
    parts = [*_whole_boxes(topology, boxes, whole), *_gpus(topology, gpus)]
    if relays:
        parts.append(_named(topology, relays, "relay", "relays"))
    if switches:
        parts.append(_named(topology, switches, "switch", "switches"))
    return _joined(parts) if parts else "nothing"


def _members_of_boxes(topology: NetworkGraph) -> dict[int, set[int]]:
    """Return the nodes of each box that has more than a single GPU."""
    boxes: dict[int, set[int]] = {}
    for position, node in enumerate(topology.nodes):
        if node.box is not None:
            boxes.setdefault(node.box, set()).add(position)
    return {box: members for box, members in sorted(boxes.items()) if len(members) > 1}


def _whole_boxes(topology: NetworkGraph, boxes: dict[int, set[int]], whole: list[int]) -> list[str]:
    """Return "box 3 (8 GPUs)", or "boxes 0-2 (8 GPUs each)" for boxes of equal size."""
    sizes: dict[int, list[int]] = {}
    for box in whole:
        size = sum(not topology.nodes[v].is_switch for v in boxes[box])
        sizes.setdefault(size, []).append(box)
    texts = []
    for size, group in sizes.items():
        each = " each" if len(group) > 1 else ""
        texts.append(f"{_plural('box', group)} {_ranges(group)} ({counted(size, 'GPU')}{each})")
    return texts


def _gpus(topology: NetworkGraph, gpus: Sequence[int]) -> list[str]:
    """Name GPUs: by their numbers in a box where they have them, else by name."""
    numbers_in: dict[int, list[int]] = {}
    others: list[int] = []
    for v in sorted(gpus):
        node = topology.nodes[v]
        if node.box is None or node.index is None:
            others.append(v)
        else:
            numbers_in.setdefault(node.box, []).append(node.index)
    boxes_with: dict[tuple[int, ...], list[int]] = {}
    for box, numbers in numbers_in.items():
        boxes_with.setdefault(tuple(sorted(numbers)), []).append(box)
    parts = [
        f"{_plural('GPU', which)} {_ranges(which)} of {_plural('box', boxes)} {_ranges(boxes)}"
        for which, boxes in boxes_with.items()
    ]
    return [*parts, _named(topology, others, "GPU", "GPUs")] if others else parts


def _plural(thing: str, several: Sequence[object]) -> str:
    """Return "box" or "boxes", "GPU" or "GPUs"."""
    if len(several) == 1:
        return thing
    return f"{thing}es" if thing.endswith("x") else f"{thing}s"


def _named(topology: NetworkGraph, nodes: Sequence[int], one: str, many: str) -> str:
    names = [topology.nodes[v].name for v in nodes]
    shown = _name_runs(names)
    if len(shown) > _NAMES_SHOWN:
        shown = [*names[: _NAMES_SHOWN - 1], f"{len(names) - _NAMES_SHOWN + 1} more"]
        return f"{len(names)} {many} ({_joined(shown)})"
    return f"{one if len(names) == 1 else many} {_joined(shown)}"


def _name_runs(names: Sequence[str]) -> list[str]:
    """Shorten "gpu0, gpu1, gpu2" to "gpu0-gpu2"."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _follows(runs[-1][-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    return [text for run in runs for text in ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else run)]


def _follows(before: str, name: str) -> bool:
    """Whether two names have consecutive numbers, like "gpu9" and "gpu10"."""
    ends = [re.fullmatch(r"(.*?)(\d+)", text) for text in (before, name)]
    if ends[0] is None or ends[1] is None or ends[0][1] != ends[1][1]:
        return False
    return int(ends[1][2]) == int(ends[0][2]) + 1


def _ranges(numbers: Sequence[int]) -> str:
    """Write sorted numbers as "0-3, 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
