"""Upper bounds on the rate of an all-to-all, from a cut or from the hops between node sets.

Problem: how fast can an all-to-all be at most? Every price p of links, from 0 up, bounds the rate
         f at which all pairs are served at once:

             f <= sum_e b_e p_e / sum of d_p(s, t) over all ordered pairs of GPUs,

         with d_p(s, t) the price of the cheapest path from s to t.
Input:   a topology; a set of nodes, or disjoint ones that hold all GPUs.
Output:  the bound, exactly: with price 1 on the links into, or out of, the set; or 1/2 on each link
         for a set that it leaves and 1/2 for one that it enters; paths inside sets are free.
Cost:    a pass over the links; for several sets, one pass for each of them.
Source:  duality of concurrent flows (Shahrokhi and Matula 1990): the data of a pair pays at least
         d_p for its path, and all pairs together pay at most sum_e b_e p_e.

The bound holds for any schedule that sends each pair's data in pieces over links, through switches
and GPUs, in any order. M is the data that one GPU sends in all, including to itself. So a pair has
M / N, and algbw is N f.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.topology.describe import counted, nodes_in_words, rate
from forestcoll.topology.model import Topology

__all__ = ["AllToAllBound"]

_SWITCH = -1
"""The set number of a switch that is in no set."""


@dataclass(frozen=True, slots=True)
class AllToAllBound:
    """An upper bound on the rate of every all-to-all on a network.

    Parameters
    ----------
    sets : tuple of node sets
        One set, whose boundary all data between its GPUs and the others crosses; or several.
    into : bool
        Whether the links into the set count, or those out of it; with several sets, both count.
    algbw_gb_s : Fraction
        The bound.
    """

    topology: Topology
    sets: tuple[tuple[int, ...], ...] = field(repr=False)
    into: bool
    algbw_gb_s: Fraction

    @classmethod
    def of_cut(cls, topology: Topology, nodes: Iterable[int], *, into: bool) -> AllToAllBound:
        """Bound by the links into, or out of, a set with some GPUs but not all."""
        inside = set(nodes)
        gpus = sum(node in inside for node in topology.compute)
        crossing = (
            link.bandwidth_gb_s
            for link in topology.links
            if (link.head in inside, link.tail in inside) == (into, not into)
        )
        pairs = gpus * (topology.num_compute - gpus)
        rate_gb_s = sum(crossing, start=Fraction(0)) / pairs
        return cls(topology, (tuple(sorted(inside)),), into, topology.num_compute * rate_gb_s)

    @classmethod
    def of_hops(cls, topology: Topology, sets: Sequence[Iterable[int]]) -> AllToAllBound:
        """Bound by the hops between two or more disjoint sets that together hold all GPUs.

        A hop leaves a set and enters another, directly or over switches outside all sets.
        """
        held = tuple(tuple(sorted(set(one))) for one in sets)
        place = _places(topology, held)
        half_hops = _half_hops(topology, place, len(held))
        gpus = [sum(not topology.nodes[v].is_switch for v in one) for one in held]
        due = sum(
            gpus[tail] * gpus[head] * away
            for tail, row in enumerate(half_hops)
            for head, away in enumerate(row)
        )
        offered = sum(
            (
                link.bandwidth_gb_s * _half(place[link.tail], place[link.head])
                for link in topology.links
            ),
            start=Fraction(0),
        )
        return cls(topology, held, True, topology.num_compute * offered / due)

    def in_words(self) -> str:
        """Return the proof in words."""
        if len(self.sets) > 1:
            single = len(self.sets) == self.topology.num_compute
            what = "GPUs" if single else f"{counted(len(self.sets), 'set')} of GPUs"
            return f"what all hops between {what} take, by what their links carry"
        wide = sum(
            (
                link.bandwidth_gb_s
                for link in self.topology.links
                if (link.head in self.sets[0], link.tail in self.sets[0])
                == (self.into, not self.into)
            ),
            start=Fraction(0),
        )
        verb = "enter" if self.into else "leave"
        return f"what must {verb} {nodes_in_words(self.topology, self.sets[0])} over {rate(wide)}"


def _places(topology: Topology, held: Sequence[Sequence[int]]) -> list[int]:
    place = [_SWITCH] * len(topology.nodes)
    for number, one in enumerate(held):
        for node in one:
            place[node] = number
    return place


def _half(tail: int, head: int) -> int:
    """Return twice the price of a link from one set, or a switch, to another."""
    return 0 if tail == head else (tail != _SWITCH) + (head != _SWITCH)


def _half_hops(topology: Topology, place: Sequence[int], count: int) -> list[list[int]]:
    """Return twice the price of the cheapest path from set to set."""
    spot = [where if where != _SWITCH else count + node for node, where in enumerate(place)]
    after: list[set[int]] = [set() for _ in range(count + len(place))]
    for link in topology.links:
        if spot[link.tail] != spot[link.head]:
            after[spot[link.tail]].add(spot[link.head])
    return [_away(start, after, count) for start in range(count)]


def _away(start: int, after: Sequence[Iterable[int]], count: int) -> list[int]:
    """Search from a set; a link costs 1 for each set at its ends."""
    away, found = {start: 0}, deque([start])
    while found:
        spot = found.popleft()
        for other in after[spot]:
            cost = away[spot] + (spot < count) + (other < count)
            if cost < away.get(other, cost + 1):
                away[other] = cost
                # A link between switches costs 0: as in a 0-1 search, its head goes first.
                (found.append if cost > away[spot] else found.appendleft)(other)
    return [away[head] for head in range(count)]
