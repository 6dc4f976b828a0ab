"""Decompose flows into a path schedule with integer weights for every pair.

Problem: write the flow of each source as paths to its destinations, the shares of each pair's paths
         whole numbers over one common whole.
Output:  a FlowSchedule, which ``verify`` proves and whose rate is exact.
Cost:    at most |E| + N paths a source, found link by link.
Source:  flow decomposition; shares by largest remainders. Each weight is off by less than one part
         in the whole, 720720 by default, which every number up to 16 divides: where the optimum is
         made of such fractions, nothing is lost.

With symmetries a representative's flow is first made even over those that leave it in place, and
each GPU of its orbit takes the image of its paths; so the loads of the links in an orbit stay
equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from forestcoll.all_to_all.flow_problem import FlowProblem
from forestcoll.all_to_all.linear_optimum import AllToAllOptimum
from forestcoll.all_to_all.rotated_paths import PathFamily, loads_of, routes_of
from forestcoll.errors import InvalidParameterError, SolverError, UnsupportedError
from forestcoll.problem.demand import Demand
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Routes
from forestcoll.solver.linear_program import Vector
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.stabilizer import bringing, link_orbits_around

if TYPE_CHECKING:
    from forestcoll.all_to_all.concurrent_flow import ApproximateFlow

__all__ = ["WHOLE", "largest_remainders", "loaded_schedules_of", "schedule_of", "schedules_of"]

Ints = npt.NDArray[np.int64]

WHOLE = 720_720
"""The least common multiple of 1 to 16."""

_NEGLIGIBLE = 1e-9
"""Of a source's flow to one destination: what a solver's tolerance may leave over."""

_MISSING = 1e-4
"""Of a destination's amount: how much of it may be without a path before it is an error."""

_Shares = dict[int, list[tuple[tuple[int, ...], float]]]


def schedule_of(
    found: AllToAllOptimum | ApproximateFlow, *, whole: int = WHOLE, demand: Demand | None = None
) -> FlowSchedule:
    """Turn flows into a schedule.

    Parameters
    ----------
    found : AllToAllOptimum or ApproximateFlow
    whole : int
        Number of parts of each pair's data; with a demand, of the largest number of bytes that
        divides all amounts.
    demand : Demand, optional
        The demand whose matrix the amounts are; needed if they differ.

    Raises
    ------
    InvalidParameterError
        If the whole is not positive.
    UnsupportedError
        If the amounts differ and no demand is given.
    SolverError
        If the flow leaves a destination without its amount.
    """
    return next(schedules_of(found, [whole], demand=demand))


def schedules_of(
    found: AllToAllOptimum | ApproximateFlow,
    wholes: Iterable[int],
    *,
    demand: Demand | None = None,
) -> Iterator[FlowSchedule]:
    """Turn flows into a schedule for each number of parts; as :func:`schedule_of`.

    A vertex of the program has amounts that are multiples of some part of the data. If the parts
    are these, rounding removes the solver's tolerance, and the schedule attains the optimum.
    """
    return (schedule for schedule, _ in loaded_schedules_of(found, wholes, demand=demand))


def loaded_schedules_of(
    found: AllToAllOptimum | ApproximateFlow,
    wholes: Iterable[int],
    *,
    demand: Demand | None = None,
) -> Iterator[tuple[FlowSchedule, list[int] | None]]:
    """Yield schedules with the loads of their links; paths are written when they are asked for.

    The loads are None if they do not fit 64 bits. Else as :func:`schedules_of`.
    """
    demands = found.demands
    if not demands.uniform and demand is None:
        raise UnsupportedError(
            "unsupported: the amounts of the pairs differ; give the demand that states them"
        )
    topology = demands.topology
    unit = 1 if demand is None else int(np.gcd.reduce(demand.size))
    size = None if demand is None else demand.matrix // unit
    sources = [
        (shares, _due(topology, size, source, shares), PathFamily.of(images, _nodes(shares)))
        for source, images, shares in _sources(found)
    ]
    for whole in wholes:
        if whole < 1:
            raise InvalidParameterError(f"the whole is {whole}; it must be positive")
        families = [
            paths.weighted(_weights(shares, whole, unit, due)) for shares, due, paths in sources
        ]
        routes = Routes.later(partial(routes_of, topology, families))
        made = FlowSchedule(topology, found.method, whole, routes, demand)
        yield made, loads_of(topology, families)


def _due(topology: Topology, size: Ints | None, source: int, shares: _Shares) -> list[int]:
    """Return a source's amounts for the targets of its paths, in units; symmetric ones are alike.

    One for each, if all parts are equal.
    """
    if size is None:
        return [1] * len(shares)
    place = topology.rank_of
    return [int(size[place[source], place[target]]) for target in shares]


def _nodes(shares: _Shares) -> list[tuple[int, ...]]:
    return [nodes for paths in shares.values() for nodes, _ in paths]


