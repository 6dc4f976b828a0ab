"""Least time of an allreduce by gossip between sets of GPUs.

Problem: m sets must learn what all others know, so each piece of the data goes 2 (m - 1) times from
         set to set, if every transfer carries all that is known to all who need it. But early
         transfers carry few summands, and late ones reach few GPUs. How long does an amount take?
Input:   a network with latencies, sets of nodes that hold all GPUs, shared capacities that count;
         then amounts.
Output:  T, exactly: by then the links between the sets carry no more than they must.
Cost:    shortest paths between all nodes once; for each choice of sets a pass over pairs of GPUs
         and over the links. All sizes share them.
Source:  ours, after one-way gossip (Harary and Schwenk 1974); docs/mathematics/time-bound.md.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from forestcoll.problem.over_time.time_bound import GossipOverTime
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology.model import Topology
from forestcoll.topology.shared_capacity import SharedCapacity
from forestcoll.topology.shortest_paths import distances

__all__ = [
    "GossipTimes",
    "GpuDistances",
    "Nodes",
    "Shares",
    "first_time",
    "forwards",
    "gossip_sets",
    "rising",
    "steps_of",
    "within",
]

Nodes = tuple[int, ...]

Shares = dict[int, int]
"""A step function from 0 up: its values from some ticks on, ascending; in parts of a whole."""

_Number = TypeVar("_Number", int, Fraction)

_MOST_GPUS = 256
_MOST_SINGLE = 4  # sets of one kind, each beside all other nodes
_MOST_TICKS = 2**53  # distances are found in floats


def gossip_sets(
    topology: Topology,
    priced: Iterable[Sequence[int]],
    sinks: Iterable[int],
    *,
    rooted: bool = False,
) -> Iterator[tuple[Nodes, ...]]:
    """Yield choices of disjoint sets that hold all nodes but some switches that only forward.

    All boxes; and a box, a GPU or a priced set beside all else. From a root also each GPU by
    itself. None for large networks, nor where switches store.

    Parameters
    ----------
    priced : iterable of node sets
        Sets that bound the rate.
    sinks : iterable of int
        GPUs that stand for all.
    """
    if topology.num_compute > _MOST_GPUS or any(node.stores for node in topology.nodes):
        return
    acting = frozenset(v for v in range(len(topology.nodes)) if not forwards(topology, v))
    gpus = frozenset(topology.compute)
    of_box: dict[int, list[int]] = defaultdict(list)
    for v, node in enumerate(topology.nodes):
        if node.box is not None:
            of_box[node.box].append(v)
    boxes = [tuple(box) for box in of_box.values() if gpus.intersection(box)]
    if len(boxes) > 2 and acting <= frozenset().union(*boxes):
        yield tuple(boxes)
    if rooted and len(gpus) > 2 and acting == gpus:
        yield tuple((gpu,) for gpu in topology.compute)
    some = list(sinks)[:_MOST_SINGLE]
    near = [box for sink in some for box in boxes if sink in box]
    for one in dict.fromkeys([*near, *((sink,) for sink in some), *map(tuple, priced)]):
        rest = tuple(sorted(acting.difference(one)))
        if gpus.intersection(one) and gpus.intersection(rest):
            yield one, rest


def forwards(topology: Topology, v: int) -> bool:
    """Whether a node passes on what it gets, once and as it is."""
    return topology.nodes[v].is_switch and not topology.nodes[v].multicast


class GpuDistances:
    """Latencies between all nodes, which all choices of sets share."""

    def __init__(self, topology: Topology, links: TimedLinks) -> None:
        self.topology, self.links = topology, links

    @property
    def are_exact(self) -> bool:
        """Whether floats hold every distance."""
        return sum(self.links.latency) < _MOST_TICKS

    @cached_property
    def between(self) -> npt.NDArray[np.float64]:
        """In ticks, from each node (row) to each; infinite where no path leads."""
        return self._shortest(range(self.links.nodes), ahead=True)

    @cached_property
    def _over(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """In ticks, over switches that only forward: to each node (row), and from it."""
        switches = [v for v in range(self.links.nodes) if forwards(self.topology, v)]
        return self._shortest(switches, ahead=False), self._shortest(switches, ahead=True)

    def _shortest(self, over: Iterable[int], *, ahead: bool) -> npt.NDArray[np.float64]:
        """Return the latencies from each node, or to it, of paths over some nodes only."""
        links, size = self.links, self.links.nodes
        begin, end = np.array((links.tail, links.head) if ahead else (links.head, links.tail))
        kept = np.isin(end, list(over))
        late = np.array(links.latency, dtype=float)[kept]
        return distances(size, begin[kept], end[kept], late, np.arange(size))

    def acting(self, nodes: Iterable[int]) -> list[int]:
        """Return the nodes that may multicast or reduce."""
        return [v for v in nodes if not forwards(self.topology, v)]

    def ends(self, nodes: Iterable[int], over: Mapping[int, int], *, ahead: bool) -> list[int]:
        """Return the GPUs among some nodes, and what a transfer over others may begin or end at.

        What has no such link, such as a switch that reduces in a box, ends no transfer.
        """
        beside, gpus = self.beside[ahead], frozenset(self.topology.compute)
        return [
            v
            for v in self.acting(nodes)
            if v in gpus or any(other in over for _, other in beside[v])
        ]

    def over_switches(self, nodes: Iterable[int], *, ahead: bool) -> dict[int, int]:
        """Return the least latency from some nodes, or to them, over switches that only forward."""
        away = self._over[ahead][list(nodes)].min(axis=0, initial=np.inf)
        return {v: int(away[v]) for v in np.flatnonzero(np.isfinite(away)).tolist()}

    @cached_property
    def beside(self) -> tuple[list[list[tuple[int, int]]], list[list[tuple[int, int]]]]:
        """Latency and other end of the links into each node, then of those out of it."""
        back: list[list[tuple[int, int]]] = [[] for _ in range(self.links.nodes)]
        ahead: list[list[tuple[int, int]]] = [[] for _ in range(self.links.nodes)]
        for tail, head, latency in zip(
            self.links.tail, self.links.head, self.links.latency, strict=True
        ):
            ahead[tail].append((latency, head))
            back[head].append((latency, tail))
        return back, ahead


class _Crossing(NamedTuple):
    """A link between sets, and the least latency from a sender to it, and from its tail onwards."""

    ends: tuple[int, int]
    capacity: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class _Way:
    """Links from a set to the others, and the shares of summands sent and of GPUs to be reached."""

    sent: Shares
    needed: Shares
    crossings: list[_Crossing]


class GossipTimes:
    """Least times for a choice of sets, which all sizes share.

    Parameters
    ----------
    distances : GpuDistances
    sets : tuple of tuples of int
        Disjoint, each with a GPU; other nodes are switches that only forward.
    shared : tuple of SharedCapacity
        Those that count: their links carry what counts together. A link of several counts for the
        first.
    """

    def __init__(
        self,
        distances: GpuDistances,
        sets: tuple[Nodes, ...],
        shared: tuple[SharedCapacity, ...] = (),
    ) -> None:
        self.sets, self.shared = sets, shared
        self._distances = distances
        gpus = frozenset(distances.topology.compute)
        counts = [len(gpus.intersection(one)) for one in sets]
        self._whole = math.lcm(*counts)
        part = {
            v: self._whole // count
            for one, count in zip(sets, counts, strict=True)
            for v in gpus.intersection(one)
        }
        self._gpus = np.array(list(part))
        self._part = np.array(list(part.values()), dtype=np.int64)

    def least_time(self, amount: Fraction) -> Fraction:
        """Return the time in ticks before which no allreduce of an amount ends.

        Parameters
        ----------
        amount : Fraction
            Of the data of one GPU, in units of capacity times ticks.
        """
        due = 2 * (len(self.sets) - 1) * amount * self._whole**2
        return first_time(self._rises, due)

    @property
    def proof(self) -> GossipOverTime:
        """The sets, and the shared capacities that count."""
        return GossipOverTime(self.sets, tuple(group.name for group in self.shared))

    def binding(self) -> tuple[SharedCapacity, ...]:
        """Return the shared capacities that are narrower than their links between the sets."""
        links = self._distances.links
        capacity = dict(zip(zip(links.tail, links.head, strict=True), links.capacity, strict=True))
        between = {one.ends for way in self._ways for one in way.crossings}
        return tuple(
            group
            for group in self._distances.topology.shared
            if group.bandwidth_gb_s * links.denominator
            < sum(capacity[ends] for ends in group.links if ends in between)
        )

    @cached_property
    def _rises(self) -> list[tuple[int, Fraction]]:
        """By how much the rate at which links carry what counts rises, and when, in order of time.

        A link with b carries b max(0, T - x) for each pair of a step of one share and a step of the
        other. So do links of a shared capacity, with the largest shares of any of them.
        """
        found: Counter[int] = Counter()
        holder = {ends: group for group in reversed(self.shared) for ends in group.links}
        together: dict[str, list[tuple[_Way, _Crossing]]] = defaultdict(list)
        for way in self._ways:
            alone: Counter[int] = Counter()
            for one in way.crossings:
                if one.ends in holder:
                    together[holder[one.ends].name].append((way, one))
                else:
                    alone[one.before + one.after] += one.capacity
            for late, capacity in alone.items():
                _add(found, way.sent, way.needed, late, capacity)
        rates = {ticks: Fraction(rate) for ticks, rate in found.items()}
        for group in self.shared:
            held = together[group.name]
            sent = rising((t + one.before, x) for way, one in held for t, x in way.sent.items())
            needed = rising((t + one.after, x) for way, one in held for t, x in way.needed.items())
            limit = group.bandwidth_gb_s * self._distances.links.denominator
            _add(rates, sent, needed, 0, limit)
        return sorted(rates.items())

    @cached_property
    def _ways(self) -> list[_Way]:
        """From each set to the others: what links carry, and how much of it may count."""
        ways = []
        for senders, receivers in self._directions():
            network = self._distances
            before = network.over_switches(network.acting(senders), ahead=True)
            after = network.over_switches(network.acting(receivers), ahead=False)
            sent = self._most(network.ends(senders, after, ahead=True), ahead=False)
            needed = self._most(network.ends(receivers, before, ahead=False), ahead=True)
            ways.append(_Way(sent, needed, list(self._between(senders, before, after))))
        return ways

    def _directions(self) -> Iterator[tuple[Nodes, Nodes]]:
        """Yield each set with all others, as senders and receivers."""
        for one in self.sets:
            yield one, tuple(v for other in self.sets if other is not one for v in other)

    def _between(
        self, senders: Nodes, before: Mapping[int, int], after: Mapping[int, int]
    ) -> Iterator[_Crossing]:
        """Yield the links from a set to the others.

        Of two sets the links of the first one count both ways, else those that leave a set.

        Parameters
        ----------
        before, after : dict of int to int
            The least latency from a sender to a node, and from there to a receiver.
        """
        links = self._distances.links
        first = frozenset(self.sets[0])
        enters = len(self.sets) == 2 and senders is self.sets[1]
        left = frozenset(range(links.nodes)) - first if enters else frozenset(senders)
        for tail, head, capacity, latency in zip(
            links.tail, links.head, links.capacity, links.latency, strict=True
        ):
            if tail in left and head not in left and tail in before and head in after:
                yield _Crossing((tail, head), capacity, before[tail], latency + after[head])

    def _most(self, nodes: Iterable[int], *, ahead: bool) -> Shares:
        """Return the largest share, over some nodes, of what is within each distance.

        Of the summands that a node may have, or of the GPUs that it may reach: for each set the
        part of its GPUs, summed up, 1 at most.
        """
        between = self._distances.between
        return rising(
            (ticks, min(share, self._whole))
            for node in nodes
            for ticks, share in within(
                between[node, self._gpus] if ahead else between[self._gpus, node], self._part
            )
        )


def within(away: npt.NDArray[np.float64], part: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return distances, ascending, and the parts of all that is within each, added up."""
    ticks, place = np.unique(away, return_inverse=True)
    parts = np.zeros(len(ticks), dtype=np.int64)
    np.add.at(parts, place.reshape(-1), part)
    known = np.isfinite(ticks)
    shares = np.cumsum(parts)[known]
    return list(zip(ticks[known].astype(int).tolist(), shares.tolist(), strict=True))


