"""Least time of a broadcast, by what enters sets of GPUs and what leaves that of the root.

Problem: each piece of the data enters every set but the root's, by a transfer after which it stays
         inside until a GPU of the set, chosen at random, has it. Late transfers reach few GPUs. The
         first of those between other sets are few, since what they carry left the root's set
         before. So up to some moment transfers from there alone count, for all GPUs that they may
         reach. How long does an amount take? A reduce is a broadcast on the reversed network.
Input:   a network with latencies, sets of nodes that hold all GPUs, a root; then moments, shared
         capacities that count, amounts.
Output:  T, exactly: by then the links carry no more than they must.
Cost:    for each choice of sets a pass over pairs of GPUs and over the links; moments, shared
         capacities and sizes share it.
Source:  ours; docs/mathematics/time-bound.md, "From a root".
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from forestcoll.cut_over_time.gossip_over_time import (
    GpuDistances,
    Nodes,
    Shares,
    first_time,
    rising,
    steps_of,
    within,
)
from forestcoll.problem.over_time.time_bound import GossipOverTime
from forestcoll.topology.shared_capacity import SharedCapacity

__all__ = ["RootedSets", "RootedTimes"]

_HOPS = 3  # between sets, after which the latest moment that is tried comes


class _Use(NamedTuple):
    """A link that counts: data are on it from ``begin`` on, and ``late`` at the nearest receiver.

    From there they reach shares of GPUs in time: of its own set, or of all sets.
    """

    ends: tuple[int, int]
    capacity: int
    begin: int
    late: int
    own: Shares
    all: Shares


class _Spell(NamedTuple):
    """From when to when a link counts, and for which shares."""

    begin: int
    end: int | None
    late: int
    shares: Shares


class RootedSets:
    """A choice of sets for a broadcast.

    Parameters
    ----------
    distances : GpuDistances
    sets : tuple of tuples of int
        Disjoint, each with a GPU; other nodes are switches that only forward.
    root : int
        The GPU that all data come from.
    """

    def __init__(self, distances: GpuDistances, sets: tuple[Nodes, ...], root: int) -> None:
        self.sets, self.distances = sets, distances
        self._root = root
        self._from_root = distances.between[root]
        (self._home,) = [one for one in sets if root in one]
        self._needy = [one for one in sets if root not in one]
        gpus = frozenset(distances.topology.compute)
        counts = {one: len(gpus.intersection(one)) for one in self._needy}
        self.whole = math.lcm(*counts.values())
        part = {v: self.whole // counts[one] for one in self._needy for v in one if v in gpus}
        self._gpus, self._part = np.array(list(part)), np.array(list(part.values()), np.int64)

    def times(self) -> Iterator[RootedTimes]:
        """Yield least times for moments at once and after some hops, and with shared capacities."""
        away = [int(one) for one in self._from_root[self._gpus]]
        hop = self.hop or max(away)
        hops = range(_HOPS + 1)
        for since in sorted({0, *(one + n * hop for one in (min(away), max(away)) for n in hops)}):
            alone = RootedTimes(self, since)
            yield alone
            if binding := alone.binding():
                yield RootedTimes(self, since, binding)

    @cached_property
    def entering(self) -> list[_Use]:
        """Links into sets without the root."""
        found = []
        for one in self._needy:
            inside, outside = frozenset(one), self._acting_outside(one)
            before = self.distances.over_switches(outside, ahead=True)
            after = self.distances.over_switches(self.distances.acting(one), ahead=False)
            own = self._reached(self.distances.ends(one, before, ahead=False), inside)
            found += [
                _Use(ends, capacity, int(self._from_root[ends[0]]), late, own, own)
                for ends, capacity, late in self._crossing(before, after)
                if ends[1] in inside and ends[0] not in inside
            ]
        return found

    @cached_property
    def leaving(self) -> list[_Use]:
        """Links out of the root's set."""
        home, needy = frozenset(self._home), [v for one in self._needy for v in one]
        before = self.distances.over_switches(self.distances.acting(self._home), ahead=True)
        after = self.distances.over_switches(self.distances.acting(needy), ahead=False)
        ends = self.distances.ends(needy, before, ahead=False)
        own = rising(
            step
            for one in self._needy
            for step in self._reached({*ends}.intersection(one), frozenset(one)).items()
        )
        everywhere = self._reached(ends, frozenset(needy))
        return [
            _Use(ends, capacity, int(self._from_root[ends[0]]), late, own, everywhere)
            for ends, capacity, late in self._crossing(before, after)
            if ends[0] in home and ends[1] not in home
        ]

    @cached_property
    def hop(self) -> int | None:
        """The least latency of a transfer between sets without the root; None if there is none."""
        least = []
        for one in self._needy:
            others = [v for other in self._needy if other is not one for v in other]
            away = self.distances.over_switches(self.distances.acting(others), ahead=True)
            for v in self.distances.acting(one):
                into = self.distances.beside[0][v]
                least += [away[beside] + latency for latency, beside in into if beside in away]
        return min(least, default=None)

    def _acting_outside(self, one: Nodes) -> list[int]:
        return self.distances.acting(v for other in self.sets if other is not one for v in other)

    def _crossing(
        self, before: Collection[int], after: dict[int, int]
    ) -> Iterator[tuple[tuple[int, int], int, int]]:
        """Yield links that transfers take, with capacities and least latencies to a receiver."""
        links = self.distances.links
        for tail, head, capacity, latency in zip(
            links.tail, links.head, links.capacity, links.latency, strict=True
        ):
            if tail in before and head in after and np.isfinite(self._from_root[tail]):
                yield (tail, head), capacity, latency + after[head]

    def _reached(self, nodes: Iterable[int], inside: frozenset[int]) -> Shares:
        """Return the largest shares of GPUs of some sets that any node reaches, by distance."""
        part = self._part * np.array([int(gpu) in inside for gpu in self._gpus])
        between = self.distances.between
        return rising(step for v in nodes for step in within(between[v, self._gpus], part))


