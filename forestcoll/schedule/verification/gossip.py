"""Proof that an allreduce takes a time, by gossip between sets of GPUs.

Problem: can no allreduce of a size end before a time, by the sets that come with it?
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

Links of a shared capacity carry no more than its limit at a time, and count as its best link does.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from forestcoll.schedule.verification.naming import fail
from forestcoll.topology.graph import Link
from forestcoll.topology.model import Topology

__all__ = [
    "GossipNetwork",
    "Steps",
    "carried_in_gossip",
    "check_sets",
    "largest",
    "limits_of",
    "overlap",
    "summed",
]

_Step = tuple[Fraction, Fraction]

Steps = list[_Step]
"""Moments, and by how much something rises there."""


def carried_in_gossip(
    topology: Topology,
    latencies: Sequence[Fraction],
    sets: Sequence[Sequence[int]],
    time_us: Fraction,
    shared: Sequence[str] = (),
) -> Fraction:
    """Return how many bytes links carry between the sets by a time, as far as they count.

    A link of several shared capacities counts for the first that is named.

    Raises
    ------
    VerificationError
        If the sets are not disjoint, lack a GPU, or leave out a node that may multicast or reduce.
        If a shared capacity does not exist.
    """
    check_sets(topology, sets)
    limits = limits_of(topology, shared)
    best: dict[str, tuple[list[_Step], list[_Step]]] = {name: ([], []) for name in limits}
    network = GossipNetwork(topology, latencies)
    of_node = {v: place for place, one in enumerate(sets) for v in one}
    total = Fraction(0)
    for place in range(len(sets)):
        senders = {v for v in of_node if of_node[v] == place}
        receivers = {v for v, other in of_node.items() if other != place}
        before = network.nearest(network.acting(senders), back=False, forwarding=True)
        after = network.nearest(network.acting(receivers), back=True, forwarding=True)
        goes = network.ends(senders, after, back=False)
        comes = network.ends(receivers, before, back=True)
        known = _shares(network, sets, goes, towards=True)
        reached = _shares(network, sets, comes, towards=False)
        for link, sooner, later in _crossing(network, sets, senders, before, after):
            ends = link.tail, link.head
            name = next((name for name, (_, held) in limits.items() if ends in held), None)
            if name is None:
                left = time_us - sooner - later
                total += 1000 * link.bandwidth_gb_s * overlap(known, reached, left)
            else:
                best[name][0].extend((sooner + since, share) for since, share in summed(known))
                best[name][1].extend((later + until, share) for until, share in summed(reached))
    for name, (limit, _) in limits.items():
        known, reached = (largest(steps) for steps in best[name])
        total += 1000 * limit * overlap(known, reached, time_us)
    return total


def limits_of(
    topology: Topology, shared: Sequence[str]
) -> dict[str, tuple[Fraction, frozenset[tuple[int, int]]]]:
    """Return the limit and the links of each shared capacity that is named, in that order."""
    known = {one.name: (one.bandwidth_gb_s, frozenset(one.links)) for one in topology.shared}
    for name in shared:
        if name not in known:
            fail(f"{name!r} counts in the gossip, but is no shared capacity")
    return {name: known[name] for name in shared}


def check_sets(topology: Topology, sets: Sequence[Sequence[int]], *, passes: bool = False) -> None:
    """Refuse sets that overlap, lack a GPU, or leave out a node that may multicast or reduce.

    Switches between which ``passes`` lead may do so outside of the sets.
    """
    held = [v for one in sets for v in one]
    if len(sets) < 2:
        fail("gossip needs two sets or more")
    if len(set(held)) != len(held) or not set(held) <= set(range(len(topology.nodes))):
        fail("the sets of the gossip must be disjoint sets of nodes")
    if any(not set(one) & set(topology.compute) for one in sets):
        fail("each set of the gossip must hold a GPU")
    for v, node in enumerate(topology.nodes):
        if v not in held and (not node.is_switch or (node.multicast and not passes)):
            fail(f"{node.name} may multicast or reduce; it must be in a set of the gossip")
        if node.stores:
            fail(f"{node.name} stores data; gossip is for switches that only forward")


class GossipNetwork:
    """Links both ways, and which nodes may multicast or reduce."""

    def __init__(self, topology: Topology, latencies: Sequence[Fraction]) -> None:
        self.topology = topology
        self.acts = [not node.is_switch or node.multicast for node in topology.nodes]
        self.links = list(zip(topology.links, latencies, strict=True))
        self._ticks = math.lcm(1, *(late.denominator for late in latencies))  # in a us
        self.out: list[list[tuple[int, int]]] = [[] for _ in topology.nodes]
        self.into: list[list[tuple[int, int]]] = [[] for _ in topology.nodes]
        for link, late in self.links:
            self.out[link.tail].append((int(late * self._ticks), link.head))
            self.into[link.head].append((int(late * self._ticks), link.tail))
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
        """Return the nodes that may multicast or reduce."""
        return [v for v in nodes if self.acts[v]]

    def ends(self, nodes: Iterable[int], over: Collection[int], *, back: bool) -> list[int]:
        """Return the GPUs among some nodes, and what a transfer over others may begin or end at.

        What has no such link, as a switch that reduces in a box, ends no transfer.
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
        best = dict.fromkeys(starts, 0)
        done: set[int] = set()
        waiting = [(0, v) for v in starts]
        while waiting:
            away, v = heapq.heappop(waiting)
            if v in done:
                continue
            done.add(v)
            for late, other in beside[v]:
                if other in done or (forwarding and self.acts[other]):
                    continue
                then = away + late
                if other not in best or then < best[other]:
                    best[other] = then
                    heapq.heappush(waiting, (then, other))
        return {v: Fraction(away, self._ticks) for v, away in best.items()}


def _shares(
    network: GossipNetwork, sets: Sequence[Sequence[int]], ends: Collection[int], *, towards: bool
) -> Steps:
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
    return largest(values.items())


def largest(values: Iterable[_Step]) -> Steps:
    """Return when the largest of some values so far rises, and by how much."""
    rises: Steps = []
    best = Fraction(0)
    for moment, share in sorted(values):
        if share > best:
            rises.append((moment, share - best))
            best = share
    return rises


def summed(rises: Steps) -> Iterator[_Step]:
    """Yield moments, and how much there is from then on."""
    share = Fraction(0)
    for moment, more in rises:
        share += more
        yield moment, share


def _crossing(
    network: GossipNetwork,
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


def overlap(known: Steps, reached: Steps, left: Fraction) -> Fraction:
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
