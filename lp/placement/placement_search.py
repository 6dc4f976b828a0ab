"""Search for the placement of process groups with the least time.

Problem: choose a permutation of the GPUs, one for each rank of the grid of kinds, so that the sum
         of all kinds' times, or the slowest kind's time, is least. Kinds run one after the other.
Input:   a network, kinds; limits on seconds and swaps.
Output:  the best placement found and rank order, both verified; a bound over all placements.
Cost:    up to :data:`EXHAUSTIVE` GPUs all placements up to symmetry; else starts times swaps.
Source:  none for the problem. Small: best-first branch and bound; a placement is solved only if its
         bound by cuts is below the best verified time. Large: 2-exchange local search, as for the
         quadratic assignment problem, over the same bound.

Ties of the largest cut are decided by the sum of squares over all cuts. So swaps count that only
move load off full cuts, or that bring a group nearer to one side of a cut.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations
from typing import TypeVar

import numpy as np

from forestcoll.errors import InvalidParameterError, TimeLimitError
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology
from forestcoll.topology.symmetry.automorphism import find_orbits
from forestcoll.topology.validation import refuse_shared, validate
from lp.placement.checked_times import CheckedTimes, KindTime
from lp.placement.cut_times import CutTimes
from lp.placement.parallel_kinds import Ints, Kind, check_divides
from lp.placement.placement_bound import placement_bound_us

__all__ = [
    "EXHAUSTIVE", "OBJECTIVES", "Placed", "Placement", "best_placement", "distinct_placements",
    "improved", "starts",
]  # fmt: skip

EXHAUSTIVE = 8
"""GPUs up to which all placements are looked at."""

OBJECTIVES = ("sum", "slowest")
"""Of the times of the kinds."""

SWAPS = 200_000
"""Default maximum of swaps tried."""

_Time = TypeVar("_Time", float, Fraction)

_SAME = 1e-9
"""Relative difference of two float times that counts as none."""

_VERIFIED = 3
"""Placements of the local search that are solved, best bounds first."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A placement with the verified time of each kind.

    Parameters
    ----------
    order : tuple of int
        The GPU's rank in the network for each rank of the grid.
    kinds : tuple of KindTime
    """

    order: tuple[int, ...]
    kinds: tuple[KindTime, ...]

    def time_us(self, objective: str) -> Fraction:
        """Return the sum of all kinds' verified times, or the slowest."""
        return _together(objective, [one.time_us for one in self.kinds])

    def bound_us(self, objective: str) -> float:
        """Return the least time that schedules for this placement may reach."""
        return _together(objective, [one.bound_us for one in self.kinds])


@dataclass(frozen=True, slots=True)
class Placement:
    """The result of a search.

    Parameters
    ----------
    best, default : Placed
        The best found, and the network's own order of GPUs.
    groups : tuple of tuple of tuple of str
        Names of the GPUs: for each kind, for each of its groups, in the order of the ranks.
    least_us : float
        No placement is faster, up to the programs' tolerance. If the search was not complete, by
        what every cut separates at least.
    looked_at : int
        Placements whose bound was computed.
    swaps : int
        Tried by the local search.
    exhaustive : bool
        Whether all placements were to be looked at.
    out_of_time : bool
        Whether the search stopped at the time limit; another run may then end elsewhere.
    """

    topology: Topology
    kinds: tuple[Kind, ...]
    objective: str
    best: Placed
    default: Placed
    groups: tuple[tuple[tuple[str, ...], ...], ...]
    least_us: float
    looked_at: int
    swaps: int
    exhaustive: bool
    out_of_time: bool

    @property
    def distance(self) -> float:
        """How much slower the best found is than the bound over all placements, as a share."""
        return float(self.best.time_us(self.objective)) / self.least_us - 1

    @property
    def is_best(self) -> bool:
        """Whether no placement is faster than the one found, up to rounding of floats."""
        return self.distance <= _SAME

    @property
    def gain(self) -> Fraction:
        """How many times faster the best is than the default order."""
        return self.default.time_us(self.objective) / self.best.time_us(self.objective)