def _weights(shares: _Shares, whole: int, unit: int, due: Sequence[int]) -> list[int]:
    return [
        unit * weight
        for paths, amount in zip(shares.values(), due, strict=True)
        for weight in largest_remainders([share for _, share in paths], whole * amount)
    ]


def largest_remainders(shares: Sequence[float], whole: int) -> list[int]:
    """Divide an integer in proportion to positive shares, by largest remainders.

    Examples
    --------
    2.5 and 7.5 of 10 tie; the first is rounded up.

    >>> largest_remainders([0.25, 0.75], 10)
    [3, 7]
    """
    if len(shares) == 1:
        return [whole]
    # Floats are whole numbers over powers of two: in units of the smallest, all is exact.
    ratios = [share.as_integer_ratio() for share in shares]
    unit = math.lcm(*(under for _, under in ratios))
    exact = [over * (unit // under) for over, under in ratios]
    total = sum(exact)
    parts = [divmod(share * whole, total) for share in exact]
    dealt = [part for part, _ in parts]
    for i in sorted(range(len(parts)), key=lambda i: (-parts[i][1], i))[: whole - sum(dealt)]:
        dealt[i] += 1
    return dealt


def _sources(
    found: AllToAllOptimum | ApproximateFlow,
) -> Iterator[tuple[int, Mapping[int, Ints], _Shares]]:
    """Yield sources, the symmetries that carry each to the others alike, and its paths."""
    demands, topology = found.demands, found.topology
    orbits = found.orbits
    # The rows of a program's problem are of all ranks, those of an approximation of its flows.
    places: Sequence[int] = range(len(found.flow_gb_s))
    if isinstance(found, AllToAllOptimum):
        places = found.sources
    if orbits is None:
        here = np.arange(len(topology.nodes))
        for rank, source in enumerate(topology.compute):
            shares = _decomposed(demands, rank, found.flow_gb_s[rank])
            if shares:
                yield source, {source: here}, shares
        return
    generators = orbits.generators
    for rank, flow in zip(places, found.flow_gb_s, strict=True):
        source = int(demands.sources[rank])
        bring = bringing(generators, source, len(topology.nodes))
        alike = link_orbits_around(topology, generators, bring)
        even = (np.bincount(alike, weights=flow) / np.bincount(alike))[alike]
        shares = _decomposed(demands, rank, even)
        if shares:
            yield source, bring, shares


@dataclass(slots=True)
class _Residual:
    """Remaining flow of a source: for each node, the amounts from its predecessors."""

    into: list[dict[int, float]]
    source: int
    least: float

    def path_to(self, target: int) -> tuple[int, ...] | None:
        """Follow the fullest links back to the source, cutting out round trips; None if stuck."""
        path = [target]
        while path[-1] != self.source:
            entering = self.into[path[-1]]
            if not entering:
                return None
            before = max(entering, key=entering.__getitem__)
            if before in path:
                trip = [*path[path.index(before) :], before]
                self.take(trip[::-1], self.room(trip[::-1]))
                path = path[: path.index(before) + 1]
            else:
                path.append(before)
        return tuple(path[::-1])

    def room(self, path: list[int] | tuple[int, ...]) -> float:
        """Return the least flow on a path's links."""
        return min([self.into[head][tail] for tail, head in pairwise(path)])

    def take(self, path: list[int] | tuple[int, ...], amount: float) -> None:
        """Take an amount off the path's links, and drop what is negligible."""
        for tail, head in pairwise(path):
            entering = self.into[head]
            left = entering[tail] - amount
            if left > self.least:
                entering[tail] = left
            else:
                del entering[tail]


def _decomposed(demands: FlowProblem, rank: int, flow: Vector) -> _Shares:
    """Find the paths of a source's flow to all its destinations."""
    source, amount = int(demands.sources[rank]), demands.amount[rank]
    if not amount.any():
        return {}
    total = float(flow[demands.tail == source].sum() - flow[demands.head == source].sum())
    rate = total / float(amount.sum())
    least = _NEGLIGIBLE * rate * float(amount[amount > 0].min())
    left = _Residual([{} for _ in demands.topology.nodes], source, least)
    used = flow > least
    columns = (column[used].tolist() for column in (demands.tail, demands.head, flow))
    for tail, head, size in zip(*columns, strict=True):
        left.into[head][tail] = size
    shares: _Shares = {}
    for target in np.flatnonzero(amount).tolist():
        due = rate * float(amount[target])
        missing, paths = due, []
        while missing > _NEGLIGIBLE * due:
            path = left.path_to(target)
            if path is None:
                break
            share = min(missing, left.room(path))
            left.take(path, share)
            paths.append((path, share))
            missing -= share
        if missing > _MISSING * due:
            names = [demands.topology.nodes[node].name for node in (source, target)]
            raise SolverError(
                f"the flow from {names[0]} leaves {missing / due:.2%} of what is for {names[1]} "
                f"without a path; solve with a smaller tolerance"
            )
        shares[target] = paths
    return shares
