"""Spans: sets of multicast switches that the trees of an allreduce reach.

Problem: a tree that spans all GPUs may use a multicast switch or avoid it. Choose sets of switches,
         few enough for a program, so that trees that span the GPUs and one of these sets each
         combine to a fast allreduce.
Input:   a topology, its orbits.
Output:  spans: a set of switches, the symmetries that keep it, and its images under the others.
Cost:    that of the stabiliser of a switch for each orbit of switches.
Source:  ours. Trees that must reach every multicast switch waste bandwidth if a switch should serve
         only some trees. Example: of four reducing servers behind a plain switch, each sums up a
         quarter.

Sets are unions of orbits of switches, and such unions with one switch of another orbit. A set
stands for all of its images: the symmetries map trees of one to trees of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Ints, Orbits, orbits_under
from forestcoll.topology.symmetry.stabilizer import bringing, stabilizer_of

__all__ = ["Span", "spans_of"]

MOST_ORBITS = 3
"""Orbits of multicast switches up to which all unions are tried; beyond it all, none and single."""

MOST_IMAGES = 64
"""Of a set of switches under the symmetries of the network."""


@dataclass(frozen=True, slots=True)
class Span:
    """A set of switches that trees span together with all GPUs.

    Parameters
    ----------
    switches : tuple of int
        Positions, sorted.
    orbits : Orbits
        Under symmetries that keep the set.
    images : tuple of int arrays
        Symmetries that carry the set to each of its images; the first is the identity.
    """

    switches: tuple[int, ...]
    orbits: Orbits = field(repr=False)
    images: tuple[Ints, ...] = field(repr=False)


def spans_of(topology: Topology, orbits: Orbits) -> Iterator[tuple[Span, ...]]:
    """Yield spans in rounds, small programs first: unions of orbits, then single switches.

    Of the unions, that of all orbits comes first, then none, then the others.

    Parameters
    ----------
    topology : Topology
        With switches marked ``multicast``.
    orbits : Orbits
        Of its nodes and links, with generators.
    """
    marked = [v for v, node in enumerate(topology.nodes) if node.multicast]
    classes: dict[int, list[int]] = {}
    for v in marked:
        classes.setdefault(int(orbits.node[v]), []).append(v)
    unions = list(_unions(list(classes.values())))
    still = (np.arange(len(topology.nodes)),)
    # All switches, then none as well: if these attain the bound, the trees are few and simple.
    first = list(dict.fromkeys([unions[0], unions[-1]]))
    others = [union for union in unions if union not in first]
    for some in (first[:1], first[1:], others):
        if some:
            yield tuple(Span(union, orbits, still) for union in some)
    singles: list[Span] = []
    for members in classes.values():
        if 1 < len(members) <= MOST_IMAGES:
            others = [union for union in unions if not set(union) & set(members)]
            singles += _with_one(topology, orbits, members[0], others)
    if singles:
        yield tuple(singles)


def _unions(classes: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Yield unions of classes, from all classes to none."""
    sizes = range(len(classes), -1, -1)
    if len(classes) > MOST_ORBITS:
        sizes = range(1, -1, -1)
        yield tuple(sorted(v for members in classes for v in members))
    for size in sizes:
        for some in combinations(classes, size):
            yield tuple(sorted(v for members in some for v in members))


def _with_one(
    topology: Topology, orbits: Orbits, switch: int, others: Sequence[tuple[int, ...]]
) -> list[Span]:
    """Return one switch of an orbit, alone and with unions of other orbits."""
    bring = bringing(orbits.generators, switch, len(topology.nodes))
    kept = orbits_under(topology, stabilizer_of(orbits.generators, bring))
    images = tuple(bring.values())
    return [Span(tuple(sorted((switch, *union))), kept, images) for union in others]
