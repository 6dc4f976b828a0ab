"""Search for trees and rates of least time, by a program with columns priced by trees.

Problem: the least T for which trees of any latencies L_i and rates r_i deliver every root's data:
         sum of r_i (T - L_i) >= m(root), within the capacities.
Input:   a network, weights, the trees to begin with, an amount.
Output:  T, and the trees with their rates.
Cost:    some linear programs, and for each a few trees of each orbit of roots and latency.
Source:  ours; docs/mathematics/forests-over-time.md. Newton's method on T: with the rates for T,
         the data arrive by T' = max over roots of (m + sum of r_i L_i) / sum of r_i <= T. Columns
         are priced by a local search (:mod:`forestcoll.forest_over_time.priced_trees`), so the T
         found is one of the restricted program, not proved to be the least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from forestcoll.errors import TimeLimitError
from forestcoll.forest_over_time.priced_hops import Floats, HopNetwork, Hops
from forestcoll.forest_over_time.priced_trees import arrivals, cheaper_tree, fastest_tree
from forestcoll.forest_over_time.rate_program import Limits, Rates, best_rates
from forestcoll.forest_over_time.rotations import Orbit
from forestcoll.forest_over_time.timed_trees import Column, TimedTree, column_of

__all__ = ["Pool", "Report", "TimedRates"]

Report = Callable[[int, int], None]
"""Called with (done, total) now and then; may raise to stop the work.

TimeLimitError ends a search with what it has found.
"""

_ROUNDS = 30  # of prices for one amount
_LATENCIES = 8  # limits beyond the least latency
# When the search stops; the time of what it leaves is computed in fractions (``repeated_time``).
_TOLERANCE = 1e-9  # of the time, and of the largest rate
_PROGRESS, _PATIENCE = 1e-4, 3  # rounds that each shorten the time by less, and how many of them
_WORTH = 1e-6  # by which a column must improve the objective, as a share


@dataclass(frozen=True, slots=True, eq=False)
class TimedRates:
    """Trees with rates that deliver an amount by a time.

    Parameters
    ----------
    time : float
        In ticks.
    columns : tuple of Column
    rates : float array, one entry a column
        Above 0.
    """

    time: float
    columns: tuple[Column, ...] = field(repr=False)
    rates: Floats = field(repr=False)


class Pool:
    """Columns of a network, which all amounts share."""

    def __init__(
        self,
        network: HopNetwork,
        orbits: Sequence[Orbit],
        limits: Limits,
        trees: Iterable[tuple[int, TimedTree]],
    ) -> None:
        self._network, self._orbits, self._limits = network, orbits, limits
        self._known: set[TimedTree] = set()
        self._columns: list[Column] = []
        hops = network.hops()
        self._fastest = []
        for place, orbit in enumerate(orbits):
            parent = fastest_tree(hops, orbit.roots[0])
            self._fastest.append(int(arrivals(hops, parent).max()))
            self._add(place, TimedTree.of(hops, orbit.roots[0], parent))
        # No earlier time is tried: what is left of it after the latency would be rounding.
        self._soonest = max(self._fastest) * (1 + _TOLERANCE)
        self.slowest_hop = int(hops.latency[np.isfinite(hops.cost)].max())
        for place, tree in trees:
            self._add(place, tree)

    def least_time(self, amount: float, report: Report | None = None) -> TimedRates:
        """Find rates for an amount per unit of weight, in units of capacity times ticks.

        ``report`` is called with (rounds done, rounds at most). If it raises TimeLimitError, the
        rates found so far are returned.
        """
        time, rates = self._first(amount)
        idle = 0
        for number in range(_ROUNDS):
            try:
                if report is not None:
                    report(number, _ROUNDS)
            except TimeLimitError:
                break
            before = time
            time, rates = self._newton(amount, time, rates)
            idle = idle + 1 if time > before * (1 - _PROGRESS) else 0
            if idle == _PATIENCE or not self._priced(time, rates):
                break
            rates = best_rates(self._columns, self._limits, time)
        time, rates = self._newton(amount, time, rates)
        return self._used(time, rates)

    @property
    def columns(self) -> Sequence[Column]:
        """All columns so far."""
        return self._columns

    def rates_for(self, time: float) -> TimedRates:
        """Return the rates that deliver the most by a time, with the columns so far."""
        return self._used(time, best_rates(self._columns, self._limits, time))

    def _used(self, time: float, rates: Rates) -> TimedRates:
        used = np.flatnonzero(rates.rates > _TOLERANCE * rates.rates.max())
        return TimedRates(time, tuple(self._columns[i] for i in used), rates.rates[used])

    def _first(self, amount: float) -> tuple[float, Rates]:
        """Return some time that is long enough, with its rates."""
        time = 2.0 * max(self._fastest) + 1
        while True:
            rates = best_rates(self._columns, self._limits, time)
            if rates.amount >= amount:
                return time, rates
            time *= 2

    def _newton(self, amount: float, time: float, rates: Rates) -> tuple[float, Rates]:
        """Reduce the time until the rates deliver the amount and no more."""
        while True:
            sooner = max(self._arrival(amount, rates), self._soonest)
            if not sooner < time * (1 - _TOLERANCE):
                return time, rates
            time = sooner
            rates = best_rates(self._columns, self._limits, time)

    def _arrival(self, amount: float, rates: Rates) -> float:
        total, delayed = np.zeros(len(self._orbits)), np.zeros(len(self._orbits))
        for column, rate in zip(self._columns, rates.rates, strict=True):
            total[column.orbit] += rate
            delayed[column.orbit] += rate * column.latency
        due = amount * np.array(self._limits.weights)
        return float(((due + delayed) / total).max())

    def _priced(self, time: float, rates: Rates) -> bool:
        """Add trees that would deliver more by the time; return whether there were any."""
        hops = self._network.hops(rates.link_prices)
        before = len(self._columns)
        for place, orbit in enumerate(self._orbits):
            for tree in self._cheap(hops, orbit.roots[0], time):
                one = column_of(self._network, self._orbits, place, tree)
                gains = rates.root_prices[place] * (time - one.latency)
                if gains * (1 - _WORTH) > float(rates.link_prices @ one.loads):
                    self._add(place, tree, one)
        return len(self._columns) > before

    def _cheap(self, hops: Hops, root: int, time: float) -> Iterator[TimedTree]:
        """Yield trees of one root of low price, for some limits on their latency."""
        fastest = fastest_tree(hops, root)
        least, parent = int(arrivals(hops, fastest).max()), fastest
        for more in range(_LATENCIES + 1):
            limit = least + more * self.slowest_hop
            if limit >= time:
                break
            # From the tree of the limit before, and anew: neither is always the better start.
            for start in dict.fromkeys((tuple(parent.tolist()), tuple(fastest.tolist()))):
                parent = cheaper_tree(hops, np.array(start), limit)
                yield TimedTree.of(hops, root, parent)

    def _add(self, place: int, tree: TimedTree, column: Column | None = None) -> None:
        if tree not in self._known:
            self._known.add(tree)
            if column is None:
                column = column_of(self._network, self._orbits, place, tree)
            self._columns.append(column)
