"""Search for the number and the width of slots of least time.

Problem: with K slots of width w and hops of g slots, T = latency + K w, where g w >= latency. Many
         slots waste less time at the ends, but must be as wide as a hop is late. Which K and g?
Input:   a slot program, the latency of a hop, an amount, a time that is already known.
Output:  plans, the one of least time last.
Cost:    a bisection over K for each g, within the times that are left.
Source:  ours; docs/mathematics/forests-over-time.md. Slots of width latency / g and g slots a hop
         are also 2 K slots and 2 g, so each g begins between the times that the one before left, at
         the same time in finer slots.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from forestcoll.errors import TimeLimitError
from forestcoll.forest_over_time.slot_program import SlotPlan, SlotProgram, SlottedTree
from forestcoll.forest_over_time.time_minimum import Report
from forestcoll.forest_over_time.timed_trees import TimedTree

__all__ = ["SlotSearch"]

Known = dict[int, dict[SlottedTree, None]]
"""Trees in use so far, by gap."""

_GAPS = (1, 2, 3, 6)
_FAR = 1.1  # of a good time: a search without the trees of other sizes pays
_FINE, _NEAR = 6, 1.03  # so fine slots only where others take longer than so much of a good time
_MOST_SLOTS, _MOST_ROWS = 24, 1500


class SlotSearch:
    """Plans of a network for many amounts.

    Parameters
    ----------
    program : SlotProgram
    late : int
        The latency of a hop, in ticks.
    gaps : sequence of int
        The numbers of slots that a hop takes, ascending.
    """

    def __init__(self, program: SlotProgram, late: int, gaps: Sequence[int] = _GAPS) -> None:
        self._program, self._late, self._gaps = program, late, gaps
        self._most = min(_MOST_SLOTS, _MOST_ROWS // program.link_classes)
        self._trees: Known = {gap: {} for gap in gaps}

    def plans(
        self,
        amount: float,
        best: float,
        good: float,
        trees: Sequence[tuple[int, TimedTree]],
        report: Report | None = None,
    ) -> Iterator[SlotPlan]:
        """Yield plans, each of less time than those before.

        Parameters
        ----------
        amount : float
            What each root sends per unit of its weight, in capacity times ticks.
        best : float
            The time in ticks that plans must be below.
        good : float
            A time that is good enough: the first plan of no more ends the search.
        trees : sequence of (int, TimedTree)
            Trees to begin with, and their orbits.
        report : callable, optional
            Called with (done, total) now and then. If it raises TimeLimitError, no more plans
            follow; any other error stops the search.
        """
        try:
            yield from self._all_plans(amount, best, good, trees, report)
        except TimeLimitError:
            return

    def _all_plans(
        self,
        amount: float,
        best: float,
        good: float,
        trees: Sequence[tuple[int, TimedTree]],
        report: Report | None,
    ) -> Iterator[SlotPlan]:
        anew: list[Known] = [{gap: {} for gap in self._gaps}] if any(self._trees.values()) else []
        for known in (self._trees, *anew):
            # Trees of other sizes may mislead a search; one without them then does better.
            if known is self._trees or best > _FAR * good > 0:
                for plan in self._plans(amount, best, good, (known, trees), report):
                    best = self._late + plan.slots * max(self._late / plan.gap, amount / plan.value)
                    yield plan

    def _plans(
        self,
        amount: float,
        best: float,
        good: float,
        starts: tuple[Known, Sequence[tuple[int, TimedTree]]],
        report: Report | None,
    ) -> Iterator[SlotPlan]:
        """Yield plans of a search that begins with some trees, and keeps those in use there."""
        number = 0

        def tick() -> None:
            if report is not None:
                report(number, len(self._gaps))

        tried = Fraction(0)  # hops that so many slots take, which must be wider than a hop
        for number, gap in enumerate(self._gaps):
            if gap == _FINE and not best > _NEAR * good > 0:
                break
            # The most slots that take less than a good time if they are as wide as a hop takes:
            # they are wider, and may still be best.
            few = max(1, math.floor((good / self._late - 1) * gap), math.ceil(tried * gap))
            many = min(self._most, math.ceil((best / self._late - 1) * gap) - 1)
            if number == 0:
                few = max(1, min(few, many))  # wide slots: as many as the program can have
            while few <= many and best > good:
                middle = (few + many) // 2
                width, plan = self._width(amount, middle, gap, starts, tick)
                narrow = self._late / gap
                time = self._late + middle * max(narrow, width)
                if plan is not None and time < best:
                    best = time
                    yield plan
                if width > narrow:  # slots must be wider than a hop
                    tried = max(tried, Fraction(middle, gap))
                    few = middle + 1
                else:
                    many = middle - 1

    def _width(
        self,
        amount: float,
        slots: int,
        gap: int,
        starts: tuple[Known, Sequence[tuple[int, TimedTree]]],
        report: Callable[[], None],
    ) -> tuple[float, SlotPlan | None]:
        """Return how wide the slots of a plan must be, infinitely so if there is none."""
        known, trees = starts[0][gap], starts[1]
        start = [*known, *(one for tree in trees for one in _in_a_row(*tree, slots, gap))]
        plan = self._program.solved(slots, gap, start, amount * gap / self._late, report)
        if plan is None:
            return math.inf, None
        known.update((one, None) for one, _ in plan.moves)
        return amount / plan.value, plan


def _in_a_row(orbit: int, tree: TimedTree, slots: int, gap: int) -> Iterator[SlottedTree]:
    """Yield a tree with hops of equal depth in one slot and no waiting, from each first slot on."""
    depth = {tree.root: -1}
    for above, rank in tree.edges():
        depth[rank] = depth[above] + 1
    last = max(depth.values()) * gap
    for first in range(slots - last):
        of_rank = (first + depth[rank] * gap for rank in range(len(tree.parent)))
        yield SlottedTree(
            orbit,
            tree,
            tuple(slot if rank != tree.root else -1 for rank, slot in enumerate(of_rank)),
        )
