"""Bottom-up search over expansions of base networks.

Problem: all networks of N nodes and degree d that known constructions give, none of them worse in
         every respect than another one.
Input:   numbers of nodes and degrees; base networks with their times.
Output:  candidates for each (N, d).
Cost:    for each (N, d) as many expansions as N has divisors, times the degrees and the few
         candidates that were kept. No schedule is built.
Source:  Zhao et al. (NSDI 2025), section 5.4.

Every expansion but one multiplies the nodes, so numbers of nodes are taken in ascending order;
"both ways" doubles the degree alone, so degrees are, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from baselines.topology_finder.base_networks import Base, Times, bases, evaluated
from baselines.topology_finder.candidate import Candidate, pareto
from baselines.topology_finder.distances import Distances
from baselines.topology_finder.predicted_expansions import (
    both_ways,
    degree_expansion,
    line_graph,
    power,
    product,
)

__all__ = ["Found", "search"]

Found = dict[tuple[int, int], list[Candidate]]
"""Candidates by nodes and degree."""

TimesOf = Callable[[Base], Times | None]
"""What a base network takes; None to leave it out."""

DistancesOf = Callable[[Base], Distances | None]
"""Sums of distances of a base network; None if they are not needed."""


def search(
    nodes: Iterable[int],
    degrees: int,
    times_of: TimesOf,
    distances_of: DistancesOf = lambda _: None,
) -> Found:
    """Keep the best candidates of every number of nodes and every degree up to ``degrees``.

    Parameters
    ----------
    nodes : iterable of int
        With each number its divisors, for what is made of them.
    degrees : int
    times_of : callable
        The times of a base network.
    distances_of : callable
        Its sums of distances, if all-to-all rates are to be predicted.
    """
    found: Found = {}
    for size in sorted(nodes):
        for degree in range(1, degrees + 1):
            own = (
                evaluated(base, times, distances_of(base))
                for base in bases(size, degree)
                if (times := times_of(base))
            )
            kept = pareto([*own, *_expanded(found, size, degree)])
            if kept:
                found[size, degree] = kept
    return found


def _expanded(found: Found, nodes: int, degree: int) -> Iterator[Candidate]:
    yield from _line_graphs(found, nodes, degree)
    yield from _copies(found, nodes, degree)
    yield from _powers(found, nodes, degree)
    yield from _products(found, nodes, degree)
    if degree % 2 == 0:
        for base in found.get((nodes, degree // 2), ()):
            if base.reverse_symmetric and not base.bidirectional and not base.self_loops:
                yield both_ways(base)


def _line_graphs(found: Found, nodes: int, degree: int) -> Iterator[Candidate]:
    if degree > 1 and nodes % degree == 0:
        for base in found.get((nodes // degree, degree), ()):
            if not base.self_loops:
                yield line_graph(base)


def _copies(found: Found, nodes: int, degree: int) -> Iterator[Candidate]:
    for times in range(2, degree + 1):
        if degree % times == 0 and nodes % times == 0:
            for base in found.get((nodes // times, degree // times), ()):
                if not base.self_loops:
                    yield degree_expansion(base, times)


def _powers(found: Found, nodes: int, degree: int) -> Iterator[Candidate]:
    for exponent in range(2, degree + 1):
        root = round(nodes ** (1 / exponent))
        if degree % exponent == 0 and root**exponent == nodes:
            for base in found.get((root, degree // exponent), ()):
                if not base.self_loops and not base.factor:
                    yield power(base, exponent)


def _products(found: Found, nodes: int, degree: int) -> Iterator[Candidate]:
    """Yield, of the products with the same properties, the one with the fewest hops.

    All take the least T_B, so nothing else distinguishes them.
    """
    best: dict[tuple[bool, bool, int], tuple[Candidate, Candidate]] = {}
    for one, other in _pairs(found, nodes, degree):
        key = (
            one.bidirectional and other.bidirectional,
            one.reverse_symmetric and other.reverse_symmetric,
            one.cycle if one.cycle == other.cycle else 0,
        )
        if key not in best or one.hops + other.hops < sum(part.hops for part in best[key]):
            best[key] = (one, other)
    for one, other in best.values():
        yield product(one, other)


def _pairs(found: Found, nodes: int, degree: int) -> Iterator[tuple[Candidate, Candidate]]:
    """Yield the pairs of factors, the smaller one first."""
    size = 2
    while size * size <= nodes:
        if nodes % size == 0:
            for share in range(1, degree):
                for one in found.get((size, share), ()):
                    for other in found.get((nodes // size, degree - share), ()):
                        if one.factor and other.factor:
                            yield one, other
        size += 1
