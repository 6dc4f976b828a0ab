"""Program for trees of both phases of an allreduce in the same time slots.

Problem: a gathering that waits for the whole reduction leaves links idle around the roots, and
         takes twice the latency of the deepest tree. In K slots for both, a root gathers what it
         has summed up while other sums are still on their way. Maximise the data per width.
Input:   a network on which every link has an equal reverse, orbits of roots, limits; K and g as of
         :mod:`forestcoll.forest_over_time.slot_program`.
Output:  amounts by tree and slots. A tree gathers in its slots; backwards in time and reversed, it
         also reduces as much: what it sends in slot s, it receives in slot K - 1 - s.
Cost:    as there; trees are searched for once for each first slot with a price of its own.
Source:  ours; docs/mathematics/forests-over-time.md.

A root sends a sum g slots after the last summand was sent to it, or later. So trees whose first
slot is t or before carry at most what trees reduce whose last slot is t - g or before: backwards
in time, trees whose first slot is K - 1 + g - t or later. Roots share the data as is best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from forestcoll.forest_over_time.priced_hops import Floats, HopNetwork, Ints
from forestcoll.forest_over_time.rate_program import Limits
from forestcoll.forest_over_time.rotations import Orbit
from forestcoll.forest_over_time.slot_program import (
    ColumnSearch,
    SlotProgram,
    SlottedTree,
)

__all__ = ["CommonProgram"]

_STARTS = 10  # trees of an orbit to improve in a round, over all first slots


class CommonProgram(SlotProgram):
    """The programs of a network, for all K and g.

    Parameters
    ----------
    network : HopNetwork
        Of which every link has a reverse of its capacity and latency.
    orbits : sequence of Orbit
        Of all roots that may sum up.
    limits : Limits
        Of which the weights do not count.
    """

    rounds, patience = 40, 8  # a round takes longer: it tries several first slots

    def __init__(self, network: HopNetwork, orbits: Sequence[Orbit], limits: Limits) -> None:
        super().__init__(network, orbits, limits)
        ends = list(zip(network.links.tail, network.links.head, strict=True))
        place = {one: i for i, one in enumerate(ends)}
        self.reverse = np.array([place[head, tail] for tail, head in ends])

    def _search(self, slots: int, gap: int) -> ColumnSearch:
        return _CommonSearch(self, slots, gap)

    def both_ways(self, of_links: Floats) -> Floats:
        """Add to each link in each slot what its reverse has, backwards in time."""
        return of_links + of_links[::-1, self.reverse]


class _CommonSearch(ColumnSearch):
    """Columns and prices of one K and g; a column is a tree and its reduction."""

    def __init__(self, program: CommonProgram, slots: int, gap: int) -> None:
        super().__init__(program, slots, gap)
        self._both_ways = program.both_ways
        self._sizes = np.array([len(orbit.roots) for orbit in program.orbits])
        # Later moments state the same of the trees that are left.
        self._moments = range((slots + gap) // 2)
        self._data = np.inf  # the price of all data
        self._waits = np.zeros((len(program.orbits), len(self._moments)))

    def covers_all(self) -> bool:
        """Whether there is a tree: a root that has none sums up nothing."""
        return bool(self._columns)

    def loads(self, one: SlottedTree) -> Floats:
        """Return what a tree and its reduction put on each link in each slot."""
        return self._both_ways(super().loads(one))

    def of_links(self, prices: Floats) -> Floats:
        """Return what a hop and its reverse pay for each link in each slot."""
        return self._both_ways(prices)

    def brings(self, one: SlottedTree) -> float:
        """Return the price above which a tree is of no use."""
        return float(self._data * self._sizes[one.orbit]) - self._wait(one.orbit, one.first_slot)

    def deliveries(self, columns: Sequence[SlottedTree]) -> tuple[Floats, Floats, Floats]:
        """Return that all roots deliver the value together, and send no sum before they have it."""
        orbit = np.array([one.orbit for one in columns], dtype=np.int64)
        first = np.array([one.first_slot for one in columns], dtype=np.int64)
        waits = np.zeros((*self._waits.shape, len(columns) + 1))
        for place, moment in enumerate(self._moments):
            waits[orbit, place, range(len(columns))] = self._wait_of(first, moment)
        rows = np.vstack([np.append(self._sizes[orbit], -1.0), waits.reshape(-1, len(columns) + 1)])
        least, largest = np.full(len(rows), -np.inf), np.zeros(len(rows))
        least[0], largest[0] = 0, np.inf
        return rows, least, largest

    def read(self, duals: Floats) -> None:
        """Keep the prices of the data, and of sums that are sent early."""
        self._data = max(-float(duals[0]), 0.0)
        self._waits = np.maximum(duals[1:], 0).reshape(self._waits.shape)

    def improved(
        self, place: int, prices: Floats, parents: Sequence[Ints]
    ) -> Iterator[tuple[float, Ints, Ints]]:
        """Yield trees that begin in or after each slot from which on sums have another price."""
        slots, distinct = self._slots, list({tuple(one.tolist()): one for one in parents}.values())
        begins = {0, (slots + self._gap) // 2}
        for moment, price in zip(self._moments, self._waits[place], strict=True):
            if price > 0:
                begins |= {moment + 1, slots - 1 + self._gap - moment}
        begins &= set(range(slots))
        few = distinct[: max(1, _STARTS // len(begins))]
        for begin in sorted(begins):
            for price, parent, slot in super().improved(place, prices[begin:], few):
                at = np.where(slot < 0, slot, slot + begin)
                wait = self._wait(place, int(at[at >= 0].min()))
                yield price * float(self._sizes[place]) + wait, parent, at

    def _wait(self, orbit: int, first: int) -> float:
        """Return the price of a first slot: more for early sums, less for early reductions."""
        return float(
            sum(
                price * self._wait_of(np.array(first), moment)
                for moment, price in zip(self._moments, self._waits[orbit], strict=True)
            )
        )

    def _wait_of(self, first: Ints, moment: int) -> Ints:
        """Return 1 for sums sent by a moment, -1 for what is reduced in time for them."""
        early, reduced = first <= moment, first >= self._slots - 1 + self._gap - moment
        return early.astype(np.int64) - reduced.astype(np.int64)
