"""Small networks that beat a front, among all of a kind.

Problem: whether some network of N GPUs and degree d is better than all known constructions.
Input:   N, d; the front, as T_L and T_B of an allreduce (both directions together).
Output:  networks that no entry of the front is as good as, with their exact T_L and T_B.
Cost:    Cayley digraphs: one broadcast for each set of d elements, up to automorphisms of the
         group; minutes for all groups of order 24 and degree 4. Regular digraphs: unions of d
         permutations; ten GPUs of degree 2 take a minute, eight of degree 3 several.
Source:  every d-regular digraph is a union of d permutations (Koenig, 1916). A bound on T_B drops
         most: if a GPU has n GPUs at distance t, step t takes n / N, in M / B, at least.

Times are those of balanced breadth-first broadcasts (BFB), which other schedules may undercut.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.topology_finder.small_groups import Table, automorphisms, cyclic, groups
from forestcoll.errors import InvalidParameterError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.model import Topology

__all__ = [
    "MOST_REGULAR", "Cost", "Small", "best_of", "cayley_digraphs", "network_of_links",
    "regular_digraphs",
]  # fmt: skip

MOST_REGULAR = 10
"""Most GPUs of regular digraphs: there are N! permutations."""

Cost = tuple[int, Fraction]
"""T_L in hops and T_B in M / B of an allreduce: of both directions together."""

Permutations = npt.NDArray[np.int8]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Small:
    """A network with its T_L and T_B, of both directions together.

    Parameters
    ----------
    name : str
    links : tuple of pairs
    hops : int
    time : Fraction
    """

    name: str
    links: tuple[tuple[int, int], ...]
    hops: int
    time: Fraction


def network_of_links(nodes: int, links: Iterable[tuple[int, int]], name: str = "") -> Topology:
    """Build a network of links of 1 GB/s."""
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"gpu{rank}") for rank in range(nodes)]
    for tail, head in links:
        builder.arc(gpus[tail], gpus[head], 1)
    return builder.build(name or "small")


def best_of(found: Iterable[Small]) -> list[Small]:
    """Return those that no other one is as good as; of equal ones the first."""
    kept: list[Small] = []
    for one in sorted(found, key=lambda one: (one.hops, one.time)):
        if not kept or one.time < kept[-1].time:
            kept.append(one)
    return kept


def cayley_digraphs(nodes: int, degree: int, front: Sequence[Cost]) -> list[Small]:
    """Return the best Cayley digraphs of groups of this order, of those that beat the front.

    Node g has links to g s for each s of a set of d elements. Circulants are those of cyclic
    groups; they come first.
    """
    known, found = list(front), []
    least = 2 * Fraction(nodes - 1, nodes)
    numbered = list(enumerate(groups(nodes), 1))
    for number, table in sorted(numbered, key=lambda one: cyclic(one[1]) is None):
        image = np.ascontiguousarray(table, dtype=np.int32).ravel()
        alike = Alike(np.zeros(nodes, dtype=np.int32), image)
        for chosen in _connection_sets(table, degree):
            hops = _hops(table, chosen)
            if hops is None or _beaten((2 * hops, least), known):
                continue
            links = tuple((g, int(table[g, s])) for g in range(nodes) for s in chosen)
            time = _time(nodes, degree, links, alike)
            if not _beaten((2 * hops, time), known):
                found.append(Small(_name(table, number, chosen), links, 2 * hops, time))
                known.append((2 * hops, time))
    return best_of(found)


def _name(table: Table, number: int, chosen: tuple[int, ...]) -> str:
    """Name a circulant by its offsets, the first of all equivalent ones; others by their group."""
    size = len(table)
    numbers = cyclic(table)
    if numbers is None:
        return f"Cayley digraph of group {number} of order {size}, {_braced(chosen)}"
    offsets = [numbers[element] for element in chosen]
    units = (unit for unit in range(1, size) if math.gcd(unit, size) == 1)
    return (
        f"one-way circulant, {_braced(min(sorted(u * o % size for o in offsets) for u in units))}"
    )


def _braced(numbers: Iterable[int]) -> str:
    return f"{{{','.join(map(str, numbers))}}}"


def _connection_sets(table: Table, degree: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of elements but the neutral one, one of each orbit under automorphisms."""
    maps = automorphisms(table)
    seen: set[tuple[int, ...]] = set()
    for chosen in itertools.combinations(range(1, len(table)), degree):
        if chosen not in seen:
            seen.update(tuple(sorted(each[list(chosen)].tolist())) for each in maps)
            yield chosen


def _hops(table: Table, chosen: tuple[int, ...]) -> int | None:
    """Return the diameter; None if the elements do not generate the group."""
    reached, front, hops = {0}, [0], 0
    while front := list({int(table[g, s]) for g in front for s in chosen} - reached):
        reached.update(front)
        hops += 1
    return hops if len(reached) == len(table) else None


def _time(nodes: int, degree: int, links: tuple[tuple[int, int], ...], alike: Alike) -> Fraction:
    """Return T_B of both directions."""
    topology = network_of_links(nodes, links)
    return sum(
        (
            broadcast_times(BroadcastNetwork.of(each), alike).time_s_per_gb * degree
            for each in (topology, topology.reversed())
        ),
        Fraction(0),
    )


