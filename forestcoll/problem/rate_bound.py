"""Upper bound on the rate of every one-phase collective on a network, by prices.

Problem: how fast can an allgather, broadcast, reduce-scatter or reduce be at most, on a network
         whose switches may send more than they receive, and whose links may share capacities?
         Prices prove a bound: y_S of node sets S that each miss a GPU, p_s of switches s, g_K of
         shared capacities K, all from 0 up, so that the sum of y_S w(S) is 1. With

             need_e = sum of y_S over the S that e leaves + p_head - p_tail
                      - sum of g_K over the K that hold e

         every rate x is at most

             sum_e b_e max(0, need_e) + sum_K C_K g_K.

Input:   a topology, weights, prices.
Output:  the proven lower bound on 1/x*, exactly.
Cost:    linear in the links and in the sizes of the sets.
Source:  weak duality of the program of :mod:`forestcoll.core.any_network.sub_capacities`. A
         schedule of rate x puts c_e <= b_e on every link: at least x w(S) leave S, a switch
         receives what it sends, the links of K carry C_K at most. Multiply each of these by its
         price and add them up.

In a reduction every link is reversed: e must enter S, and p_tail - p_head takes the place of
p_head - p_tail. One set with the price 1 / w(S) alone is the bound of a cut.

Models. The price of a switch assumes that it forwards each unit once. So a bound that prices no
switch marked ``multicast`` also holds where marked switches multicast and reduce.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.problem.cuts import Cut
from forestcoll.topology.describe import counted, decimal
from forestcoll.topology.model import Topology

__all__ = ["PricedCut", "RateBound", "SharedPrice", "SwitchPrice"]


@dataclass(frozen=True, slots=True)
class PricedCut:
    """A node set S that misses a GPU.

    Parameters
    ----------
    nodes : tuple of int
        Positions, sorted.
    price : Fraction
        y_S, from 0 up.
    """

    nodes: tuple[int, ...]
    price: Fraction


@dataclass(frozen=True, slots=True)
class SwitchPrice:
    """The price p_s of a switch or relay, from 0 up: it sends no more than it receives."""

    switch: int
    price: Fraction


@dataclass(frozen=True, slots=True)
class SharedPrice:
    """The price g_K of the shared capacity of that name, from 0 up."""

    name: str
    price: Fraction


@dataclass(frozen=True)
class RateBound:
    """An upper bound on the rate of every schedule of its model.

    Parameters
    ----------
    switches : tuple of SwitchPrice
        Those not named have the price 0.
    shared : tuple of SharedPrice
        The same.
    weights : tuple of int
        The weight of each rank.
    reduction : bool
        Whether data is summed up on its way to the roots.
    """

    topology: Topology
    cuts: tuple[PricedCut, ...] = field(repr=False)
    switches: tuple[SwitchPrice, ...] = field(repr=False)
    shared: tuple[SharedPrice, ...] = field(repr=False)
    weights: tuple[int, ...]
    reduction: bool = False

    @classmethod
    def of_cut(
        cls, topology: Topology, nodes: Iterable[int], weights: tuple[int, ...], reduction: bool
    ) -> RateBound:
        """Return the bound of a single cut."""
        alone = PricedCut(tuple(sorted(nodes)), Fraction(1))
        return cls(topology, (alone,), (), (), weights, reduction)

    @property
    def covered(self) -> Fraction:
        """Sum of y_S w(S): the price that a schedule pays for each unit of its rate."""
        weight = dict(zip(self.topology.compute, self.weights, strict=True))
        return sum(
            (one.price * sum(weight.get(v, 0) for v in one.nodes) for one in self.cuts),
            start=Fraction(0),
        )

    def link_prices(self) -> list[Fraction]:
        """Return max(0, need_e) of every link, in the order of ``topology.links``."""
        found, unit = self._whole_link_prices()
        exact = {price: Fraction(price, unit) for price in set(found)}
        return [exact[price] for price in found]

    def _whole_link_prices(self) -> tuple[list[int], int]:
        """Return the same in whole units, and the unit: sums of fractions are many times slower.

        Nodes in the same cuts and of the same price are alike, and so are links between them.
        """
        priced: list[PricedCut | SwitchPrice | SharedPrice] = [*self.cuts, *self.switches]
        unit = lcm(*(one.price.denominator for one in (*priced, *self.shared)))
        level = {one.switch: int(one.price * unit) for one in self.switches}
        prices = [int(one.price * unit) for one in self.cuts]
        around: list[set[int]] = [set() for _ in self.topology.nodes]
        for number, one in enumerate(self.cuts):
            for node in one.nodes:
                around[node].add(number)
        sides: dict[tuple[frozenset[int], int], int] = {}
        side = np.array(
            [
                sides.setdefault((frozenset(cuts), level.get(node, 0)), len(sides))
                for node, cuts in enumerate(around)
            ],
            dtype=np.int64,
        )
        tail, head = self.topology.link_ends
        near, far = (head, tail) if self.reduction else (tail, head)
        pairs, place = np.unique(side[near] * len(sides) + side[far], return_inverse=True)
        kinds, needs = list(sides), []
        for inner, outer in zip(
            *(part.tolist() for part in divmod(pairs, len(sides))), strict=True
        ):
            (inside, price), (beyond, due) = kinds[inner], kinds[outer]
            needs.append(sum(prices[i] for i in inside - beyond) + due - price)
        need = [needs[i] for i in place.tolist()]
        for i, charge in self._charged(unit).items():
            need[i] -= charge
        return [max(0, one) for one in need], unit

    def _charged(self, unit: int) -> dict[int, int]:
        """Return the sum of g_K over the shared capacities that hold each link, in whole units."""
        charged: dict[int, int] = {}
        for (members, _), price in zip(
            self.topology.shared_places, self.shared_prices(), strict=True
        ):
            for link in members if price else ():
                charged[link] = charged.get(link, 0) + int(price * unit)
        return charged

    @property
    def inverse_rate(self) -> Fraction:
        """The bound on 1/x*, in s/GB."""
        (prices, unit), (under, widths) = self._whole_link_prices(), self.topology.whole_bandwidths
        links = sum(price * width for price, width in zip(prices, widths, strict=True) if price)
        groups = zip(self.shared_prices(), self.topology.shared, strict=True)
        shared = (price * group.bandwidth_gb_s for price, group in groups)
        return self.covered / sum(shared, start=Fraction(links, unit * under))

    @property
    def algbw_gb_s(self) -> Fraction:
        """The bound on the algorithmic bandwidth, in GB/s."""
        return sum(self.weights) / self.inverse_rate

    def shared_prices(self) -> list[Fraction]:
        """Return g_K of every shared capacity, in the order of ``topology.shared``."""
        price = {one.name: one.price for one in self.shared}
        return [price.get(group.name, Fraction(0)) for group in self.topology.shared]

    def room(self, links: Sequence[Fraction | int], shared: Sequence[Fraction | int]) -> Fraction:
        """Sum price times load over links and shared capacities, in the topology's order."""
        priced = (*self.link_prices(), *self.shared_prices())
        return sum(
            (
                price * amount
                for price, amount in zip(priced, (*links, *shared), strict=True)
                if price
            ),
            start=Fraction(0),
        )

    @property
    def is_single_cut(self) -> bool:
        """Whether it is the bound of a single cut."""
        return len(self.cuts) == 1 and not self.switches and not self.shared

    @property
    def multicast(self) -> bool:
        """Whether it also holds where switches marked ``multicast`` multicast and reduce."""
        return not any(self.topology.nodes[one.switch].multicast for one in self.switches)

    @property
    def model(self) -> str:
        """Return in words which schedules it bounds."""
        if not self.switches:
            return "any schedule"
        marked = any(node.multicast for node in self.topology.nodes)
        if marked and self.multicast:
            return "switches only forward, but for those marked multicast"
        return "switches only forward"

    @property
    def widest(self) -> Cut:
        """The cut with the highest price, the first of several."""
        best = max(self.cuts, key=lambda one: one.price)
        return Cut(self.topology, best.nodes, self.weights, self.reduction)

    def in_words(self) -> list[str]:
        """Describe the cuts, switches and shared capacities with a price, highest prices first.

        Similar cuts, and similar shared capacities, are described by one of them and their number.
        """
        lines = []
        for alike in self._cuts_alike():
            words = alike[-1].in_words()
            lines.append(words if len(alike) == 1 else f"{len(alike)} cuts such as {words}")
        lines += [
            self._switch_in_words(one.switch)
            for one in sorted(self.switches, key=lambda one: -one.price)
        ]
        for names, links, width in self._shared_alike():
            which = names[0] if len(names) == 1 else f"{len(names)} such as {names[0]}"
            lines.append(f"{which}: {counted(links, 'link')} share {decimal(width)} GB/s")
        return lines

    def _cuts_alike(self) -> list[list[Cut]]:
        found: dict[tuple[object, ...], list[Cut]] = {}
        for one in sorted(self.cuts, key=lambda one: (-one.price, one.nodes)):
            cut = Cut(self.topology, one.nodes, self.weights, self.reduction)
            key = (one.price, cut.weight, cut.exit_gb_s, len(cut.exit_links), len(cut.compute))
            found.setdefault(key, []).append(cut)
        return list(found.values())

    def _shared_alike(self) -> list[tuple[list[str], int, Fraction]]:
        capacity = {group.name: group for group in self.topology.shared}
        found: dict[tuple[Fraction, int, Fraction], list[str]] = {}
        for one in sorted(self.shared, key=lambda one: (-one.price, one.name)):
            group = capacity[one.name]
            key = (one.price, len(group.links), group.bandwidth_gb_s)
            found.setdefault(key, []).append(one.name)
        return [(names, links, width) for (_, links, width), names in found.items()]

    def _switch_in_words(self, switch: int) -> str:
        node = self.topology.nodes[switch]
        into = decimal(self.topology.ingress_gb_s[switch])
        out = decimal(self.topology.egress_gb_s[switch])
        if self.reduction:
            return f"{node.kind} {node.name}: of {into} GB/s in, only {out} GB/s can leave"
        return f"{node.kind} {node.name}: of {out} GB/s out, only {into} GB/s enter"
