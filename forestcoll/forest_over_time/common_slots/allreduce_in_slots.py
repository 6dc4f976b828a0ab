"""Allreduces for a size whose phases share time slots.

Problem: a reduction and then a gathering take the latency of two trees and wait for each other.
         Together in K slots, with the data divided among the roots as is best, they take less.
Input:   the forests of the gathering; then sizes, and a time that is already known.
Output:  an allreduce with a plan in common slots.
Cost:    that of a slot search (:mod:`forestcoll.forest_over_time.slot_search`).
Source:  ours; docs/mathematics/forests-over-time.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from forestcoll.forest_over_time.common_slots.common_program import CommonProgram
from forestcoll.forest_over_time.common_slots.common_times import CommonTimes
from forestcoll.forest_over_time.common_slots.paired_trees import TreePair, paired
from forestcoll.forest_over_time.one_phase import LONG, SLACKS, ForestsOfPhase
from forestcoll.forest_over_time.priced_hops import Ints
from forestcoll.forest_over_time.slot_program import SlotPlan, SlottedTree
from forestcoll.forest_over_time.slot_search import SlotSearch
from forestcoll.forest_over_time.time_minimum import Report
from forestcoll.forest_over_time.whole_shares import rounded_down
from forestcoll.forest_over_time.written_forest import written_forest
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import PARTS, Slots, TimePlan
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.model import Topology

__all__ = ["AllreducesInSlots"]

_GAPS = (1, 2)  # finer slots take much longer to search, and bring little


class AllreducesInSlots:
    """Allreduces of one network for many sizes.

    Parameters
    ----------
    topology : Topology
        Equal to its reverse.
    gathering : ForestsOfPhase
        Of an allgather with equal weights.
    alpha_us : Fraction
    """

    def __init__(self, topology: Topology, gathering: ForestsOfPhase, alpha_us: Fraction) -> None:
        self._topology, self._gathering, self._alpha_us = topology, gathering, alpha_us
        program = CommonProgram(gathering.hops, gathering.orbits, gathering.limits)
        self._search = SlotSearch(program, gathering.slowest_hop, _GAPS)

    def at(
        self, size_bytes: int, known_us: Fraction, good_us: Fraction, report: Report | None = None
    ) -> Allreduce[Forest] | None:
        """Return an allreduce of less time than is known; None if none was found.

        Parameters
        ----------
        good_us : Fraction
            No better time is searched for.
        report : callable, optional
            Called with (done, total) now and then; may raise to stop.
        """
        links = self._gathering.links
        best, good = (float(time * links.ticks_per_us) for time in (known_us, good_us))
        if best <= good or best >= 2 * LONG * self._gathering.slowest_hop:
            return None
        amount = float(links.amount(Fraction(size_bytes)))
        trees = self._gathering.trees_at_rates(size_bytes)
        found: Allreduce[Forest] | None = None
        for plan in self._search.plans(amount, best, good, trees, report):
            made = self._of_plan(plan, size_bytes)
            if made is not None and _time_us(made) < known_us:
                found, known_us = made, _time_us(made)
        return found

    def _of_plan(self, plan: SlotPlan, size_bytes: int) -> Allreduce[Forest] | None:
        """Return an allreduce that sends in the slots of a plan; None if whole trees do not fit."""
        pairs = paired(plan)
        many = [len(self._gathering.orbits[pair.gathering.orbit].roots) for pair in pairs]
        data = sum(count * pair.amount for count, pair in zip(many, pairs, strict=True))
        parts = [Fraction(pair.amount / data) for pair in pairs]
        # Slots are as wide as a hop takes: in it, more data than there are may pass.
        amount = float(self._gathering.links.amount(Fraction(size_bytes)))
        needed = amount * plan.gap / self._gathering.slowest_hop / data
        for slack, most in SLACKS:
            least = Fraction(min(1.0, needed)) * Fraction(1000, 1000 + slack)
            counts = rounded_down(parts, many, least, most)
            if counts is not None:
                return self._written(pairs, counts, plan.slots, size_bytes)
        return None

    def _written(
        self, pairs: Sequence[TreePair], counts: Sequence[int], slots: int, size_bytes: int
    ) -> Allreduce[Forest] | None:
        images = [
            (root, pair, count, nodes)
            for pair, count in zip(pairs, counts, strict=True)
            if count
            for orbit in [self._gathering.orbits[pair.gathering.orbit]]
            for root, nodes in zip(orbit.roots, orbit.nodes, strict=True)
        ]
        images.sort(key=lambda one: one[0])  # trees are in the order of their roots
        gathering, at = self._phase(
            [(pair.gathering, count, nodes) for _, pair, count, nodes in images]
        )
        backwards, before = self._phase(
            [(pair.reduction, count, nodes) for _, pair, count, nodes in images]
        )
        reduction = transposed(backwards, self._topology)
        until = np.where(before < 0, -1, slots - 1 - before)
        return _planned(Allreduce(reduction, gathering), (until, at), size_bytes, self._alpha_us)

    def _phase(self, trees: Sequence[tuple[SlottedTree, int, Ints]]) -> tuple[Forest, Ints]:
        """Return trees with multiplicities, written out after a move, and the slot of each rank."""
        ranks = self._gathering.rank_of
        moved = [(one.tree.moved(nodes, ranks), count) for one, count, nodes in trees]
        weights = [0] * self._topology.num_compute
        for tree, count in moved:
            weights[tree.root] += count
        k = math.gcd(*weights)
        weights = [weight // k for weight in weights]
        slots = [self._gathering.slots_at(one, nodes) for one, _, nodes in trees]
        return written_forest(self._gathering.planes, weights, k, moved), np.array(slots)


def _planned(
    schedule: Allreduce[Forest], slot: tuple[Ints, Ints], size_bytes: int, alpha_us: Fraction
) -> Allreduce[Forest] | None:
    """Return an allreduce with its slots and times; None if the slots do not fit together."""
    batches = schedule.gather.num_batches
    of_both = tuple(
        Slots(
            width_us=Fraction(0),
            tree=np.arange(batches, dtype=np.int32),
            parts=np.full(batches, PARTS, dtype=np.int64),
            slot=at.astype(np.int32),
            common=True,
        )
        for at in slot
    )
    times = CommonTimes(schedule, (of_both[0], of_both[1]))
    found = times.at(size_bytes, alpha_us)
    if found is None:
        return None
    phases = [
        replace(
            phase,
            plan=TimePlan(size_bytes, alpha_us, end, replace(slots, width_us=found.width_us)),
        )
        for phase, slots, end in zip(schedule.phases, of_both, found.ends_us, strict=True)
    ]
    return replace(schedule, reduce=phases[0], gather=phases[1])


def _time_us(schedule: Allreduce[Forest]) -> Fraction:
    assert schedule.gather.plan is not None
    return schedule.gather.plan.time_us