def _beaten(cost: Cost, front: Sequence[Cost]) -> bool:
    """Whether some entry of the front is at least as good."""
    return any(hops <= cost[0] and time <= cost[1] for hops, time in front)


def regular_digraphs(nodes: int, degree: int, front: Sequence[Cost]) -> list[Small]:
    """Return the best d-regular digraphs, without loops and parallel links, that beat the front.

    Raises
    ------
    InvalidParameterError
        If there are more than MOST_REGULAR nodes, or the degree is not 2 or 3.
    """
    if not (nodes <= MOST_REGULAR and degree in (2, 3)):
        raise InvalidParameterError(
            f"{nodes} nodes of degree {degree}: at most {MOST_REGULAR} nodes of degree 2 or 3"
        )
    known, found = list(front), []
    for chosen in _unions(nodes, degree):
        hops, shares = _bounds(chosen)
        for row in _unbeaten(hops, shares, nodes, known):
            links = _links(chosen, int(row))
            cost = 2 * int(hops[row]), Fraction(int(shares[row]), nodes)
            if _beaten(cost, known):
                continue  # by one of this batch
            cost = cost[0], _time(nodes, degree, links, Alike.none(nodes))
            if not _beaten(cost, known):
                found.append(Small(f"{degree}-regular digraph of {nodes} nodes", links, *cost))
                known.append(cost)
    return best_of(found)


def _unions(nodes: int, degree: int) -> Iterator[list[Permutations]]:
    """Yield batches of d permutations that differ everywhere, in arrays of shape (B, N).

    The first one may have the least numbers of its cycle type, since nodes may be renumbered.
    """
    every = _derangements(nodes)
    for lengths in _cycle_types(nodes):
        first = _permutation(lengths)
        apart = every[(every != first).all(axis=1)]
        if degree == 2:
            for start in range(0, len(apart), _BATCH):
                last = apart[start : start + _BATCH]
                yield [np.broadcast_to(first, last.shape), last]
            continue
        for number, second in enumerate(apart):
            last = apart[number + 1 :]
            last = last[(last != second).all(axis=1)]
            if len(last):
                yield [np.broadcast_to(each, last.shape) for each in (first, second)] + [last]


_BATCH = 100_000
"""Networks that are looked at together, in some tens of MB."""


@cache
def _derangements(nodes: int) -> Permutations:
    """Return the permutations that leave nothing in its place."""
    every = np.fromiter(
        itertools.chain.from_iterable(itertools.permutations(range(nodes))), dtype=np.int8
    ).reshape(-1, nodes)
    return np.asarray(every[(every != np.arange(nodes)).all(axis=1)])


def _cycle_types(nodes: int, least: int = 2) -> Iterator[list[int]]:
    """Yield the lengths of cycles, in ascending order, that add up to so many nodes."""
    if nodes == 0:
        yield []
    for length in range(least, nodes + 1):
        for others in _cycle_types(nodes - length, length):
            yield [length, *others]


def _permutation(lengths: list[int]) -> Permutations:
    image: list[int] = []
    for length in lengths:
        start = len(image)
        image += [start + (step + 1) % length for step in range(length)]
    return np.array(image, dtype=np.int8)


def _bounds(chosen: list[Permutations]) -> tuple[Numbers, Numbers]:
    """Return the diameters (-1: not connected), and bounds on T_B times N, of both directions.

    If some GPU has n others at distance t, all its links together take n / N of M / B in step t.
    """
    size, nodes = chosen[-1].shape
    towards = [each.astype(np.int64) for each in chosen]
    back = [np.argsort(each, axis=1) for each in chosen]
    ahead = np.broadcast_to(1 << np.arange(nodes, dtype=np.uint16), (size, nodes))
    behind = ahead
    hops, shares = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for step in range(1, nodes):
        wider = [ahead.copy(), behind.copy()]
        for there, here in zip(towards, back, strict=True):
            wider[0] |= np.take_along_axis(ahead, there, 1)
            wider[1] |= np.take_along_axis(behind, here, 1)
        more = [
            (_ONES[new] - _ONES[old]).max(axis=1)
            for new, old in zip(wider, (ahead, behind), strict=True)
        ]
        hops[more[0] > 0] = step
        shares += more[0] + more[1]
        ahead, behind = wider
    hops[(ahead != (1 << nodes) - 1).any(axis=1)] = -1
    return hops, shares


_ONES = np.array([number.bit_count() for number in range(1 << MOST_REGULAR)], dtype=np.int64)
"""Ones of each set of nodes."""


def _unbeaten(hops: Numbers, shares: Numbers, nodes: int, front: Sequence[Cost]) -> Numbers:
    """Return the rows whose bounds no entry of the front is as good as."""
    kept = hops >= 0
    for its_hops, time in front:
        as_slow = shares * time.denominator >= time.numerator * nodes
        kept &= ~((2 * hops >= its_hops) & as_slow)
    return np.flatnonzero(kept)


def _links(chosen: list[Permutations], row: int) -> tuple[tuple[int, int], ...]:
    return tuple(
        sorted((tail, head) for each in chosen for tail, head in enumerate(each[row].tolist()))
    )
