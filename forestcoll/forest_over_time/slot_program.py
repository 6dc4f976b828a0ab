"""Program for trees whose hops wait: each depth of a tree sends in a time slot of its own.

Problem: trees that send at one rate from the start to the end leave links idle, at first those far
         from the root, at last those near it. In K slots of equal width, a tree uses the links of
         its d-th hops in slot s_d, with s_(d+1) >= s_d + g: what has arrived waits at the GPUs.
         Maximise what the roots deliver per width of a slot.
Input:   columns; K; g, the slots that a hop takes.
Output:  amounts by tree and slots. They end by T = latency + K width if width g >= latency.
Cost:    some linear programs of K rows for each link class; the slots of a tree are priced exactly,
         by shortest paths through its depths and the slots.
Source:  ours; docs/mathematics/forests-over-time.md. The value depends on K and g only, so one
         program serves all sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from forestcoll.forest_over_time.priced_hops import Floats, Ints
from forestcoll.forest_over_time.rate_program import Limits, distinct_rows
from forestcoll.forest_over_time.timed_trees import Column
from forestcoll.solver.linear_program import Program, Settings
from forestcoll.solver.solve import solve

__all__ = ["SlotPlan", "SlotProgram", "Slots"]

Slots = tuple[int, ...]
"""The slot of each depth of a tree."""

_ROUNDS = 40
_SECONDS = 600.0
# When the search stops; the plan that it leaves is checked in fractions (``exact_plan``).
_WORTH = 1e-6  # by which slots must be cheaper than what they bring, as a share
_PROGRESS = 1e-3  # a round that adds less, as a share, is the last


@dataclass(frozen=True, slots=True, eq=False)
class SlotPlan:
    """Amounts of trees in slots.

    Parameters
    ----------
    slots, gap : int
        K and g.
    value : float
        What each root delivers per unit of its weight, in capacity times widths of a slot.
    moves : tuple of (int, tuple of int, float)
        A column by place, its slots, and how much each root sends over the tree in them.
    """

    slots: int
    gap: int
    value: float
    moves: tuple[tuple[int, Slots, float], ...] = field(repr=False)

    def carried(self, columns: int) -> list[float]:
        """Return how much each root sends over the tree of each column."""
        found = [0.0] * columns
        for place, _, amount in self.moves:
            found[place] += amount
        return found


class SlotProgram:
    """The programs of some trees, for all K and g.

    Parameters
    ----------
    columns : sequence of Column
    limits : Limits
    """

    def __init__(self, columns: Sequence[Column], limits: Limits) -> None:
        self.columns = tuple(columns)
        self._orbit = [one.orbit for one in columns]
        self._weights = limits.weights
        rows = [limits.rows(one.of_depths.T).T for one in columns]
        kept, first, _ = distinct_rows(np.vstack(rows).T, limits.upper)
        ends = np.cumsum([len(one) for one in rows])[:-1]
        self._loads = np.split(kept.T, ends)
        self._scale = float(limits.upper[: limits.links].max())
        self._upper = limits.upper[first] / self._scale

    @property
    def link_classes(self) -> int:
        """Number of rows for each slot."""
        return len(self._upper)

    def solved(self, slots: int, gap: int) -> SlotPlan | None:
        """Return a plan of high value; None if some root has no tree of so few slots."""
        tried = [
            (place, tuple(range(start, start + gap * len(loads), gap)))
            for place, loads in enumerate(self._loads)
            for start in range(slots - gap * (len(loads) - 1))
        ]
        if {self._orbit[place] for place, _ in tried} != set(range(len(self._weights))):
            return None
        known, value = set(tried), 0.0
        amounts, prices = self._amounts(tried, slots)
        for _ in range(_ROUNDS):
            before, value = value, float(amounts[-1])
            more = [one for one in self._priced(prices, gap) if one not in known]
            if not more or value < before * (1 + _PROGRESS):
                break
            tried += more
            known.update(more)
            amounts, prices = self._amounts(tried, slots)
        moves = tuple(
            (place, at, float(amount) * self._scale)
            for (place, at), amount in zip(tried, amounts[:-1], strict=True)
            if amount > 0
        )
        return SlotPlan(slots, gap, float(amounts[-1]) * self._scale, moves)

    def _amounts(
        self, tried: Sequence[tuple[int, Slots]], slots: int
    ) -> tuple[Floats, tuple[Floats, Floats]]:
        """Solve the restricted program; return the amounts, and prices of links and roots."""
        classes, orbits = self.link_classes, len(self._weights)
        blocks = []
        for place, at in tried:
            loads = sp.coo_array(self._loads[place])
            row = np.array(at)[loads.row] * classes + loads.col
            blocks.append((row, loads.data))
        rows = np.concatenate([row for row, _ in blocks])
        which = np.repeat(np.arange(len(blocks)), [len(row) for row, _ in blocks])
        ends = slots * classes + np.array([self._orbit[place] for place, _ in tried])
        of_roots = slots * classes + np.arange(orbits)
        last = len(tried)
        matrix = sp.coo_array(
            (
                np.concatenate(
                    [*(data for _, data in blocks), np.ones(last), -np.array(self._weights)]
                ).astype(np.float64),
                (
                    np.concatenate([rows, ends, of_roots]),
                    np.concatenate([which, np.arange(last), np.full(orbits, last)]),
                ),
            ),
            shape=(slots * classes + orbits, last + 1),
        )
        cost = np.zeros(last + 1)
        cost[-1] = 1
        program = Program(
            cost,
            matrix,
            np.concatenate([np.full(slots * classes, -np.inf), np.zeros(orbits)]),
            np.concatenate([np.tile(self._upper, slots), np.full(orbits, np.inf)]),
            np.zeros(last + 1),
            np.full(last + 1, np.inf),
            maximise=True,
        )
        found = solve(program, Settings(seconds=_SECONDS))
        duals = found.row_duals
        assert duals is not None  # of a linear program that was solved
        links = np.maximum(duals[: slots * classes], 0).reshape(slots, classes)
        roots = np.maximum(-duals[slots * classes :], 0)
        return np.maximum(found.x, 0), (links, roots)

    def _priced(self, prices: tuple[Floats, Floats], gap: int) -> list[tuple[int, Slots]]:
        """Return for each tree its cheapest slots, if they would increase the value."""
        link_prices, root_prices = prices
        found = []
        for place, loads in enumerate(self._loads):
            cost, at = _cheapest(loads @ link_prices.T, gap)
            if cost < root_prices[self._orbit[place]] * (1 - _WORTH):
                found.append((place, at))
        return found


def _cheapest(cost: Floats, gap: int) -> tuple[float, Slots]:
    """Return the cheapest slots of a tree, given the cost of each depth in each slot."""
    slots = cost.shape[1]
    total, before = cost[0], []
    for of_depth in cost[1:]:
        best: Ints = np.zeros(slots, dtype=np.int64)
        for slot in range(1, slots):
            best[slot] = slot if total[slot] < total[best[slot - 1]] else best[slot - 1]
        earlier = np.full(slots, np.inf)
        earlier[gap:] = total[best[: slots - gap]]
        total = earlier + of_depth
        before.append(np.concatenate([np.zeros(gap, dtype=np.int64), best])[:slots])
    last = int(np.argmin(total))
    at = [last]
    for step in before[::-1]:
        at.append(int(step[at[-1]]))
    return float(total[last]), tuple(at[::-1])
