"""Forests over time of one phase: trees of unlike depths with unequal shares, for a size.

Problem: a forest of little time at a size: shallow trees for few bytes, the optimal forest for
         many, mixtures between them.
Input:   a collective of one phase, alpha; then sizes.
Output:  a forest, and a time in which a plan of its rates brings all data: an upper bound.
Cost:    linear programs and tree searches, which sizes share
         (:mod:`forestcoll.forest_over_time.time_minimum`); the core's forest.
Source:  ours; docs/mathematics/forests-over-time.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.core.pipeline import EXPLICIT, forest_of
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.errors import UnsupportedError
from forestcoll.forest_over_time.exact_plan import exact_width
from forestcoll.forest_over_time.priced_hops import HopNetwork
from forestcoll.forest_over_time.rate_program import Limits
from forestcoll.forest_over_time.repeated_time import repeated_time_us
from forestcoll.forest_over_time.rotations import Orbit, root_orbits
from forestcoll.forest_over_time.slot_program import SlotPlan, SlotProgram
from forestcoll.forest_over_time.time_minimum import Pool, Report, TimedRates
from forestcoll.forest_over_time.timed_trees import Column, TimedTree, trees_of
from forestcoll.forest_over_time.whole_shares import whole_shares
from forestcoll.forest_over_time.written_forest import written_forest
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.problem.request import Request
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.symmetry.parallel_planes import merged_planes

__all__ = ["MOST_GPUS", "STAGE", "ForestsOfPhase", "TimedForest"]

STAGE = "forest over time"
"""The stage of the search in reported times."""

MOST_GPUS = 512
"""Most GPUs of a network: all trees are written out and searched in Python."""

_SLACKS = ((2e-3, 128), (5e-3, 512), (2e-2, 100_000))
"""Shares of the time that may be given away for whole numbers of trees, and the largest k."""

_MOST_TREES = 512  # of the core's forest, to begin with
_MOST_COLUMNS = 24  # of a slot program; of more, only those in use
_MOST_SLOTS, _MORE_SLOTS, _FEW_CLASSES = 16, 24, 4  # more of them for few link classes
_MOST_ROWS = 512
_LONG = 32  # hops: in a longer time so few slots are too wide to be of use


@dataclass(frozen=True, slots=True)
class TimedForest:
    """A forest with an upper bound on its time at a size.

    Parameters
    ----------
    time_us : Fraction
    plan : str
        The plan that takes this long: "constant rates" or "slots".
    """

    forest: Forest
    time_us: Fraction
    plan: str


class ForestsOfPhase:
    """Forests of one collective for many sizes.

    Parameters
    ----------
    request : Request
        Of any collective but an allreduce.
    alpha_us : Fraction

    Raises
    ------
    UnsupportedError
        If the network has more than :data:`MOST_GPUS` GPUs.
    ForestCollError
        As :func:`forestcoll.core.pipeline.forest_of`.
    """

    def __init__(self, request: Request, alpha_us: Fraction, clock: Stopwatch) -> None:
        gpus = request.topology.num_compute
        if gpus > MOST_GPUS:
            raise UnsupportedError(
                f"unsupported: {request.topology.name} has {gpus} GPUs; forests for a size are "
                f"made for up to {MOST_GPUS}"
            )
        (self._reduction,) = request.reductions
        self._request, self._alpha_us = request, alpha_us
        self._network = request.topology.reversed() if self._reduction else request.topology
        self._planes = merged_planes(self._network)
        merged = self._planes.merged
        # Links keep the latencies that they have in the direction of the data.
        original = merged.reversed() if self._reduction else merged
        self._links = TimedLinks.of(original, alpha_us, reduction=self._reduction)
        self._hops = HopNetwork(self._links, merged.compute)
        self._orbits = root_orbits(original, self._links, request.weights)
        self._limits = Limits(
            links=len(self._links.capacity),
            groups=tuple(places for places, _ in original.shared_places),
            exact=(
                *map(Fraction, self._links.capacity),
                *(limit * self._links.denominator for _, limit in original.shared_places),
            ),
            weights=tuple(request.weights[orbit.roots[0]] for orbit in self._orbits),
        )
        self._core = forest_of(request, EXPLICIT, clock)
        self._pool = clock.run(
            STAGE,
            lambda _: Pool(self._hops, self._orbits, self._limits, self._first_trees()),
        )
        self._slots: tuple[int, SlotProgram] | None = None

    def at(
        self, size_bytes: int, good_us: Fraction = Fraction(0), report: Report | None = None
    ) -> TimedForest:
        """Return the forest of least time found for a size.

        Parameters
        ----------
        good_us : Fraction
            No better time is searched for with slots if constant rates take no longer.
        report : callable, optional
            Called with (done, total) now and then; may raise to stop.
        """
        amount = self._links.amount(Fraction(size_bytes, sum(self._request.weights)))
        rates = self._pool.least_time(float(amount), report)
        found = [self._whole(self._core, size_bytes)]
        made = self._at_rates(rates, amount)
        if made is not None:
            found.append(self._whole(made, size_bytes))
        least_us = min(one.time_us for one in found)
        if least_us > good_us and rates.time < _LONG * self._pool.slowest_hop:
            found.extend(self._in_slots(rates, amount, report))
        return min(found, key=lambda one: one.time_us)

    def _whole(self, forest: Forest, size_bytes: int) -> TimedForest:
        time = repeated_time_us(forest, size_bytes, self._alpha_us)
        return TimedForest(forest, time, "constant rates")

    def _first_trees(self) -> Iterator[tuple[int, TimedTree]]:
        """Yield trees of the core's forest, carried to the first roots of their orbits."""
        forest = self._core
        if self._reduction:
            forest = transposed(forest, self._network)
        back = {
            root: (place, np.argsort(nodes))
            for place, orbit in enumerate(self._orbits)
            for root, nodes in zip(orbit.roots, orbit.nodes, strict=True)
        }
        known: dict[tuple[int, TimedTree], None] = {}
        for tree in trees_of(forest, self._planes.node):
            place, nodes = back[tree.root]
            known[place, tree.moved(nodes, self._rank_of)] = None
            if len(known) == _MOST_TREES:
                break
        yield from known

    @property
    def _whole_planes(self) -> int:
        """By which written forests multiply k, so that planes carry whole trees."""
        return math.lcm(*(share.denominator for share in self._planes.share))

    @property
    def _rank_of(self) -> list[int]:
        ranks = [-1] * self._links.nodes
        for rank, node in enumerate(self._planes.merged.compute):
            ranks[node] = rank
        return ranks

    # --- from rates or slots to a forest ----------------------------------------------------

    def _at_rates(self, rates: TimedRates, amount: Fraction) -> Forest | None:
        for slack, most in _SLACKS:
            time = rates.time * (1 + slack)
            found = self._pool.rates_for(time)
            carried = [
                Fraction(float(rate) * (time - column.latency)) / amount
                for column, rate in zip(found.columns, found.rates, strict=True)
            ]
            forest, _ = self._written(found.columns, carried, most)
            if forest is not None:
                return forest
        return None

    def _in_slots(
        self, rates: TimedRates, amount: Fraction, report: Report | None
    ) -> Iterator[TimedForest]:
        program = self._slot_program(rates)
        if program is None:
            return
        late = self._pool.slowest_hop
        columns = program.columns
        for plan in _finest(program, late, float(amount), report):
            made, counts = self._of_plan(plan, columns, amount)
            if made is None:
                continue
            due = [Fraction(count, made.k // self._whole_planes) * amount for count in counts]
            width = exact_width(plan, columns, self._limits, due)
            if width is not None:
                ticks = late + plan.slots * max(width, Fraction(late, plan.gap))
                yield TimedForest(made, ticks / self._links.ticks_per_us, "slots")

    def _of_plan(
        self, plan: SlotPlan, columns: Sequence[Column], amount: Fraction
    ) -> tuple[Forest | None, list[int]]:
        of_columns = plan.carried(len(columns))
        for slack, most in _SLACKS:
            width = float(amount) / plan.value * (1 + slack)
            width = max(width, self._pool.slowest_hop / plan.gap)
            carried = [Fraction(one * width) / amount for one in of_columns]
            made, counts = self._written(columns, carried, most)
            if made is not None:
                return made, counts
        return None, []

    def _slot_program(self, rates: TimedRates) -> SlotProgram | None:
        """Return a program of all columns if they are few, else of those in use."""
        columns = self._pool.columns
        if len(columns) > _MOST_COLUMNS:
            columns = rates.columns
        elif self._slots is not None and self._slots[0] == len(columns):
            return self._slots[1]
        if not self._hops.has_one_offset(path for one in columns for path in one.tree.paths):
            return None
        program = SlotProgram(columns, self._limits)
        if program.link_classes * _MOST_SLOTS > _MOST_ROWS:
            return None
        if columns is self._pool.columns:
            self._slots = len(columns), program
        return program

    def _written(
        self, columns: Sequence[Column], carried: Sequence[Fraction], most: int
    ) -> tuple[Forest | None, list[int]]:
        """Write whole numbers of trees out; return the multiplicity of each column, too."""
        of_orbit = [
            [i for i, column in enumerate(columns) if column.orbit == place]
            for place in range(len(self._orbits))
        ]
        found = whole_shares(
            self._limits.weights, [[carried[i] for i in these] for these in of_orbit], most
        )
        counts = [0] * len(columns)
        if found is None:
            return None, counts
        k, whole = found
        for these, of_these in zip(of_orbit, whole, strict=True):
            for i, count in zip(these, of_these, strict=True):
                counts[i] = count
        trees = [
            (tree, count)
            for column, count in zip(columns, counts, strict=True)
            if count
            for tree in self._carried_round(column)
        ]
        forest = written_forest(self._planes, self._request.weights, k, trees)
        if self._reduction:
            forest = transposed(forest, self._request.topology)
        return forest, counts

    def _carried_round(self, column: Column) -> Iterator[TimedTree]:
        orbit: Orbit = self._orbits[column.orbit]
        for nodes in orbit.nodes:
            yield column.tree.moved(nodes, self._rank_of)


def _finest(
    program: SlotProgram, late: int, amount: float, report: Report | None
) -> Iterator[SlotPlan]:
    """Yield the plans of the best numbers of slots, for hops of one slot and of two.

    Many slots waste less time at the ends. But a slot, or two, must be as wide as a hop is late.
    """
    most = _MORE_SLOTS if program.link_classes <= _FEW_CLASSES else _MOST_SLOTS
    for gap in (1, 2):
        found: dict[int, SlotPlan | None] = {}

        def width(slots: int, gap: int = gap, found: dict[int, SlotPlan | None] = found) -> float:
            if slots not in found:
                if report is not None:
                    report(len(found), most)
                found[slots] = program.solved(slots, gap)
            plan = found[slots]
            return math.inf if plan is None else max(amount / plan.value, late / gap)

        few, many = 1, most
        while few < many:
            middle = (few + many + 1) // 2
            few, many = (middle, many) if width(middle) > late / gap else (few, middle - 1)
        best = min((few, min(few + 1, most)), key=lambda slots: slots * width(slots))
        plan = found[best]
        if plan is not None:
            yield plan