def best_placement(
    topology: Network,
    kinds: Sequence[Kind],
    *,
    objective: str = "sum",
    seconds: float = 60.0,
    swaps: int = SWAPS,
    exhaustive: bool | None = None,
) -> Placement:
    """Find which GPUs should form which group.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    kinds : sequence of Kind
        The product of their sizes divides the number of GPUs.
    objective : {"sum", "slowest"}
    seconds : float
        Half of it is for local search; the rest for schedules.
    swaps : int
        The local search tries at most so many. If it ends by this, and not by time, the result is
        the same each time.
    exhaustive : bool, optional
        Whether to look at all placements; if not given, up to :data:`EXHAUSTIVE` GPUs.

    Raises
    ------
    InvalidParameterError
        For another objective, sizes that do not divide the GPUs, a limit that is not positive, or
        an exhaustive search of a larger network.
    UnsupportedError
        If the network has shared capacities.
    TimeLimitError
        If not even the default order is verified by then.

    Examples
    --------
    With the data-parallel pairs innermost, tensor-parallel groups span both boxes. Each fits into
    one.

    >>> pair = "dgx_a100:boxes=2"
    >>> data, tensor = Kind("data", 2, "allgather", 8000), Kind("tensor", 8, "allreduce", 8 * 10**6)
    >>> round(float(best_placement(pair, [data, tensor]).gain), 2)
    1.85
    """
    topology = as_topology(topology)
    _check(topology, objective, seconds, swaps, exhaustive)
    check_divides(kinds, topology.num_compute)
    run = _Run(topology, tuple(kinds), objective, seconds)
    default = run.placed(tuple(range(topology.num_compute)))
    small = topology.num_compute <= EXHAUSTIVE if exhaustive is None else exhaustive
    best, least, looked_at, tried = (
        run.all_of(default) if small else run.local(default, seconds, swaps)
    )
    names = [topology.nodes[place].name for place in topology.compute]
    groups = tuple(
        tuple(tuple(names[best.order[rank]] for rank in row) for row in rows.tolist())
        for rows in run.bounds.groups
    )
    return Placement(
        topology,
        run.kinds,
        objective,
        best,
        default,
        groups,
        least_us=least,
        looked_at=looked_at,
        swaps=tried,
        exhaustive=small,
        out_of_time=run.out_of_time,
    )


def _check(
    topology: Topology, objective: str, seconds: float, swaps: int, exhaustive: bool | None
) -> None:
    if objective not in OBJECTIVES:
        raise InvalidParameterError(
            f"the objective is {objective!r}; it must be {' or '.join(OBJECTIVES)}"
        )
    if not seconds > 0 or swaps < 0:
        raise InvalidParameterError("seconds must be positive, and swaps 0 or more")
    if exhaustive and topology.num_compute > EXHAUSTIVE:
        raise InvalidParameterError(
            f"an exhaustive search takes up to {EXHAUSTIVE} GPUs; {topology.name} has "
            f"{topology.num_compute}"
        )
    refuse_shared(topology, "placement")
    validate(topology, "allgather")


class _Run:
    """What one search shares: bounds, verified times, the deadline."""

    def __init__(
        self, topology: Topology, kinds: tuple[Kind, ...], objective: str, seconds: float
    ) -> None:
        self.topology, self.kinds, self.objective = topology, kinds, objective
        self.start = time.monotonic()
        self.bounds = CutTimes(topology, kinds)
        self.out_of_time = False
        self._checked = CheckedTimes(topology, seconds)

    def placed(self, order: tuple[int, ...]) -> Placed:
        ranks = np.array(order, dtype=np.int64)
        cuts_us = self.bounds.times_us(ranks)
        kinds = zip(self.kinds, self.bounds.groups, cuts_us, strict=True)
        return Placed(
            order, tuple(self._checked.of(kind, ranks[rows], cut) for kind, rows, cut in kinds)
        )

    def bound_us(self, order: Sequence[int]) -> float:
        return _together(self.objective, self.bounds.times_us(np.array(order, dtype=np.int64)))

    def all_of(self, default: Placed) -> tuple[Placed, float, int, int]:
        """Solve placements, least bound first, until no bound is below the best verified time."""
        found = distinct_placements(self.topology, self.bounds.groups)
        queue = sorted((self.bound_us(order), order) for order in found)
        best, least = default, default.bound_us(self.objective)
        for bound, order in queue:
            if bound >= float(best.time_us(self.objective)) * (1 - _SAME):
                least = min(least, bound)
                break
            try:
                one = self.placed(order)
            except TimeLimitError:
                self.out_of_time = True
                # Some bounds are not compared with a schedule.
                return best, placement_bound_us(self.bounds, self.objective), len(queue), 0
            least = min(least, max(bound, one.bound_us(self.objective)))
            best = min(best, one, key=lambda placed: placed.time_us(self.objective))
        return best, least, len(queue), 0

    def local(self, default: Placed, seconds: float, swaps: int) -> tuple[Placed, float, int, int]:
        """Improve several starts by swaps, and solve those with the least bounds."""
        deadline = self.start + seconds / 2
        ends: dict[tuple[int, ...], float] = {}
        tried = 0
        begun = sorted(starts(self.topology, self.kinds), key=self.bound_us)
        for start in begun:
            end, used = improved(self.bounds, start, self.objective, swaps - tried, deadline)
            ends[end], tried = self.bound_us(end), tried + used
        self.out_of_time = time.monotonic() > deadline
        best = default
        for order in sorted(ends, key=lambda one: ends[one])[:_VERIFIED]:
            if ends[order] >= float(best.time_us(self.objective)) * (1 - _SAME):
                break
            try:
                one = self.placed(order)
            except TimeLimitError:
                self.out_of_time = True
                break  # the best verified so far stays
            best = min(best, one, key=lambda placed: placed.time_us(self.objective))
        least = placement_bound_us(self.bounds, self.objective)
        return best, least, tried + len(ends), tried


