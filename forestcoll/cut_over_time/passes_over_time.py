"""Least time of an allreduce in which no switch reduces and multicasts in one pass.

Problem: a pass leads over switches from GPUs to one GPU, or from one GPU to GPUs. Each set of GPUs
         must send all data to each other set. A pass counts where it leaves the sender's set; but
         one that is multicast too late to be sent on counts where it enters the receivers' sets.
         How long does an amount take?
Input:   a network with latencies, sets of nodes that hold all GPUs; then amounts. Switches outside
         of the sets reduce or multicast.
Output:  T, exactly: by then the links carry no more than they must.
Cost:    two searches for least latencies for each set, a pass over pairs of GPUs and over the
         links; times before the end, and sizes, share it.
Source:  ours; docs/mathematics/time-bound.md, "Passes over time".
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from forestcoll.cut_over_time.gossip_over_time import (
    GpuDistances,
    Nodes,
    Shares,
    first_time,
    forwards,
    rising,
    steps_of,
    within,
)
from forestcoll.problem.over_time.time_bound import PassesOverTime
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology.model import Topology

__all__ = ["PassSets", "PassTimes", "pass_sets"]

Links = Mapping[int, Sequence[tuple[int, int, int, int]]]

_MOST_GPUS = 256
_MOST_REACHES = 6


def pass_sets(topology: Topology) -> Iterator[tuple[Nodes, ...]]:
    """Yield choices of disjoint sets that hold all GPUs but not all switches that act.

    Each GPU by itself, and all boxes. None for large networks, nor where switches store.
    """
    if topology.num_compute > _MOST_GPUS or any(node.stores for node in topology.nodes):
        return
    acting = {v for v in topology.switches if not forwards(topology, v)}
    boxes: dict[int, list[int]] = {}
    for v, node in enumerate(topology.nodes):
        if node.box is not None:
            boxes.setdefault(node.box, []).append(v)
    of_boxes = tuple(tuple(one) for one in boxes.values() if topology.rank_of.keys() & {*one})
    held = {v for one in of_boxes for v in one}
    if acting:
        yield tuple((gpu,) for gpu in topology.compute)
    if acting - held and len(of_boxes) > 1 and topology.rank_of.keys() <= held:
        yield of_boxes


class _Passes(NamedTuple):
    """Links that passes take out of a set, or into it.

    Parameters
    ----------
    capacity : dict of int to int
        In all, by the least latency of a pass over such a link.
    sent, received : dict of int to int
        The largest share of a set that a sender knows, and of all others that a receiver reaches.
    both : bool
        Whether all such passes count twice if they arrive late: out of a set, and into another.
    """

    capacity: Counter[int]
    sent: Shares
    received: Shares
    both: bool


class PassSets:
    """A choice of sets between which passes lead.

    Parameters
    ----------
    topology : Topology
    links : TimedLinks
    sets : tuple of tuples of int
        Disjoint, each with a GPU; all other nodes are switches.
    """

    def __init__(self, topology: Topology, links: TimedLinks, sets: tuple[Nodes, ...]) -> None:
        self.sets, self.links = sets, links
        held = {v for one in sets for v in one}
        self._marked = {v for v, node in enumerate(topology.nodes) if node.multicast} - held
        # A pass leads over switches outside of the sets, whatever they do with it.
        nodes = (
            replace(node, multicast=node.multicast and v in held)
            for v, node in enumerate(topology.nodes)
        )
        self._network = GpuDistances(replace(topology, nodes=tuple(nodes)), links)
        self._multicast = self._network.over_switches(self._marked, ahead=True)
        gpus = [[v for v in one if v in topology.rank_of] for one in sets]
        self.whole = math.lcm(*map(len, gpus))
        part = {v: self.whole // len(one) for one in gpus for v in one}
        self._gpus, self._part = np.array(list(part)), np.array(list(part.values()), np.int64)
        self._reached: dict[int, tuple[tuple[int, int], ...]] = {}

    @property
    def full(self) -> int:
        """All GPUs of all sets but one, as received shares count them."""
        return (len(self.sets) - 1) * self.whole

    @cached_property
    def most_ends(self) -> int:
        """The most GPUs, or switches inside sets that act, that a pass leads from or to."""
        acting = [len(self._network.acting(one)) for one in self.sets]
        return sum(acting) - min(acting)

    def times(self) -> Iterator[PassTimes]:
        """Yield least times; some time before the end, receivers count in place of senders."""
        reaches = {0, *(ticks for one in self.leaving for ticks in one.received)}
        for reach in sorted(reaches)[:_MOST_REACHES]:
            yield PassTimes(self, reach)

    @cached_property
    def leaving(self) -> list[_Passes]:
        """Passes out of each set."""
        found = []
        for one, others in self._directions():
            before, after = self._between(one, others)
            capacity: dict[bool, Counter[int]] = {False: Counter(), True: Counter()}
            for tail, head, bandwidth, latency in self._links(one, ahead=True):
                if head not in one and tail in before and head in after:
                    late = before[tail] + latency + after[head]
                    capacity[head in self._marked][late] += bandwidth
            sent = self._known(self._network.ends(one, after, ahead=True), one)
            received = self._most_reached(self._network.ends(others, before, ahead=False))
            found += [_Passes(some, sent, received, both) for both, some in capacity.items()]
        return found

    @cached_property
    def entering(self) -> list[_Passes]:
        """Passes into each set that a switch between the sets may multicast."""
        sent = rising(step for one in self.leaving for step in one.sent.items())
        found = []
        for one, others in self._directions():
            before, after = self._between(others, one)
            capacity: Counter[int] = Counter()
            for tail, head, bandwidth, latency in self._links(one, ahead=False):
                into = tail not in one and tail in self._multicast
                if into and tail in before and head in after:
                    capacity[before[tail] + latency + after[head]] += bandwidth
            ends = self._network.ends(one, before, ahead=False)
            found.append(_Passes(capacity, sent, self._most_reached(ends), both=True))
        return found

    def _directions(self) -> Iterator[tuple[frozenset[int], list[int]]]:
        """Yield each set, and the nodes of all others."""
        for one in self.sets:
            yield frozenset(one), [v for other in self.sets if other is not one for v in other]

    def _between(
        self, senders: Iterable[int], receivers: Iterable[int]
    ) -> tuple[dict[int, int], dict[int, int]]:
        """Return the least latencies from senders, and to receivers, over what is between."""
        network = self._network
        before = network.over_switches(network.acting(senders), ahead=True)
        return before, network.over_switches(network.acting(receivers), ahead=False)

    def _links(self, nodes: Iterable[int], *, ahead: bool) -> Iterator[tuple[int, int, int, int]]:
        """Yield the links out of some nodes, or into them."""
        return (link for v in nodes for link in self._links_at[ahead][v])

    @cached_property
    def _links_at(self) -> tuple[Links, Links]:
        """Tail, head, capacity and latency of the links into each node, then of those out of it."""
        links, into, out = self.links, defaultdict(list), defaultdict(list)
        for link in zip(links.tail, links.head, links.capacity, links.latency, strict=True):
            out[link[0]].append(link)
            into[link[1]].append(link)
        return into, out

    def _known(self, ends: Iterable[int], inside: frozenset[int]) -> Shares:
        """Return the largest share of a set that is within each distance of any end."""
        mine = np.isin(self._gpus, list(inside))
        between = self._network.between
        away = (between[self._gpus[mine], node] for node in ends)
        return rising(step for one in away for step in within(one, self._part[mine]))

    def _most_reached(self, ends: Iterable[int]) -> Shares:
        """Return the largest share of all GPUs, one set left out, that any end reaches."""
        between = self._network.between
        for end in ends:
            if end not in self._reached:
                steps = within(between[end, self._gpus], self._part)
                self._reached[end] = tuple((t, min(share, self.full)) for t, share in steps)
        alike = {self._reached[end] for end in ends}
        return rising(step for steps in alike for step in steps)


class PassTimes:
    """Least times for a choice of sets.

    Parameters
    ----------
    sets : PassSets
    reach : int
        Ticks before the end. What arrives earlier counts where it leaves the sender's set, in full;
        what arrives later for those that it reaches, and where it enters a set, too.
    """

    def __init__(self, sets: PassSets, reach: int) -> None:
        self._sets, self._reach = sets, reach

    def least_time(self, amount: Fraction) -> Fraction:
        """Return the time in ticks before which no allreduce of an amount ends.

        Parameters
        ----------
        amount : Fraction
            Of the data of one GPU, in units of capacity times ticks.
        """
        sets = self._sets
        due = len(sets.sets) * amount * sets.whole * sets.full * (sets.most_ends + 1)
        return first_time(self._rises, due)

    @property
    def proof(self) -> PassesOverTime:
        """The sets, and how long before the end receivers count."""
        reach_us = Fraction(self._reach, self._sets.links.ticks_per_us)
        return PassesOverTime(self._sets.sets, reach_us)

    @cached_property
    def _rises(self) -> list[tuple[int, Fraction]]:
        """By how much the rate at which links carry what counts rises, and when, in order of time.

        A link with b carries b max(0, T - x) for each pair of a step of one share and a step of the
        other.
        """
        rates: Counter[int] = Counter()
        most = self._sets.most_ends
        in_full = self._sets.full * (most + 1)
        for passes, early in ((self._sets.leaving, in_full), (self._sets.entering, 0)):
            for one in passes:
                part = most if one.both else most + 1
                late = {t: part * x for t, x in one.received.items() if t < self._reach}
                received = {**late, self._reach: early}
                for latency, bandwidth in one.capacity.items():
                    for begin, summands in steps_of(one.sent):
                        for end, reached in steps_of(received):
                            rates[begin + latency + end] += bandwidth * summands * reached
        return [(ticks, Fraction(rate)) for ticks, rate in sorted(rates.items())]
