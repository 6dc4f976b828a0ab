"""Which GPUs a cut over time should separate.

Problem: which sets of sources and sinks may give the largest bound, and which GPUs stand for all?
Input:   a collective on a network, its links with latencies, node sets that bound its rate.
Output:  pairs of sources and sinks, those of the farthest GPUs first.
Cost:    a search for symmetries, and shortest paths from the GPUs that stand for all.
Source:  docs/mathematics/time-bound.md. Any choice gives a valid bound, so a symmetry that is not
         found, or a set that is not tried, costs sharpness only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.cut_over_time.refinement import stable_colours
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology.graph import Link
from forestcoll.topology.model import NodeKind, Topology
from forestcoll.topology.shortest_paths import distances
from forestcoll.topology.symmetry.automorphism import find_orbits

__all__ = ["Separation", "representatives", "separations"]

_SEARCH_S = 5.0
_MOST_GPUS = 1024
_MOST_DISTANCES = 6


@dataclass(frozen=True, slots=True)
class Separation:
    """Sources whose data must all reach the sinks; positions of GPUs."""

    sources: frozenset[int]
    sinks: frozenset[int]


def representatives(
    topology: Topology, links: TimedLinks, weights: Sequence[int]
) -> tuple[int, ...]:
    """Return one GPU of each class of symmetric ones, farthest from some other GPU first.

    Unlike other symmetries of the toolkit, these also keep latencies.
    """
    kinds = list(NodeKind)
    heavy = max(weights) + 1
    marks = [
        kinds.index(node.kind) * heavy
        + (weights[topology.rank_of[v]] if v in topology.rank_of else 0)
        for v, node in enumerate(topology.nodes)
    ]
    numbers: dict[tuple[int, int], int] = {}
    alike = [
        numbers.setdefault(one, len(numbers) + 1)
        for one in zip(links.capacity, links.latency, strict=True)
    ]
    coloured = replace(
        topology,
        links=tuple(
            Link(link.tail, link.head, Fraction(number))
            for link, number in zip(topology.links, alike, strict=True)
        ),
        shared=(),
    )
    orbits = find_orbits(coloured, _SEARCH_S, of_links=False, marks=marks).node
    first: dict[int, int] = {}
    for gpu in topology.compute:
        first.setdefault(int(orbits[gpu]), gpu)
    return tuple(first.values())[:_MOST_GPUS]


def separations(
    topology: Topology,
    collective: str,
    links: TimedLinks,
    weights: Sequence[int],
    cuts: Iterable[Sequence[int]],
) -> Iterator[Separation]:
    """Yield sources and sinks, those that are farthest apart first.

    Parameters
    ----------
    cuts : iterable of node sets
        Sets that bound the rate: their data must leave them, in the direction of ``links``.
    """
    gpus = frozenset(topology.compute)
    inside = [gpus.intersection(cut) for cut in cuts]
    sinks = list(representatives(topology, links, weights))
    sinks += [min(gpus - one) for one in inside if gpus - one]
    sinks = list(dict.fromkeys(sinks))
    distance = _distances_to(links, sinks)
    farthest = distance[:, list(topology.compute)].max(axis=1)
    loaded = frozenset(v for v, w in zip(topology.compute, weights, strict=True) if w)
    for row in np.argsort(-farthest, kind="stable").tolist():
        sink = sinks[row]
        if collective == "allreduce":
            yield from _pairs(topology, links, sink, distance[row])
            continue
        others = gpus - {sink}
        near = _box(topology, sink)
        sets = [others, *_at_least(others, distance[row]), gpus - near]
        sets += [one for one in inside if sink not in one]
        if collective == "all-to-all":
            yield from _both_ways(gpus, sink, sets)
            continue
        for one in dict.fromkeys(one & loaded for one in sets):
            if one:
                yield Separation(one, frozenset((sink,)))


def _both_ways(
    gpus: frozenset[int], sink: int, sets: Sequence[frozenset[int]]
) -> Iterator[Separation]:
    """Yield what one GPU, or a set of them, exchanges with others."""
    for one in dict.fromkeys(filter(None, sets)):
        for far in dict.fromkeys((frozenset((sink,)), gpus - one)):
            yield Separation(one, far)
            yield Separation(far, one)


def _pairs(
    topology: Topology, links: TimedLinks, sink: int, distance: npt.NDArray[np.float64]
) -> Iterator[Separation]:
    """Yield the sink with one GPU of each class that it can tell apart, the farthest first."""
    colours = np.zeros(links.nodes, dtype=np.int64)
    colours[list(topology.compute)] = 1
    colours[sink] = 2
    found = stable_colours(links, colours).tolist()
    first: dict[int, int] = {}
    for gpu in topology.compute:
        first.setdefault(found[gpu], gpu)
    for gpu in sorted(first.values(), key=lambda gpu: -float(distance[gpu])):
        if gpu != sink:
            yield Separation(frozenset((gpu,)), frozenset((sink,)))


def _box(topology: Topology, gpu: int) -> frozenset[int]:
    box = topology.nodes[gpu].box
    if box is None:
        return frozenset((gpu,))
    return frozenset(v for v in topology.compute if topology.nodes[v].box == box)


def _at_least(
    others: frozenset[int], distance: npt.NDArray[np.float64]
) -> Iterator[frozenset[int]]:
    """Yield the GPUs from a distance on, for some distances, with the largest."""
    values = sorted({float(distance[v]) for v in others})
    step = -(-len(values) // _MOST_DISTANCES)
    for least in values[::-1][::step]:
        yield frozenset(v for v in others if distance[v] >= least)


def _distances_to(links: TimedLinks, sinks: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return the latencies from each node to each sink; only for choices, so floats will do."""
    late, tail, head = np.array(links.latency, float), np.array(links.tail), np.array(links.head)
    return distances(links.nodes, head, tail, late, np.array(sinks))
