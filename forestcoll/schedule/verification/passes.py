"""Proof that an allreduce takes a time if no switch reduces and multicasts in one pass.

Problem: can no such allreduce of a size end before a time, by the sets that come with it?
Input:   a network, the latency of each link, sets, a time before the end, a time; none of the sets
         is trusted.
Output:  what links carry by then, counted as below; at most what they must carry if it is proved.
Cost:    four searches for least latencies for each set, and two from each of its ends.
Source:  docs/mathematics/time-bound.md. Shares no code with the search for sets.

Choose a set at random, a GPU of it as voice, and a GPU of another set as ear. A piece of the voice
comes to the ear on a path, whose last pass out of the set is counted. If it may arrive at an end
``reach`` or more before the time, it counts where it leaves the set, for all ears. Otherwise it
counts there, too, but for ears within reach of the end where it arrives. If switches multicast it,
it counts for each of these ends where it enters their set.

Late passes over switches that multicast or reduce count on both sides, that is, k + 1 times for k
ends on the side where there are many. So each time counts k / (k + 1), for the largest k.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from forestcoll.schedule.verification.gossip import (
    GossipNetwork,
    Steps,
    check_sets,
    largest,
    overlap,
    summed,
)
from forestcoll.topology.graph import Link
from forestcoll.topology.model import Topology

__all__ = ["carried_in_passes"]


def carried_in_passes(
    topology: Topology,
    latencies: Sequence[Fraction],
    sets: Sequence[Sequence[int]],
    reach_us: Fraction,
    time_us: Fraction,
) -> Fraction:
    """Return how many bytes passes carry out of sets, and into them, as far as they count.

    Raises
    ------
    VerificationError
        If the sets are not disjoint, lack a GPU, or leave one out; or if a switch stores data.
    """
    check_sets(topology, sets, passes=True)
    passes = _Passes(topology, latencies, [frozenset(one) for one in sets])
    total = Fraction(0)
    for counted, early in ((passes.leaving(), Fraction(1)), (passes.entering(), Fraction(0))):
        for bandwidth, latency, known, reached, part in counted:
            late = [(until, part * few) for until, few in reached if until < reach_us]
            rises = [*late, (reach_us, early - sum(few for _, few in late))]
            total += 1000 * bandwidth * overlap(known, rises, time_us - latency)
    return total


class _Counted(NamedTuple):
    """Links, the least latency of passes over them, and what counts of a pass.

    It counts by what its sender knows of a set, and the part of the others that it reaches late.
    """

    bandwidth_gb_s: Fraction
    latency: Fraction
    known: Steps
    reached: Steps
    part: Fraction


class _Passes:
    """Links that passes take out of sets, and into them."""

    def __init__(
        self, topology: Topology, latencies: Sequence[Fraction], sets: Sequence[frozenset[int]]
    ) -> None:
        self._sets, self._held = sets, frozenset().union(*sets)
        nodes = list(topology.nodes)
        self._marked = {v for v, node in enumerate(nodes) if node.multicast} - self._held
        for v in self._marked:  # a pass leads over such a switch as if it only forwarded
            nodes[v] = replace(nodes[v], multicast=False)
        self._network = GossipNetwork(replace(topology, nodes=tuple(nodes)), latencies)
        self._gpus = frozenset(topology.compute)
        self._from_end: dict[int, Steps] = {}
        self._part = {v: Fraction(1, len(one & self._gpus)) for one in sets for v in one}
        ends = [len(self._network.acting(one)) for one in sets]
        most = sum(ends) - min(ends)
        self._twice = Fraction(most, most + 1)

    def leaving(self) -> Iterator[_Counted]:
        """Yield the links out of each set."""
        for one in self._sets:
            before, after = self._latencies(one, self._held - one)
            known = self._known(one, after)
            reached = self._reached(self._held - one, before)
            out = [e for e in self._network.links if e[0].tail in one and e[0].head not in one]
            for both in (True, False):
                links = [e for e in out if (e[0].head in self._marked) is both]
                for latency, bandwidth in _added(links, before, after):
                    part = self._twice if both else Fraction(1)
                    yield _Counted(bandwidth, latency, known, reached, part)

    def entering(self) -> Iterator[_Counted]:
        """Yield the links into each set behind a switch that may multicast."""
        copied = self._network.nearest(self._marked, back=False, forwarding=True)
        known = largest(
            step
            for one in self._sets
            for step in summed(self._known(one, self._latencies(one, self._held - one)[1]))
        )
        for one in self._sets:
            before, after = self._latencies(self._held - one, one)
            reached = self._reached(one, before)
            links = [
                e
                for e in self._network.links
                if e[0].head in one and e[0].tail not in one and e[0].tail in copied
            ]
            for latency, bandwidth in _added(links, before, after):
                yield _Counted(bandwidth, latency, known, reached, self._twice)

    def _latencies(
        self, senders: Iterable[int], receivers: Iterable[int]
    ) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        """Return least latencies from some nodes, and to others, over what is between sets."""
        network = self._network
        before = network.nearest(network.acting(senders), back=False, forwarding=True)
        return before, network.nearest(network.acting(receivers), back=True, forwarding=True)

    def _known(self, one: frozenset[int], after: Collection[int]) -> Steps:
        """Return when the largest part of a set's GPUs that any end hears of rises."""
        found = []
        for end in self._network.ends(one, after, back=False):
            share = Fraction(0)
            for away, gpu in self._network.gpus_near(end, back=True):
                if gpu in one:
                    share += self._part[gpu]
                    found.append((away, share))
        return largest(found)

    def _reached(self, nodes: Iterable[int], before: Collection[int]) -> Steps:
        """Return when the largest part of the other sets' GPUs that any end reaches rises."""
        ends = self._network.ends(nodes, before, back=True)
        return largest(step for end in ends for step in self._reached_from(end))

    def _reached_from(self, end: int) -> Steps:
        if end in self._from_end:
            return self._from_end[end]
        values: dict[Fraction, Fraction] = {}
        share = Fraction(0)
        for away, gpu in self._network.gpus_near(end, back=False):
            share += self._part[gpu] / (len(self._sets) - 1)
            values[away] = min(share, Fraction(1))
        return self._from_end.setdefault(end, list(values.items()))


def _added(
    links: Iterable[tuple[Link, Fraction]],
    before: Mapping[int, Fraction],
    after: Mapping[int, Fraction],
) -> Iterable[tuple[Fraction, Fraction]]:
    """Return the bandwidth of links that passes take, by the least latency of a pass."""
    found: dict[Fraction, Fraction] = {}
    for link, late in links:
        if link.tail in before and link.head in after:
            latency = before[link.tail] + late + after[link.head]
            found[latency] = found.get(latency, Fraction(0)) + link.bandwidth_gb_s
    return found.items()