def improved(
    bounds: CutTimes, start: Sequence[int], objective: str, swaps: int, deadline: float
) -> tuple[tuple[int, ...], int]:
    """Swap two GPUs while that lowers the bound or, at the same bound, the unevenness.

    Returns the order at which no swap helps or a limit is reached, and the swaps tried.
    """
    order = np.array(start, dtype=np.int64)
    best, tried, since = _score(bounds, order, objective), 0, 0
    pairs = _useful_pairs(bounds, len(order))
    while pairs and since < len(pairs):
        one, other = pairs[tried % len(pairs)]
        if tried >= swaps or time.monotonic() > deadline:
            break
        order[[one, other]] = order[[other, one]]
        score = _score(bounds, order, objective)
        tried, since = tried + 1, since + 1
        if _is_less(score, best):
            best, since = score, 0
        else:
            order[[one, other]] = order[[other, one]]
    return tuple(order.tolist()), tried


def starts(topology: Topology, kinds: Sequence[Kind]) -> Iterator[tuple[int, ...]]:
    """Yield orders to start from: as in the network, by box, by rail; with any kind innermost."""
    gpus = topology.num_compute
    nodes = [topology.nodes[place] for place in topology.compute]
    box = [(-1 if node.box is None else node.box) for node in nodes]
    index = [(-1 if node.index is None else node.index) for node in nodes]
    orders = [
        list(range(gpus)),
        sorted(range(gpus), key=lambda i: (box[i], index[i], i)),
        sorted(range(gpus), key=lambda i: (index[i], box[i], i)),
    ]
    known: set[tuple[int, ...]] = set()
    for order in orders:
        for cells in _axes_in_any_order(kinds, gpus):
            start = np.empty(gpus, dtype=np.int64)
            start[cells] = order
            found = tuple(start.tolist())
            if found not in known:
                known.add(found)
                yield found


def distinct_placements(topology: Topology, groups: Sequence[Ints]) -> Iterator[tuple[int, ...]]:
    """Yield one placement of every orbit under the network's symmetries and the grid's.

    Two placements are the same if every kind has the same groups. Rank 0 may stay on GPU 0, as
    shifts of an axis carry any rank of the grid into any other.
    """
    rank = {place: i for i, place in enumerate(topology.compute)}
    moves = [
        np.array([rank[int(move[place])] for place in topology.compute], dtype=np.int64)
        for move in find_orbits(topology).generators
    ]
    seen: set[object] = set()
    for rest in permutations(range(1, topology.num_compute)):
        order = (0, *rest)
        if _key(np.array(order), groups) in seen:
            continue
        yield order
        _mark(np.array(order, dtype=np.int64), groups, moves, seen)


def _mark(order: Ints, groups: Sequence[Ints], moves: Sequence[Ints], seen: set[object]) -> None:
    """Mark everything that symmetries make of a placement."""
    todo = [order]
    seen.add(_key(order, groups))
    while todo:
        one = todo.pop()
        for move in moves:
            key = _key(move[one], groups)
            if key not in seen:
                seen.add(key)
                todo.append(move[one])


def _key(order: Ints, groups: Sequence[Ints]) -> tuple[frozenset[frozenset[int]], ...]:
    """Return the groups of every kind, in no order."""
    return tuple(frozenset(map(frozenset, order[rows].tolist())) for rows in groups)


def _useful_pairs(bounds: CutTimes, gpus: int) -> list[tuple[int, int]]:
    """Return pairs of ranks that some kind has in different groups."""
    group = np.empty((len(bounds.groups), gpus), dtype=np.int64)
    for kind, rows in enumerate(bounds.groups):
        group[kind, rows] = np.arange(len(rows))[:, None]
    first, second = np.triu_indices(gpus, 1)
    useful = (group[:, first] != group[:, second]).any(axis=0)
    return list(zip(first[useful].tolist(), second[useful].tolist(), strict=True))


def _axes_in_any_order(kinds: Sequence[Kind], gpus: int) -> Iterator[Ints]:
    """Yield the ranks of the grid in the order that each choice of innermost axes walks them."""
    sizes = [kind.size for kind in kinds]
    left = gpus // math.prod(sizes)
    grid = np.arange(gpus, dtype=np.int64).reshape(left, *reversed(sizes))
    for axes in islice(permutations(range(len(sizes) + 1)), 24):
        yield grid.transpose(axes).ravel()


def _score(bounds: CutTimes, order: Ints, objective: str) -> tuple[float, float]:
    return _together(objective, bounds.times_us(order)), bounds.unevenness(order)


def _is_less(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Compare the first numbers, and the second if the first are the same up to rounding."""
    for new, old in zip(one, other, strict=True):
        if abs(new - old) > _SAME * old:
            return new < old
    return False


def _together(objective: str, times: Sequence[_Time]) -> _Time:
    return max(times) if objective == "slowest" else sum(times[1:], times[0])
