"""Proof that a broadcast takes a time, by what enters sets of GPUs and what leaves the root's.

Problem: can no broadcast of a size end before a time, by the sets and the moment that come with it?
         A reduce is a broadcast on the reversed network.
Input:   a network, the latency of each link, a root, sets, a moment, names of shared capacities
         that count, a time; sets, moment and names are not trusted.
Output:  what links carry by then, counted as below; at most what they must carry if it is proved.
Cost:    three searches for least latencies for each set, and one from each node that data enter.
Source:  docs/mathematics/time-bound.md. Shares no code with the search for sets.

Choose one GPU of each set but the root's as its ear, at random. A piece comes to an ear on a path.
If its last transfer into the ear's set may arrive after the moment, that is counted: the ear is in
reach of its receiver. Else the last transfer on the path out of the root's set is counted: it
arrives before the moment, too, and earlier by a hop if it leads to another set than the ear's. So
each piece is counted once for each set but the root's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.schedule.verification.gossip import (
    GossipNetwork,
    Steps,
    check_sets,
    largest,
    limits_of,
    overlap,
)
from forestcoll.topology.graph import Link
from forestcoll.topology.model import Topology

__all__ = ["carried_from_root"]


@dataclass(frozen=True, slots=True)
class _Counted:
    """A link, from when on data of the root are on it, and how late they are at a receiver.

    From there they reach, within some times, parts of the GPUs of one set, and of all.
    """

    link: Link
    begin: Fraction
    late: Fraction
    one: Steps
    all: Steps


def carried_from_root(
    topology: Topology,
    latencies: Sequence[Fraction],
    sets: Sequence[Sequence[int]],
    root: int,
    since_us: Fraction,
    time_us: Fraction,
    shared: Sequence[str] = (),
) -> Fraction:
    """Return how many bytes links carry from a root by a time, as far as they count.

    A link of several shared capacities counts for the first that is named.

    Raises
    ------
    VerificationError
        If the sets are not disjoint, lack a GPU, or leave out a node that may copy; or for a shared
        capacity that does not exist.
    """
    check_sets(topology, sets)
    limits = limits_of(topology, shared)
    paths = _Paths(GossipNetwork(topology, latencies), sets, root)
    total = Fraction(0)
    for counted, steps in ((paths.entering(), _own), (paths.leaving(), _passed_on)):
        together: dict[str, list[_Counted]] = defaultdict(list)
        for found in counted:
            ends = found.link.tail, found.link.head
            name = next((name for name, (_, held) in limits.items() if ends in held), None)
            if name is None:
                most = steps([found], since_us, time_us, paths.hop)
                total += 1000 * found.link.bandwidth_gb_s * most
            else:
                together[name].append(found)
        for name, held in together.items():
            total += 1000 * limits[name][0] * steps(held, since_us, time_us, paths.hop)
    return total


def _own(
    links: Sequence[_Counted], since: Fraction, time: Fraction, _: Fraction | None
) -> Fraction:
    """Return the integral of the most that any link into a set reaches in it, from a moment on."""
    begin = min(max(link.begin, since - link.late) for link in links)
    return overlap([(begin, Fraction(1))], _reached(links, everywhere=False), time)


def _passed_on(
    links: Sequence[_Counted], since: Fraction, time: Fraction, hop: Fraction | None
) -> Fraction:
    """Return the integral of the most that any link out of the root's set reaches, up to a moment.

    What arrives less than a hop before reaches no other set by then.
    """
    begin = min(link.begin for link in links)
    end = max(begin, *(since - link.late for link in links))
    passed = begin if hop is None else max(begin, end - hop)
    total = Fraction(0)
    for start, stop, everywhere in ((begin, passed, True), (passed, end, False)):
        moments = [(start, Fraction(1)), (stop, Fraction(-1))]
        total += overlap(moments, _reached(links, everywhere=everywhere), time)
    return total


def _reached(links: Sequence[_Counted], *, everywhere: bool) -> Steps:
    return largest(
        (link.late + away, part)
        for link in links
        for away, part in (link.all if everywhere else link.one)
    )


class _Paths:
    """Transfers into sets, and out of the root's."""

    def __init__(self, network: GossipNetwork, sets: Sequence[Sequence[int]], root: int) -> None:
        self._network = network
        self._from_root = network.nearest([root], back=False, forwarding=False)
        self._home = next(frozenset(one) for one in sets if root in one)
        self._needy = [frozenset(one) for one in sets if root not in one]
        self._part = {
            v: Fraction(1, len(one.intersection(network.topology.compute)))
            for one in self._needy
            for v in one.intersection(network.topology.compute)
        }

    def entering(self) -> Iterator[_Counted]:
        """Yield each link into a set, from outside of it."""
        for one in self._needy:
            others = frozenset().union(self._home, *self._needy) - one
            before, after, ends = self._transfers(others, one)
            own = self._parts(ends, one)
            for link, late in self._network.links:
                if link.head in one and link.tail not in one:
                    yield from self._counted(link, late, before, after, own, own)

    def leaving(self) -> Iterator[_Counted]:
        """Yield each link out of the root's set."""
        needy = frozenset().union(*self._needy)
        before, after, ends = self._transfers(self._home, needy)
        own = [step for one in self._needy for step in self._parts(one.intersection(ends), one)]
        every = self._parts(ends, needy)
        for link, late in self._network.links:
            if link.tail in self._home and link.head not in self._home:
                yield from self._counted(link, late, before, after, own, every)

    @cached_property
    def hop(self) -> Fraction | None:
        """The least latency of a transfer between two sets, neither the root's."""
        found = []
        for one in self._needy:
            others = frozenset().union(*self._needy) - one
            before, _, _ = self._transfers(others, one)
            acting = frozenset(self._network.acting(one))
            found += [
                before[link.tail] + late
                for link, late in self._network.links
                if link.tail in before and link.head in acting
            ]
        return min(found, default=None)

    def _transfers(
        self, senders: Collection[int], receivers: Collection[int]
    ) -> tuple[dict[int, Fraction], dict[int, Fraction], list[int]]:
        """Return latencies from some nodes, those to others, and where transfers between end."""
        network = self._network
        before = network.nearest(network.acting(senders), back=False, forwarding=True)
        after = network.nearest(network.acting(receivers), back=True, forwarding=True)
        return before, after, network.ends(receivers, before, back=True)

    def _counted(
        self,
        link: Link,
        late: Fraction,
        before: Collection[int],
        after: Mapping[int, Fraction],
        one: Steps,
        every: Steps,
    ) -> Iterator[_Counted]:
        if link.tail in before and link.head in after and link.tail in self._from_root:
            late += after[link.head]
            yield _Counted(link, self._from_root[link.tail], late, one, every)

    def _parts(self, ends: Iterable[int], inside: Collection[int]) -> Steps:
        """Return, for all ends, the parts of the GPUs inside that are within each latency."""
        found = []
        for end in ends:
            part = Fraction(0)
            for away, gpu in self._network.gpus_near(end, back=False):
                if gpu in inside:
                    part += self._part[gpu]
                    found.append((away, part))
        return found
