"""Times of a placement by schedules, which are verified.

Problem: find how long all groups of a kind take when they run at once.
Input:   a network, a kind, the names of the GPUs of each group.
Output:  the time of verified schedules, exact, and a lower bound on it for these groups.
Cost:    all-to-alls that of AllToAllPlanner; trees that of one forest a group where these attain
         the bound by cuts, else that of concurrent groups, in each direction.
Source:  :mod:`forestcoll.all_to_all.best_flow`, :mod:`lp.groups.sharing`. An allreduce is
         sequential phases: all groups' reduce-scatters, then all groups' allgathers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np

from forestcoll.all_to_all.best_flow import AllToAllPlanner
from forestcoll.errors import DisconnectedError, TimeLimitError
from forestcoll.generation import Options, generate
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule import cost, verify
from forestcoll.solver.linear_program import Settings
from forestcoll.topology.groups import group
from forestcoll.topology.model import Topology
from lp.groups.sharing import concurrent_groups
from lp.placement.parallel_kinds import Ints, Kind

if TYPE_CHECKING:
    from forestcoll.schedule.forest import Forest

__all__ = ["CheckedTimes", "KindTime"]


_WAYS = {"allgather": (False,), "reduce-scatter": (True,), "allreduce": (True, False)}
"""The phases of a collective: whether data flows back to the roots."""

_SAME = 1e-9
"""Relative difference of a float bound and an exact time that counts as none."""


@dataclass(frozen=True, slots=True)
class KindTime:
    """The time of one kind in a placement.

    Parameters
    ----------
    time_us : Fraction
        Of verified schedules.
    bound_us : float
        No schedule of the model takes less with these groups, up to the program's tolerance.
    """

    time_us: Fraction
    bound_us: float


class CheckedTimes:
    """Times by verified schedules on one network; each set of groups is solved once.

    Parameters
    ----------
    topology : Topology
    seconds : float
        For all programs together.
    """

    def __init__(self, topology: Topology, seconds: float) -> None:
        self._topology = topology
        self._deadline = time.monotonic() + seconds
        back = topology.reversed()
        self._both = (topology, back)
        self._two_way = {(e.tail, e.head, e.bandwidth_gb_s) for e in topology.links} == {
            (e.tail, e.head, e.bandwidth_gb_s) for e in back.links
        }
        self._planner: AllToAllPlanner | None = None
        self._known: dict[tuple[object, ...], tuple[Fraction, float]] = {}

    def of(self, kind: Kind, groups: Ints, cut_us: float = 0.0) -> KindTime:
        """Return the time of a kind whose groups have the GPUs of these ranks, a row a group.

        Parameters
        ----------
        cut_us : float
            A known lower bound. Trees of each group alone that attain it need no program.

        Raises
        ------
        TimeLimitError
            If the time is over.
        ForestCollError
            As :func:`lp.groups.sharing.concurrent_groups` and
            :meth:`forestcoll.all_to_all.best_flow.AllToAllPlanner.plan`.
        """
        rows = tuple(sorted(tuple(sorted(row)) for row in groups.tolist()))
        shard = Fraction(kind.size_bytes, kind.size)
        if kind.collective == "all-to-all":
            phases = [self._per_shard(rows, None)]
        else:
            ways = _WAYS[kind.collective]
            phase_us = cut_us / len(ways) / float(shard) if self._two_way else 0.0
            phases = [self._per_shard(rows, back and not self._two_way, phase_us) for back in ways]
        return KindTime(
            sum((exact for exact, _ in phases), Fraction(0)) * shard,
            sum(bound for _, bound in phases) * float(shard),
        )

    def _per_shard(
        self, rows: tuple[tuple[int, ...], ...], back: bool | None, cut_us: float = 0.0
    ) -> tuple[Fraction, float]:
        """Return time and bound in microseconds for a shard of one byte; ``None``: all-to-all."""
        key = (rows, back)
        if key not in self._known:
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeLimitError(
                    f"{self._topology.name}: the time is over before the placement is verified; "
                    f"allow more time"
                )
            if back is None:
                found = self._exchanged(rows, left)
            else:
                found = self._alone(rows, back, cut_us) or self._gathered(rows, back, left)
            self._known[key] = found
        return self._known[key]

    def _exchanged(self, rows: Sequence[Sequence[int]], left: float) -> tuple[Fraction, float]:
        ranks = self._topology.num_compute
        amounts = np.zeros((ranks, ranks), dtype=np.int64)
        for row in rows:
            amounts[np.ix_(row, row)] = 1
        np.fill_diagonal(amounts, 0)
        demand = Demand.of_matrix(amounts, "placement")
        if self._planner is None:
            self._planner = AllToAllPlanner(self._topology)
        self._planner.seconds = left
        schedule = self._planner.plan(demand)
        verify(schedule)
        time_us = cost(schedule).time_s_per_gb * demand.bytes / 1000
        bound = PriceBound.of(self._topology, demand, schedule.price).inverse_rate / 1000
        return time_us, float(bound)

    def _alone(
        self, rows: Sequence[Sequence[int]], back: bool, cut_us: float
    ) -> tuple[Fraction, float] | None:
        """Return the time of trees of each group alone, if together they attain the bound."""
        alone = _alone_us(self._both[back], rows)
        if alone is None or float(alone) > cut_us * (1 + _SAME):
            return None
        return alone, cut_us

    def _gathered(
        self, rows: Sequence[Sequence[int]], back: bool, left: float
    ) -> tuple[Fraction, float]:
        network = self._both[back]
        names = [network.nodes[place].name for place in network.compute]
        groups = {f"group {i}": [names[rank] for rank in row] for i, row in enumerate(rows)}
        found = concurrent_groups(network, groups, Settings(seconds=left))
        return 1 / found.rate_gb_s / 1000, 1 / found.bound_gb_s / 1000


def _alone_us(network: Topology, rows: Sequence[Sequence[int]]) -> Fraction | None:
    """Return the time for shards of a byte if each group has the best trees without the others.

    None if some group is connected only by GPUs of other groups.
    """
    names = [network.nodes[place].name for place in network.compute]
    loads = dict.fromkeys(network.link_between, Fraction(0))
    for row in rows:
        try:
            alone = group(network, [names[rank] for rank in row], idle="absent")
        except DisconnectedError:
            return None
        forest = cast("Forest", generate(alone, Options(collective="allgather")).schedule)
        verify(forest)
        found = cost(forest)
        place = [network.position_of[node.name] for node in alone.nodes]
        for link, load in zip(alone.links, found.loads, strict=True):
            loads[place[link.tail], place[link.head]] += Fraction(load * len(row), found.whole)
    return (
        max(load / network.link_between[ends].bandwidth_gb_s for ends, load in loads.items()) / 1000
    )