class RootedTimes:
    """Least times for a choice of sets.

    Parameters
    ----------
    sets : RootedSets
    since : int
        Ticks from which on, at a receiver, transfers into all sets count, for their own set; before
        that those from the root's set count, for all sets.
    shared : tuple of SharedCapacity
        Those that count: their links carry what counts together. A link of several counts for the
        first.
    """

    def __init__(
        self, sets: RootedSets, since: int, shared: tuple[SharedCapacity, ...] = ()
    ) -> None:
        self._sets, self._since, self._shared = sets, since, shared

    def least_time(self, amount: Fraction) -> Fraction:
        """Return the time in ticks before which no broadcast of an amount ends.

        Parameters
        ----------
        amount : Fraction
            Of the data, in units of capacity times ticks.
        """
        due = (len(self._sets.sets) - 1) * amount * self._sets.whole
        return first_time(self._rises, due)

    @property
    def proof(self) -> GossipOverTime:
        """The sets, the moment, and the shared capacities that count."""
        ticks = self._sets.distances.links.ticks_per_us
        names = tuple(group.name for group in self._shared)
        return GossipOverTime(self._sets.sets, names, Fraction(self._since) / ticks)

    def binding(self) -> tuple[SharedCapacity, ...]:
        """Return the shared capacities that are narrower than their links that count."""
        capacity = {one.ends: one.capacity for one in (*self._sets.entering, *self._sets.leaving)}
        return tuple(
            group
            for group in self._sets.distances.topology.shared
            if group.bandwidth_gb_s * self._sets.distances.links.denominator
            < sum(capacity.get(ends, 0) for ends in group.links)
        )

    @cached_property
    def _rises(self) -> list[tuple[int, Fraction]]:
        """By how much the rate at which links carry what counts rises, and when, in order of time.

        A spell of a link with b, up to a moment or to the end, carries b max(0, T - x) for each
        step of its shares, less as much from its end on.
        """
        holder = {ends: group.name for group in reversed(self._shared) for ends in group.links}
        limit = {
            group.name: group.bandwidth_gb_s * self._sets.distances.links.denominator
            for group in self._shared
        }
        rates: dict[int, Fraction] = {}
        for uses, spells in ((self._sets.entering, self._into), (self._sets.leaving, self._out)):
            together: dict[str, list[_Use]] = {name: [] for name in limit}
            for use in uses:
                if use.ends in holder:
                    together[holder[use.ends]].append(use)
                else:
                    _add(rates, spells([use]), use.capacity)
            for name, held in together.items():
                if held:
                    _add(rates, spells(held), limit[name])
        return sorted(rates.items())

    def _into(self, uses: list[_Use]) -> Iterator[_Spell]:
        """Yield when links into sets count, as one with the largest shares of any."""
        begin = min(max(use.begin, self._since - use.late) for use in uses)
        yield _Spell(begin, None, *_largest((use.late, use.own) for use in uses))

    def _out(self, uses: list[_Use]) -> Iterator[_Spell]:
        """Yield when links out of the root's set count: for all sets at first, then for one."""
        begin = min(use.begin for use in uses)
        end = max(self._since - use.late for use in uses)
        passed = begin if self._sets.hop is None else max(begin, end - self._sets.hop)
        if passed > begin:
            yield _Spell(begin, passed, *_largest((use.late, use.all) for use in uses))
        if end > passed:
            yield _Spell(passed, end, *_largest((use.late, use.own) for use in uses))


def _largest(reached: Iterable[tuple[int, Shares]]) -> tuple[int, Shares]:
    """Return the least latency, and the largest shares from there on."""
    listed = list(reached)
    late = min(one for one, _ in listed)
    return late, rising(
        (one - late + ticks, share) for one, shares in listed for ticks, share in shares.items()
    )


def _add(rates: dict[int, Fraction], spells: Iterable[_Spell], capacity: int | Fraction) -> None:
    for spell in spells:
        for reach, more in steps_of(spell.shares):
            for moment, sign in ((spell.begin, 1), (spell.end, -1)):
                if moment is not None:
                    at = moment + spell.late + reach
                    rates[at] = rates.get(at, Fraction(0)) + sign * capacity * more
