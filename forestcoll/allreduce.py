"""The best allreduce that can be made: the combination where it is provably that, else a program's.

Problem: reduce-scatter + allgather takes the sum of two least times; unequal parts at the roots,
         and links shared otherwise than one to one, may be faster.
Input:   the combination; sets of nodes that may be tight in both phases.
Output:  it, with a bound that it attains; or what an allreduce program makes within a stated time,
         with the bound that the program proves; the faster of the two, saying which.
Cost:    linear in the links for each family of sets; else that of the program.
Source:  ForestColl section 5.7 and its appendix on the optimality of allreduce.

Sets X_1, .., X_m that are disjoint and hold all GPUs prove the combination optimal where each is
tight in both phases and both have the same rate x: with price 1 for each set in each phase, and
potential 1/2 at the switches outside of all, every root is outside of m - 1 sets, so c = 2 (m - 1),
and what enters and leaves the sets has price 1/2, which makes W (m - 1) x: a bound of W x / 2.

The program is a plug-in, the entry point ``program`` of the group ``forestcoll.allreduce``, so that
this package needs no solver: ``program(topology, weights, copying=, seconds=)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from importlib.metadata import entry_points
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from forestcoll.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.collectives import Allreduce
from forestcoll.schedule.factored import FactoredForest, Sets
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.model import Link, Topology

__all__ = [
    "PROGRAM_S",
    "PROGRAM_STAGE",
    "Improved",
    "Parts",
    "best_allreduce",
    "best_known_bound",
    "check_seconds",
    "families_of",
    "partition_bound",
]

PROGRAM_S = 60.0
"""Seconds that the allreduce program may take, if nothing else is said."""

PROGRAM_STAGE = "allreduce program"
"""The stage in which it runs."""

Parts = Sequence[Sequence[int]]
"""Sets of ranks, disjoint, every rank in one of them."""

F = TypeVar("F", Forest, FactoredForest, MulticastForest)


@dataclass(frozen=True, slots=True)
class Improved:
    """What an allreduce program found.

    Parameters
    ----------
    schedule : Allreduce, optional
        Without a bound; None if it came to none.
    bound : AllreduceBound, optional
        The best that it proved; None if it came to none.
    remark : str
        Why there is no schedule, or no better bound; empty if there is nothing to say.
    """

    schedule: Allreduce[Any] | None
    bound: AllreduceBound | None
    remark: str = ""


def best_allreduce(
    combination: Allreduce[F],
    families: Iterable[Parts] = (),
    *,
    weights: tuple[int, ...] | None = None,
    copying: bool = False,
    seconds: float = PROGRAM_S,
    run: Callable[[Callable[[], Improved]], Improved] = lambda work: work(),
    hold: Callable[[Any], F] = lambda forest: forest,
) -> Allreduce[F]:
    """Return the faster of a combination and what the allreduce program makes.

    Parameters
    ----------
    combination : Allreduce
        An optimal reduction and an optimal gathering.
    families : iterable of sets of ranks
        Partitions of the GPUs that may prove the combination optimal; single GPUs and boxes are
        tried too.
    weights : tuple of int, optional
        Where the parts must be summed up in these proportions; anywhere if not given.
    copying : bool
        Whether switches marked ``multicast`` copy and add in it.
    seconds : float
        For the program; 0: it is not asked.
    run : callable
        Runs the program, as a stage.
    hold : callable
        Brings a forest that the program makes into the form of the combination.

    Returns
    -------
    Allreduce
        With the best bound that is known, and a remark on which it is and why.
    """
    in_turn = combination.in_turn_s_per_gb
    bound = best_known_bound(
        combination.topology, families, copying=copying, least=1 / in_turn if in_turn else in_turn
    )
    if bound is None:  # a single GPU
        return combination
    known = replace(combination, bound=bound)
    if bound.algbw_gb_s * in_turn == 1:
        return replace(known, remark=f"{_NAME}, optimal by the cuts of its phases")
    if bound.algbw_gb_s * combination.time_s_per_gb == 1:
        return replace(known, remark=f"{_NAME}, optimal by a cut")
    if seconds <= 0:
        return replace(known, remark=f"{_NAME}; the allreduce program was not asked")
    program = _program()
    if program is None:
        return replace(known, remark=f"{_NAME}; no allreduce program is installed")
    asked = partial(program, combination.topology, weights, copying=copying, seconds=seconds)
    return _better(known, run(asked), hold)


_NAME = "reduction + gathering"


def _better(known: Allreduce[F], found: Improved, hold: Callable[[Any], F]) -> Allreduce[F]:
    """Return the faster schedule with the lower bound, the combination if both are alike."""
    bounds = [one for one in (known.bound, found.bound) if one is not None]
    bound = min(bounds, key=lambda one: one.algbw_gb_s)
    ours, made = known.time_s_per_gb, found.schedule
    if made is not None and made.time_s_per_gb < ours:
        remark = "; ".join(filter(None, ("allreduce program", found.remark)))
        return Allreduce(hold(made.reduce), hold(made.gather), bound, remark)
    why = found.remark or "the allreduce program has nothing faster"
    if bound.algbw_gb_s * ours == 1:
        why = "optimal by the bound of the allreduce program"
    return replace(known, bound=bound, remark=f"{_NAME}; {why}")


def check_seconds(seconds: float) -> None:
    """Refuse what is no time.

    Raises
    ------
    InvalidParameterError
    """
    if not 0 <= seconds < math.inf:
        raise InvalidParameterError(
            f"the time for the allreduce program is {seconds} s; it must be 0 or more, and finite"
        )


@cache
def _program() -> Callable[..., Improved] | None:
    """Load the allreduce program of another package, if there is one."""
    known = entry_points(group="forestcoll.allreduce", name="program")
    for entry in known:
        loaded: Callable[..., Improved] = entry.load()
        return loaded
    return None


# --- bounds from sets that are known -------------------------------------------------------------


def best_known_bound(
    topology: Topology,
    families: Iterable[Parts] = (),
    *,
    copying: bool = False,
    least: Fraction = Fraction(0),
) -> AllreduceBound | None:
    """Return the least of the bounds by partitions and by cuts around their sets.

    Parameters
    ----------
    topology : Topology
    families : iterable of sets of ranks
        Tried first; then single GPUs and boxes.
    copying : bool
        Whether switches marked ``multicast`` copy and add.
    least : Fraction
        A rate in GB/s that is attained: the search ends where it is met.

    Returns
    -------
    AllreduceBound or None
        None for a single GPU.
    """
    if topology.num_compute == 1:
        return None
    ranks = range(topology.num_compute)
    tried, best = [], None
    for parts in chain(families, [[[rank] for rank in ranks]], _boxes(topology)):
        if len(parts) > 1:
            tried.append(_closed(topology, parts))
            rate = _partition_rate(topology, tried[-1], copying)
            best = min(filter(None, (best, (rate, len(tried) - 1))))
            if rate <= least:
                break
    assert best is not None  # single GPUs are always tried
    rate, which = best
    cuts = [] if rate <= least else _cuts(topology, tried)
    narrow = min(cuts, key=lambda one: one.algbw_gb_s, default=None)
    if narrow is not None and narrow.algbw_gb_s < rate:
        return narrow
    return partition_bound(topology, tried[which], copying=copying)


def _partition_rate(topology: Topology, parts: Sequence[Sequence[int]], copying: bool) -> Fraction:
    """Return what :func:`partition_bound` would prove, in less time."""
    links = topology.integer_capacities
    place = np.full(len(topology.nodes), -1)
    for number, part in enumerate(parts):
        place[list(part)] = number
    height = np.where(place < 0, 1, 0)  # twice the potential, which is 0 in the sets
    if copying:
        height[[node.multicast for node in topology.nodes]] = 0
    tail, head = place[links.tail], place[links.head]
    rise = height[links.head] - height[links.tail]
    apart = tail != head
    price = np.maximum(2 * (apart & (head >= 0)) + rise, 2 * (apart & (tail >= 0)) - rise)
    capacity = links.capacity.astype(object)
    return Fraction(int((capacity * price).sum()), links.denominator * 4 * (len(parts) - 1))


def partition_bound(
    topology: Topology,
    parts: Sequence[Sequence[int]],
    *,
    copying: bool = False,
) -> AllreduceBound:
    """Bound allreduces by what enters and leaves disjoint sets of nodes, each at price 1.

    Parameters
    ----------
    topology : Topology
    parts : sequences of node positions
        Two or more, disjoint, each with a GPU.
    copying : bool
        As of :class:`forestcoll.allreduce_bound.AllreduceBound`.
    """
    one, half = Fraction(1), Fraction(1, 2)
    held = {node for part in parts for node in part}
    outside = [
        Potential(switch, half, half)
        for switch in topology.switches
        if switch not in held and not (copying and topology.nodes[switch].multicast)
    ]
    sets = [PricedSet(tuple(sorted(part)), gather=one, reduce=one) for part in parts]
    return AllreduceBound.of(topology, sets, outside, copying=copying)


def families_of(forest: FactoredForest) -> Iterator[Parts]:
    """Yield the partitions that nested sets make: those at each level, GPUs outside them alone."""
    sets = forest.sets
    yield from (parts for depth in range(1, _depth(sets)) if len(parts := _level(sets, depth)) > 1)


def _depth(sets: Sets) -> int:
    depth = np.zeros(len(sets), dtype=np.int64)
    for inner in range(len(sets) - 2, -1, -1):  # inner sets come first
        depth[inner] = depth[sets.parent[inner]] + 1
    return int(depth.max(initial=0)) + 1


def _level(sets: Sets, depth: int) -> Parts:
    """Gather ranks by the set around them at a depth, or at the greatest up to it."""
    chain: list[tuple[int, ...]] = [()] * len(sets)
    for inner in range(len(sets) - 2, -1, -1):
        chain[inner] = (*chain[sets.parent[inner]], inner)
    found: dict[tuple[int, ...], list[int]] = {}
    for rank, around in enumerate(sets.set_of.tolist()):
        path = chain[around][:depth]
        key = path if len(path) == depth else (*path, -1 - rank)
        found.setdefault(key, []).append(rank)
    return list(found.values())


def _boxes(topology: Topology) -> Iterator[Parts]:
    """Yield the machines, if all GPUs are in one."""
    boxes: dict[int, list[int]] = {}
    for rank, gpu in enumerate(topology.compute):
        if (box := topology.nodes[gpu].box) is None:
            return
        boxes.setdefault(box, []).append(rank)
    if len(boxes) > 1:
        yield list(boxes.values())


def _closed(topology: Topology, parts: Parts) -> list[list[int]]:
    """Turn ranks into nodes, with the switches that have neighbours in one set only."""
    part_of = {topology.compute[rank]: i for i, part in enumerate(parts) for rank in part}
    beside: dict[int, set[int]] = {switch: set() for switch in topology.switches}
    for link in topology.links:
        for near, far in ((link.tail, link.head), (link.head, link.tail)):
            if near in beside:
                beside[near].add(far)
    before = -1
    while before < len(part_of):
        before = len(part_of)
        for switch in [switch for switch in beside if switch not in part_of]:
            around = {part_of.get(node, -1) for node in beside[switch]}
            if len(around) == 1 and -1 not in around:
                part_of[switch] = around.pop()
    nodes: list[list[int]] = [[] for _ in parts]
    for node, number in part_of.items():
        nodes[number].append(node)
    return nodes


def _cuts(
    topology: Topology, partitions: Iterable[Iterable[Iterable[int]]]
) -> list[AllreduceBound]:
    """Return the narrowest cut around a set of the partitions, each way."""
    touching: list[list[Link]] = [[] for _ in topology.nodes]
    for link in topology.links:
        touching[link.tail].append(link)
        touching[link.head].append(link)
    best: dict[bool, tuple[Fraction, list[int]]] = {}
    for part in (set(part) for parts in partitions for part in parts):
        near = {link for node in part for link in touching[node]}
        crossing = [link for link in near if (link.tail in part) != (link.head in part)]
        for into in (True, False):
            wide = (link.bandwidth_gb_s for link in crossing if (link.head in part) == into)
            found = sum(wide, start=Fraction(0)), sorted(part)
            best[into] = min(best.get(into, found), found)
    return [AllreduceBound.of_cut(topology, part, into=into) for into, (_, part) in best.items()]
