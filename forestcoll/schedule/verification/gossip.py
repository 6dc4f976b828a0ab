"""Proof that an allreduce or broadcast takes a time, by gossip between sets of GPUs.

Problem: can no allreduce, or broadcast from a root, of a size end before a time, by the sets that
         come with it? A reduce is a broadcast on the reversed network.
Input:   a network, the latency of each link, sets, names of shared capacities that count, a time;
         sets and names are not trusted.
Output:  what links carry by then, counted as below; at most what they must carry if it is proved.
Cost:    two searches for least latencies from each GPU at a set's border.
Source:  docs/mathematics/time-bound.md. Shares no code with the search for sets.

Choose one GPU of each set as its voice, and one as its ear, at random. The transfers over which a
voice may be heard by an ear are one-way gossip between m sets, so every piece of the data is in
2 (m - 1) of them at least. A transfer that is sent at s and arrives at T - r is one of them with a
probability of at most A(s) B(r). A(s) is the sum, over all sets, of the part of their GPUs whose
data a sender may have by s; B(r) of the GPUs that a receiver may still reach in r; both 1 at most.

Of a broadcast each other set has an ear. Every piece enters that set by a transfer after which it
stays inside until the ear has it, so it is in m - 1 of them. One of these is sent no earlier than
data of the root may be there, and B(r) is of the GPUs of the receiver's own set.

Links of a shared capacity carry no more than its limit at a time, and count as its best link does.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from forestcoll.schedule.verification.naming import fail
from forestcoll.topology.graph import Link
from forestcoll.topology.model import Topology

__all__ = ["carried_in_gossip"]

_Step = tuple[Fraction, Fraction]

_Steps = list[_Step]
"""Moments, and by how much something rises there."""


def carried_in_gossip(
    topology: Topology,
    latencies: Sequence[Fraction],
    sets: Sequence[Sequence[int]],
    time_us: Fraction,
    shared: Sequence[str] = (),
    root: int | None = None,
) -> Fraction:
    """Return how many bytes links carry between the sets by a time, as far as they count.

    A link of several shared capacities counts for the first that is named. With a root they are
    the bytes of a broadcast.

    Raises
    ------
    VerificationError
        If the sets are not disjoint, lack a GPU, or leave out a node that may copy or add; or for a
        shared capacity that does not exist.
    """
    _check_sets(topology, sets)
    limits = _limits(topology, shared)
    best: dict[str, tuple[list[_Step], list[_Step]]] = {name: ([], []) for name in limits}
    network = _Network(topology, latencies)
    of_node = {v: place for place, one in enumerate(sets) for v in one}
    total = Fraction(0)
    for place in range(len(sets)):
        senders = {v for v in of_node if of_node[v] == place}
        idle = {place} if root is None else {place, of_node[root]}
        receivers = {v for v, other in of_node.items() if other not in idle}
        before = network.nearest(network.acting(senders), back=False, forwarding=True)
        after = network.nearest(network.acting(receivers), back=True, forwarding=True)
        comes = network.ends(receivers, before, back=True)
        if root is None:
            goes = network.ends(senders, after, back=False)
            known = _shares(network, sets, goes, towards=True)
            reached = _shares(network, sets, comes, towards=False)
        else:
            known = [(Fraction(0), Fraction(1))]
            reached = _largest(
                step
                for v in comes
                for step in _summed(_shares(network, [sets[of_node[v]]], [v], towards=False))
            )
            from_root = network.nearest([root], back=False, forwarding=False)
            before = {v: from_root[v] for v in before if v in from_root}
        for link, sooner, later in _crossing(network, sets, senders, before, after):
            ends = link.tail, link.head
            name = next((name for name, (_, held) in limits.items() if ends in held), None)
            if name is None:
                left = time_us - sooner - later
                total += 1000 * link.bandwidth_gb_s * _overlap(known, reached, left)
            else:
                best[name][0].extend((sooner + since, share) for since, share in _summed(known))
                best[name][1].extend((later + until, share) for until, share in _summed(reached))
    for name, (limit, _) in limits.items():
        known, reached = (_largest(steps) for steps in best[name])
        total += 1000 * limit * _overlap(known, reached, time_us)
    return total


def _limits(
    topology: Topology, shared: Sequence[str]
) -> dict[str, tuple[Fraction, frozenset[tuple[int, int]]]]:
    """Return the limit and the links of each shared capacity that is named, in that order."""
    known = {one.name: (one.bandwidth_gb_s, frozenset(one.links)) for one in topology.shared}
    for name in shared:
        if name not in known:
            fail(f"{name!r} counts in the gossip, but is no shared capacity")
    return {name: known[name] for name in shared}


def _check_sets(topology: Topology, sets: Sequence[Sequence[int]]) -> None:
    held = [v for one in sets for v in one]
    if len(sets) < 2:
        fail("gossip needs two sets or more")
    if len(set(held)) != len(held) or not set(held) <= set(range(len(topology.nodes))):
        fail("the sets of the gossip must be disjoint sets of nodes")
    if any(not set(one) & set(topology.compute) for one in sets):
        fail("each set of the gossip must hold a GPU")
    for v, node in enumerate(topology.nodes):
        if v not in held and (not node.is_switch or node.multicast):
            fail(f"{node.name} may copy or add; it must be in a set of the gossip")
        if node.stores:
            fail(f"{node.name} stores data; gossip is for switches that only forward")


class _Network:
    """Links both ways, and which nodes may copy or add."""

    def __init__(self, topology: Topology, latencies: Sequence[Fraction]) -> None:
        self.topology = topology
        self.acts = [not node.is_switch or node.multicast for node in topology.nodes]
        self.links = list(zip(topology.links, latencies, strict=True))
        self.out: list[list[tuple[Fraction, int]]] = [[] for _ in topology.nodes]
        self.into: list[list[tuple[Fraction, int]]] = [[] for _ in topology.nodes]
        for link, late in self.links:
            self.out[link.tail].append((late, link.head))
            self.into[link.head].append((late, link.tail))
        self._gpus_near: dict[tuple[int, bool], list[tuple[Fraction, int]]] = {}

    def gpus_near(self, end: int, *, back: bool) -> list[tuple[Fraction, int]]:
        """Return all GPUs by their latency from a node, or to it."""
        if (end, back) not in self._gpus_near:
            away = self.nearest([end], back=back, forwarding=False)
            self._gpus_near[end, back] = sorted(
                (away[gpu], gpu) for gpu in self.topology.compute if gpu in away
            )
        return self._gpus_near[end, back]

    def acting(self, nodes: Iterable[int]) -> list[int]:
        """Return the nodes that may copy or add."""
        return [v for v in nodes if self.acts[v]]

    def ends(self, nodes: Iterable[int], over: Collection[int], *, back: bool) -> list[int]:
        """Return the GPUs among some nodes, and what a transfer over others may begin or end at.

        What has no such link, as a switch that adds in a box, ends no transfer.
        """
        beside, gpus = self.into if back else self.out, frozenset(self.topology.compute)
        return [
            v
            for v in self.acting(nodes)
            if v in gpus or any(other in over for _, other in beside[v])
        ]

    def nearest(
        self, starts: Collection[int], *, back: bool, forwarding: bool
    ) -> dict[int, Fraction]:
        """Return least latencies from some nodes, or to them; maybe over forwarding nodes only."""
        beside = self.into if back else self.out
        found: dict[int, Fraction] = {}
        waiting = [(Fraction(0), v) for v in starts]
        while waiting:
            away, v = heapq.heappop(waiting)
            if v in found:
                continue
            found[v] = away
            for late, other in beside[v]:
                if other not in found and not (forwarding and self.acts[other]):
                    heapq.heappush(waiting, (away + late, other))
        return found


def _shares(
    network: _Network, sets: Sequence[Sequence[int]], ends: Collection[int], *, towards: bool
) -> _Steps:
    """Return when the largest share of any end rises, and by how much."""
    gpus = frozenset(network.topology.compute)
    part = {v: Fraction(1, len(gpus.intersection(one))) for one in sets for v in gpus & {*one}}
    values: dict[Fraction, Fraction] = {}
    for end in ends:
        share = Fraction(0)
        for away, gpu in network.gpus_near(end, back=towards):
            share += part.get(gpu, Fraction(0))
            values[away] = max(min(Fraction(1), share), values.get(away, Fraction(0)))
            if share >= 1:
                break
    return _largest(values.items())


def _largest(values: Iterable[_Step]) -> _Steps:
    """Return when the largest of some values so far rises, and by how much."""
    rises: _Steps = []
    best = Fraction(0)
    for moment, share in sorted(values):
        if share > best:
            rises.append((moment, share - best))
            best = share
    return rises


def _summed(rises: _Steps) -> Iterator[_Step]:
    """Yield moments, and how much there is from then on."""
    share = Fraction(0)
    for moment, more in rises:
        share += more
        yield moment, share


def _crossing(
    network: _Network,
    sets: Sequence[Sequence[int]],
    senders: Collection[int],
    before: Mapping[int, Fraction],
    after: Mapping[int, Fraction],
) -> Iterator[tuple[Link, Fraction, Fraction]]:
    """Yield each link that counts, with least latencies of transfers: up to it, and from there on.

    Every transfer takes a link that leaves the senders, and, between two sets, one that leads into
    or out of the first of them. It has come from a sender ``before`` later, and has to go
    ``after`` more to a receiver.
    """
    first = frozenset(sets[0])
    inward = len(sets) == 2 and not first & set(senders)
    for link, late in network.links:
        leaves = link.tail in senders and link.head not in senders
        enters = link.head in first and link.tail not in first
        if (enters if inward else leaves) and link.tail in before and link.head in after:
            yield link, before[link.tail], late + after[link.head]


def _overlap(known: _Steps, reached: _Steps, left: Fraction) -> Fraction:
    """Return the integral, over a time, of what is known so far times what is reached after."""
    return sum(
        (
            more * few * (left - since - until)
            for since, more in known
            for until, few in reached
            if since + until < left
        ),
        start=Fraction(0),
    )