def first_time(rises: Iterable[tuple[int, Fraction]], due: Fraction) -> Fraction:
    """Return when an amount is carried, by a rate that rises or falls at some ticks."""
    rate, carried, since = Fraction(0), Fraction(0), 0
    for ticks, more in rises:
        by_then = carried + rate * (ticks - since)
        if by_then >= due:
            break
        carried, since, rate = by_then, ticks, rate + more
    return since + (due - carried) / rate


def rising(steps: Iterable[tuple[int, int]]) -> Shares:
    """Return the largest value of any step so far."""
    found: Shares = {}
    best = 0
    for ticks, share in sorted(steps):
        if share > best:
            best = found[ticks] = share
    return found


def _add(
    rates: dict[int, _Number], sent: Shares, needed: Shares, late: int, capacity: _Number
) -> None:
    """Add the rise of what counts for each pair of a step of both shares."""
    for begin, summands in steps_of(sent):
        for end, reached in steps_of(needed):
            at = begin + late + end
            rates[at] = rates.get(at, 0) + capacity * summands * reached


def steps_of(shares: Shares) -> Iterator[tuple[int, int]]:
    """Yield when a share rises, and by how much."""
    for (_, before), (ticks, share) in pairwise([(0, 0), *shares.items()]):
        yield ticks, share - before
