"""Classes of symmetric parts of a network: links, NICs, GPUs and switches.

A result for one NIC holds for all that a symmetry carries it to, so only one is examined.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from forestcoll.topology.describe import counted
from forestcoll.topology.model import NodeKind, Topology
from forestcoll.topology.symmetry.automorphism import Orbits, find_orbits

__all__ = ["PartKind", "SymmetricParts", "counted_parts", "symmetric_parts", "symmetries"]

_SEARCH_S = 5.0


class PartKind(StrEnum):
    """A NIC is a link, both ways, from inside a box to a switch outside it.

    A shared capacity can be wider, but not fail.
    """

    NIC = "NIC"
    LINK = "link"
    GPU = "GPU"
    SWITCH = "switch"
    SHARED = "shared capacity"


@dataclass(frozen=True, slots=True)
class SymmetricParts:
    """Parts of one kind that symmetries of the network carry into one another.

    Parameters
    ----------
    names : tuple of str
        The name of each part, as :meth:`Topology.without` accepts it; the first stands for all.
    pattern : str
        A pattern that matches all of them.
    only : bool
        Whether the pattern matches no other part.
    """

    kind: PartKind
    names: tuple[str, ...]
    pattern: str
    only: bool

    def in_words(self, *, every: bool = False) -> str:
        """Return e.g. "any of 16 NICs, b*.gpu* - ib"; with ``every``, "all 16 NICs, ..."."""
        first, number = self.names[0], len(self.names)
        if number == 1:
            return f"{self.kind} {first}"
        if self.only:
            return (
                f"{'all' if every else 'any of'} {counted_parts(self.kind, number)}, {self.pattern}"
            )
        others = counted(number - 1, "other")
        return f"{self.kind} {first} {'and' if every else 'or'} {others} alike, of {self.pattern}"


def counted_parts(kind: PartKind, number: int) -> str:
    """Return "1 NIC" or "2 switches"."""
    if number == 1:
        return f"1 {kind}"
    several = {PartKind.SWITCH: "switches", PartKind.SHARED: "shared capacities"}
    return f"{number} {several.get(kind, f'{kind}s')}"


def symmetric_parts(topology: Topology, orbits: Orbits) -> tuple[SymmetricParts, ...]:
    """Return all parts in classes, by kind and then in the order of their first members.

    Parameters
    ----------
    orbits : Orbits
        Orbits of its nodes and links. If some symmetry was not found, symmetric parts form several
        classes, with equal results.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> from forestcoll.topology.symmetry.automorphism import find_orbits
    >>> boxes = load_topology("dgx_a100:boxes=2")
    >>> print(*(part.in_words() for part in symmetric_parts(boxes, find_orbits(boxes))), sep="; ")
    any of 16 NICs, b*.gpu* - ib; any of 16 links, b*.gpu* - b*.nvswitch; any of 16 GPUs, b*.gpu*; \
any of 2 switches, b*.nvswitch; switch ib
    """
    classes: dict[tuple[PartKind, int], list[str]] = defaultdict(list)
    number = {(e.tail, e.head): int(orbits.link[i]) for i, e in enumerate(topology.links)}
    names = [node.name for node in topology.nodes]
    for (tail, head), orbit in number.items():
        back = number.get((head, tail))
        if back is None:
            classes[_kind(topology, tail, head), orbit].append(f"{names[tail]} -> {names[head]}")
        elif tail < head:
            key = _kind(topology, tail, head), min(orbit, back)
            classes[key].append(f"{names[tail]} - {names[head]}")
    for node, name in enumerate(names):
        is_gpu = topology.nodes[node].is_gpu
        classes[PartKind.GPU if is_gpu else PartKind.SWITCH, int(orbits.node[node])].append(name)
    for number_of_orbit, names_in_orbit in enumerate(_like_groups(topology, orbits)):
        classes[PartKind.SHARED, number_of_orbit] = names_in_orbit
    kinds = list(PartKind)
    matched = Counter(
        (kind, _pattern(name)) for (kind, _), members in classes.items() for name in members
    )
    found = []
    for (kind, _), members in sorted(classes.items(), key=lambda item: kinds.index(item[0][0])):
        patterns = sorted({_pattern(name) for name in members})
        found.append(
            SymmetricParts(
                kind,
                tuple(members),
                " and ".join(patterns),
                sum(matched[kind, pattern] for pattern in patterns) == len(members),
            )
        )
    return tuple(found)


def _like_groups(topology: Topology, orbits: Orbits) -> list[list[str]]:
    """Return the names of shared capacities that symmetries carry into one another."""
    names: dict[tuple[frozenset[tuple[int, int]], Fraction], list[str]] = defaultdict(list)
    for group in topology.shared:
        names[frozenset(group.links), group.bandwidth_gb_s].append(group.name)
    left, found = dict.fromkeys(names), []
    while left:
        orbit = [next(iter(left))]
        del left[orbit[0]]
        for links, limit in orbit:
            for moves in orbits.generators:
                image = frozenset((int(moves[a]), int(moves[b])) for a, b in links), limit
                if image in left:
                    del left[image]
                    orbit.append(image)
        found.append(sorted(name for one in orbit for name in names[one]))
    return found


def symmetries(topology: Topology, weights: Sequence[int], *, of_links: bool = True) -> Orbits:
    """Search some seconds for symmetries of the network that keep kinds and weights.

    If fewer are found, there are more classes to examine, with the same results.
    """
    return find_orbits(topology, _SEARCH_S, of_links=of_links, marks=_node_marks(topology, weights))


def _node_marks(topology: Topology, weights: Sequence[int]) -> list[int]:
    """Return what symmetries must keep of each node beside bandwidths: its kind and weight."""
    kinds = list(NodeKind)
    heavy = max(weights, default=0) + 1
    return [
        kinds.index(node.kind) * heavy
        + (weights[topology.rank_of[v]] if v in topology.rank_of else 0)
        for v, node in enumerate(topology.nodes)
    ]


def _kind(topology: Topology, tail: int, head: int) -> PartKind:
    """Whether a link joins the inside of a box with a switch outside."""
    for near, far in ((tail, head), (head, tail)):
        inner, outer = topology.nodes[near], topology.nodes[far]
        if inner.box is not None and outer.kind is NodeKind.SWITCH and outer.box != inner.box:
            return PartKind.NIC
    return PartKind.LINK


def _pattern(name: str) -> str:
    return re.sub(r"\d+", "*", name)
