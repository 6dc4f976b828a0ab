"""Forests over time of one phase: trees of unlike depths with unequal shares, for a size.

Problem: a forest of little time at a size: shallow trees for few bytes, the optimal forest for
         many, mixtures between them.
Input:   a collective of one phase, alpha; then sizes.
Output:  a forest with its time plan, in which all data arrive: an upper bound on the time.
Cost:    linear programs and tree searches, which sizes share
         (:mod:`forestcoll.forest_over_time.time_minimum`); the core's forest.
Source:  ours; docs/mathematics/forests-over-time.md.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from forestcoll.core.pipeline import EXPLICIT, forest_of
from forestcoll.core.stopwatch import Stopwatch
from forestcoll.errors import UnsupportedError
from forestcoll.forest_over_time.planned_forest import (
    at_constant_rates,
    in_slots,
    slots_of_parts,
)
from forestcoll.forest_over_time.priced_hops import HopNetwork, Ints
from forestcoll.forest_over_time.rate_program import Limits
from forestcoll.forest_over_time.rotations import root_orbits
from forestcoll.forest_over_time.slot_program import SlotPlan, SlotProgram, SlottedTree
from forestcoll.forest_over_time.slot_search import SlotSearch
from forestcoll.forest_over_time.time_minimum import Pool, Report, TimedRates
from forestcoll.forest_over_time.timed_trees import TimedTree, trees_of
from forestcoll.forest_over_time.whole_shares import whole_shares
from forestcoll.forest_over_time.written_forest import written_forest
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.problem.request import Request
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import Slots
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.symmetry.parallel_planes import merged_planes

__all__ = ["LONG", "MOST_GPUS", "SLACKS", "STAGE", "ForestsOfPhase"]

STAGE = "forest over time"
"""The stage of the search in reported times."""

MOST_GPUS = 512
"""Most GPUs of a network: all trees are written out and searched in Python."""

SLACKS = ((2, 128), (5, 512), (10, 4096), (20, 100_000))
"""Thousandths of the time that may be given away for whole numbers of trees, and the largest k."""

LONG = 40
"""Hops: in a longer time so few slots are too wide to be of use."""

_MOST_TREES = 512  # of the core's forest, to begin with


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
        self.planes = merged_planes(self._network)
        merged = self.planes.merged
        # Links keep the latencies that they have in the direction of the data.
        original = merged.reversed() if self._reduction else merged
        self.links = TimedLinks.of(original, alpha_us, reduction=self._reduction)
        self.hops = HopNetwork(self.links, merged.compute)
        self.orbits = root_orbits(original, self.links, request.weights)
        self.limits = Limits(
            links=len(self.links.capacity),
            groups=tuple(places for places, _ in original.shared_places),
            exact=(
                *map(Fraction, self.links.capacity),
                *(limit * self.links.denominator for _, limit in original.shared_places),
            ),
            weights=tuple(request.weights[orbit.roots[0]] for orbit in self.orbits),
        )
        self._core = forest_of(request, EXPLICIT, clock)
        self._pool = clock.run(
            STAGE,
            lambda _: Pool(self.hops, self.orbits, self.limits, self._first_trees()),
        )
        program = SlotProgram(self.hops, self.orbits, self.limits)
        self._slots = SlotSearch(program, self._pool.slowest_hop)

    def at(
        self, size_bytes: int, good_us: Fraction = Fraction(0), report: Report | None = None
    ) -> Forest:
        """Return the forest of least time found for a size, with its plan.

        Parameters
        ----------
        good_us : Fraction
            No better time is searched for with slots if constant rates take no longer.
        report : callable, optional
            Called with (done, total) now and then; may raise to stop.
        """
        amount = self._amount(size_bytes)
        rates = self._pool.least_time(float(amount), report)
        made = [self._core, self._at_rates(rates, amount)]
        found = [
            at_constant_rates(one, size_bytes, self._alpha_us) for one in made if one is not None
        ]
        least_us = min(map(_time_us, found))
        if least_us > good_us and rates.time < LONG * self._pool.slowest_hop:
            found.extend(self._in_slots(rates, size_bytes, (least_us, good_us), report))
        return min(found, key=_time_us)

    def _amount(self, size_bytes: int) -> Fraction:
        """Return what each root sends per unit of its weight, in capacity times ticks."""
        return self.links.amount(Fraction(size_bytes, sum(self._request.weights)))

    def trees_at_rates(self, size_bytes: int) -> list[tuple[int, TimedTree]]:
        """Return trees that are best at constant rates for a size, and their orbits."""
        found = self._pool.least_time(float(self._amount(size_bytes)))
        return [(one.orbit, one.tree) for one in found.columns]

    @property
    def slowest_hop(self) -> int:
        """The largest latency of a hop, in ticks."""
        return self._pool.slowest_hop

    def _first_trees(self) -> Iterator[tuple[int, TimedTree]]:
        """Yield trees of the core's forest, carried to the first roots of their orbits."""
        forest = self._core
        if self._reduction:
            forest = transposed(forest, self._network)
        back = {
            root: (place, np.argsort(nodes))
            for place, orbit in enumerate(self.orbits)
            for root, nodes in zip(orbit.roots, orbit.nodes, strict=True)
        }
        known: dict[tuple[int, TimedTree], None] = {}
        for tree in trees_of(forest, self.planes.node):
            place, nodes = back[tree.root]
            known[place, tree.moved(nodes, self.rank_of)] = None
            if len(known) == _MOST_TREES:
                break
        yield from known

    @property
    def _whole_planes(self) -> int:
        """By which written forests multiply k, so that planes carry whole trees."""
        return math.lcm(*(share.denominator for share in self.planes.share))

    @cached_property
    def rank_of(self) -> list[int]:
        """The rank of each node; -1 for a switch."""
        ranks = [-1] * self.links.nodes
        for rank, node in enumerate(self.planes.merged.compute):
            ranks[node] = rank
        return ranks

    # --- from rates or slots to a forest ----------------------------------------------------

    def _at_rates(self, rates: TimedRates, amount: Fraction) -> Forest | None:
        for slack, most in SLACKS:
            time = rates.time * (1 + slack / 1000)
            found = self._pool.rates_for(time)
            carried = [
                Fraction(float(rate) * (time - column.latency)) / amount
                for column, rate in zip(found.columns, found.rates, strict=True)
            ]
            trees = [(one.orbit, one.tree) for one in found.columns]
            forest, _ = self._written(trees, carried, most, in_slots=False)
            if forest is not None:
                return forest
        return None

    def _in_slots(
        self,
        rates: TimedRates,
        size_bytes: int,
        known_us: tuple[Fraction, Fraction],
        report: Report | None,
    ) -> Iterator[Forest]:
        """Yield forests of plans in slots between a good time and one that is known already."""
        trees = [(one.orbit, one.tree) for one in rates.columns]
        best, good = (float(time * self.links.ticks_per_us) for time in known_us)
        amount = float(self._amount(size_bytes))
        for plan in self._slots.plans(amount, best, good, trees, report):
            made = self._of_plan(plan, size_bytes)
            if made is not None:
                yield made

    def _of_plan(self, plan: SlotPlan, size_bytes: int) -> Forest | None:
        """Return a forest that sends in the slots of a plan; None if whole trees do not fit."""
        late = max(self.hops.latency_of(path) for one, _ in plan.moves for path in one.tree.paths)
        amount = self._amount(size_bytes)
        moves: dict[tuple[int, TimedTree], list[tuple[SlottedTree, Fraction]]] = defaultdict(list)
        for one, sent in plan.moves:
            moves[one.orbit, one.tree].append((one, Fraction(sent)))
        carried = [sum((sent for _, sent in those), Fraction(0)) for those in moves.values()]
        for slack, most in SLACKS:
            width = max(float(amount) / plan.value * (1 + slack / 1000), late / plan.gap)
            shares = [sent * Fraction(width) / amount for sent in carried]
            forest, images = self._written(list(moves), shares, most, in_slots=True)
            if forest is not None:
                rows = [
                    (batch, sent / total, self.slots_at(one, nodes))
                    for batch, (place, nodes) in enumerate(images)
                    for those, total in [(list(moves.values())[place], carried[place])]
                    for one, sent in those
                ]
                return self._planned(forest, slots_of_parts(rows), size_bytes)
        return None

    def slots_at(self, one: SlottedTree, nodes: Ints) -> list[int]:
        """Return the slot of each rank after a move of all nodes."""
        ranks = self.rank_of
        found = [-1] * len(one.slots)
        for gpu, slot in zip(nodes[list(self.hops.gpus)].tolist(), one.slots, strict=True):
            found[ranks[gpu]] = slot
        return found

    def _planned(self, forest: Forest, slots: Slots, size_bytes: int) -> Forest | None:
        if self._reduction:
            slot = np.where(slots.slot < 0, -1, slots.slot.max() - slots.slot)
            slots = replace(slots, slot=slot.astype(np.int32))
        return in_slots(forest, slots, size_bytes, self._alpha_us)

    def _written(
        self,
        trees: Sequence[tuple[int, TimedTree]],
        carried: Sequence[Fraction],
        most: int,
        *,
        in_slots: bool,
    ) -> tuple[Forest | None, list[tuple[int, Ints]]]:
        """Write whole numbers of trees out; return the tree of each batch, and where nodes go."""
        of_orbit = [
            [i for i, (orbit, _) in enumerate(trees) if orbit == place]
            for place in range(len(self.orbits))
        ]
        found = whole_shares(
            self.limits.weights, [[carried[i] for i in these] for these in of_orbit], most
        )
        counts = [0] * len(trees)
        if found is None:
            return None, []
        k, whole = found
        k *= self.orbits[0].images  # more than one of a root alone only
        for these, of_these in zip(of_orbit, whole, strict=True):
            for i, count in zip(these, of_these, strict=True):
                counts[i] = count
        written = [
            (tree.moved(nodes, self.rank_of), count, (i, nodes))
            for i, ((orbit, tree), count) in enumerate(zip(trees, counts, strict=True))
            if count
            for nodes in self.orbits[orbit].nodes
        ]
        written.sort(key=lambda one: one[0].root)
        listed = [(tree, count) for tree, count, _ in written]
        if not in_slots:  # images may be equal, above all those of few hops
            k, listed = _merged(k, listed)
        forest = written_forest(self.planes, self._request.weights, k, listed)
        if self._reduction:
            forest = transposed(forest, self._request.topology)
        return forest, [image for _, _, image in written]


def _merged(
    k: int, trees: Sequence[tuple[TimedTree, int]]
) -> tuple[int, list[tuple[TimedTree, int]]]:
    """Return equal trees as one, by the least whole numbers."""
    counts: dict[TimedTree, int] = {}
    for tree, count in trees:
        counts[tree] = counts.get(tree, 0) + count
    common = math.gcd(k, *counts.values())
    return k // common, [(tree, count // common) for tree, count in counts.items()]


def _time_us(forest: Forest) -> Fraction:
    assert forest.plan is not None
    return forest.plan.time_us
