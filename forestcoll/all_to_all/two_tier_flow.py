"""All-to-alls of any amounts on boxes and hubs: paths at once, and the cut that proves them.

Problem: who has how much for whom, on a cluster of boxes; in milliseconds, not by a program.
Input:   a network of two tiers, the amounts of all pairs.
Output:  a flow schedule, with the narrowest of the cuts around one GPU or one box as its bound;
         None where no division over the hubs is known to keep a box's ports equally busy.
Cost:    sorting the pairs; at most a few paths a pair.
Source:  ours. In a box data goes over its switch. Between boxes it leaves by a port of the sender's
         box and comes in by a port of the receiver's: the own port, if there is one, as long as no
         port carries more than its share of all that the box sends or receives. So the busiest
         port is as busy as the cut around the box allows. The excess goes over the box's switch to
         another port.

The bound is met unless the switch of a box binds, which carries that excess besides its own.
:mod:`forestcoll.all_to_all.best_flow` then takes the program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.all_to_all.attained import MOST
from forestcoll.all_to_all.boxes.hub_division import DividedData, HubDivision
from forestcoll.all_to_all.boxes.port_side import Parts, PortSide
from forestcoll.all_to_all.line_cuts import cut_both, divided, in_order
from forestcoll.all_to_all.two_tiers import TwoTiers
from forestcoll.errors import DisconnectedError
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound, boundary_prices
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Routes

__all__ = ["METHOD", "TwoTierRouter"]

METHOD = "two tiers"

Ints = npt.NDArray[np.int64]
_AnyInts = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True)
class _Cut:
    """The boundary of a GPU or a box: its nodes, the direction, its width in whole units."""

    nodes: tuple[int, ...]
    into: bool
    width: int


@dataclass(frozen=True, slots=True)
class TwoTierRouter:
    """All that routing needs to know of a network, computed once for any number of demands.

    Parameters
    ----------
    box : int64 array
        The box of each rank.
    out, into : PortSide
        The ports of all boxes, both ways.
    hubs : HubDivision, optional
        How the boxes divide their bandwidth over the hubs; None if they differ in several.
    cuts : tuple of _Cut
        Out of and into each GPU by rank, then each box.
    unit_gb_s : Fraction
        Of the cuts' widths.
    """

    tiers: TwoTiers
    box: Ints = field(repr=False)
    out: PortSide = field(repr=False)
    into: PortSide = field(repr=False)
    hubs: HubDivision | None
    cuts: tuple[_Cut, ...] = field(repr=False)
    unit_gb_s: Fraction

    @classmethod
    def of(cls, tiers: TwoTiers) -> TwoTierRouter:
        """Compute what depends on the network alone."""
        cuts, unit = _cuts(tiers)
        return cls(
            tiers=tiers,
            box=np.array(tiers.box, dtype=np.int64),
            out=PortSide.of(tiers, lambda port: port.up),
            into=PortSide.of(tiers, lambda port: port.down),
            hubs=HubDivision.of(tiers.ports),
            cuts=cuts,
            unit_gb_s=unit,
        )

    def flow(
        self, amounts: Ints, demand: Demand | None = None, *, most: int = MOST
    ) -> FlowSchedule | None:
        """Return a schedule of these amounts; None if this routing cannot make one.

        Its paths are written when they are first asked for.

        Parameters
        ----------
        amounts : int64 array of shape (N, N)
            With zeros on the diagonal, of a sum that fits 64 bits; in any unit.
        demand : Demand, optional
            The demand whose matrix this is; None if all amounts are 1.
        most : int
            Limit of the weights of all paths together.
        """
        if self.hubs is None:
            return None
        total = self._totals(amounts)
        leaving, entering = (self.box[ranks > 0] for ranks in total.across)
        if not (self.out.reaches(leaving) and self.into.reaches(entering)):
            return None
        sides = self._sides(total)
        if sides is None:
            return None
        divided = self.hubs.divided(self._between(amounts))
        if divided is None:
            return None
        # Whole shares of the ports, of whole shares of the hubs.
        whole = divided.under * math.lcm(*(side.under for side in sides))
        if whole * int(amounts.sum()) >= most:
            return None
        return FlowSchedule(
            topology=self.tiers.topology,
            method=METHOD,
            whole=whole,
            routes=Routes.later(lambda: self._routes(amounts, whole, divided, sides)),
            demand=demand,
        )

    def _between(self, amounts: Ints) -> Ints:
        """Return the amounts between boxes, if their division over the hubs depends on them."""
        boxes = len(self.tiers.switch)
        between = np.zeros((boxes, boxes), dtype=np.int64)
        if self.hubs is not None and self.hubs.odd >= 0:
            source, target = np.nonzero(amounts)
            np.add.at(between, (self.box[source], self.box[target]), amounts[source, target])
            np.fill_diagonal(between, 0)
        return between

    def _sides(self, total: _Totals) -> tuple[PortSide, PortSide] | None:
        """Return the ports both ways, for these amounts; None if some port cannot serve its GPU."""
        if not (self.tiers.no_uplink or self.tiers.no_downlink):
            return self.out, self.into
        if self.hubs is None or len(self.hubs.hubs) > 1:
            return None
        up, down = self.tiers.no_uplink, self.tiers.no_downlink
        out = self.out.limited(self.box, total.across[0], up, down)
        into = self.into.limited(self.box, total.across[1], down, up)
        return None if out is None or into is None else (out, into)

    def _routes(
        self, amounts: Ints, whole: int, divided: DividedData, sides: tuple[PortSide, PortSide]
    ) -> Routes:
        box = self.box
        source, target = np.nonzero(amounts)
        across = (box[source] != box[target]) | self._over_hub(source, target)
        nobody = np.full(len(source), -1, dtype=np.int64)
        parts = Parts(source, target, amounts[source, target] * whole, nobody, nobody, nobody)
        inside, outside = (parts.taken(np.flatnonzero(which)) for which in (~across, across))
        if len(outside.source):
            out, into = sides
            outside = _over_hubs(outside, box, divided, whole, into)
            outside = out.scaled(whole).chosen(outside, "source", "out", box)
            outside = into.scaled(whole).chosen(outside, "target", "into", box)
        return _routes(self.tiers, inside, outside)

    def _over_hub(self, source: Ints, target: Ints) -> npt.NDArray[np.bool_]:
        """Return which pairs, even of one box, cannot use the box's switch."""
        no_uplink, no_downlink = np.zeros((2, len(self.box)), dtype=np.bool_)
        no_uplink[list(self.tiers.no_uplink)] = True
        no_downlink[list(self.tiers.no_downlink)] = True
        return no_uplink[source] | no_downlink[target]

    def loads(self, amounts: Ints, whole: int) -> list[int] | None:
        """Return the load of every link, of a schedule with such a whole; None with several hubs.

        With one hub, it is known from what each GPU sends and receives in all.
        """
        assert self.hubs is not None  # else there is no schedule
        if len(self.hubs.hubs) > 1:
            return None
        topology, total = self.tiers.topology, self._totals(amounts)
        sides = self._sides(total)
        assert sides is not None  # else there is no schedule
        gpu, hub = np.array(topology.compute), self.hubs.hubs[0]
        switch = np.array(self.tiers.switch)[self.box]
        hops: list[tuple[_AnyInts, _AnyInts, _AnyInts]] = []
        for side, inside, across, outward in (
            (sides[0], total.inside[0], total.across[0], True),
            (sides[1], total.inside[1], total.across[1], False),
        ):
            rank, port, amount = side.scaled(whole).shared_out(self.box, hub, across * whole)
            there = np.full(len(rank), hub)
            first, second = _way(gpu[rank], switch[rank], port)
            near = np.where(second >= 0, second, np.where(first >= 0, first, gpu[rank]))
            for one, other, size in (
                (gpu[rank], first, amount),
                (first, second, amount),
                (near, there, amount),
                (gpu, switch, inside * whole),
            ):
                hops.append((one, other, size) if outward else (other, one, size))
        tail, head, size = (np.concatenate(column) for column in zip(*hops, strict=True))
        used = (tail >= 0) & (head >= 0) & (size > 0)
        nodes, ends = len(topology.nodes), topology.link_ends
        link = np.searchsorted(
            ends[0].astype(np.int64) * nodes + ends[1], tail[used] * nodes + head[used]
        )
        load = np.zeros(len(topology.links), dtype=np.int64)
        np.add.at(load, link, size[used])
        found: list[int] = load.tolist()
        return found

    def _totals(self, amounts: Ints) -> _Totals:
        total = _Totals.of(amounts, self.box, len(self.tiers.switch))
        if not (self.tiers.no_uplink or self.tiers.no_downlink):
            return total
        source, target = np.nonzero(amounts)
        same = (self.box[source] == self.box[target]) & self._over_hub(source, target)
        return total.moved(source[same], target[same], amounts[source[same], target[same]])

    def narrowest_cut(self, amounts: Ints, demand: Demand | None = None) -> PriceBound:
        """Return the bound of the cut of a GPU or a box that binds most: price 1 for its links.

        Raises
        ------
        DisconnectedError
            If data must leave or enter a GPU or a box that has no link in this direction.
        """
        best, most = self._narrowest(amounts)
        price = boundary_prices(self.tiers.topology, best.nodes, into=best.into)
        rate = Fraction(most, best.width) / self.unit_gb_s
        return PriceBound(self.tiers.topology, demand, tuple(price), rate)

    def binding_set(self, amounts: Ints) -> tuple[tuple[int, ...], bool]:
        """Return the nodes of that cut, and whether what enters it binds."""
        best, _ = self._narrowest(amounts)
        return best.nodes, best.into

    def _narrowest(self, amounts: Ints) -> tuple[_Cut, int]:
        """Return the cut that binds most, and what crosses it."""
        total = self._totals(amounts)
        of_gpus = [one + other for one, other in zip(total.inside, total.across, strict=True)]
        boxes = len(self.tiers.switch)
        of_boxes = [np.zeros(boxes, dtype=np.int64), np.zeros(boxes, dtype=np.int64)]
        for sums, across in zip(of_boxes, total.across, strict=True):
            np.add.at(sums, self.box, across)
        crossing = [
            one
            for each in (of_gpus, of_boxes)
            for both in zip(each[0].tolist(), each[1].tolist(), strict=True)
            for one in both
        ]
        # The first that is compared wins against this, a width of 1 that nothing crosses.
        best, most = _Cut((), False, 1), 0
        more = list(self._cuts_without(total))
        for cut, crosses in [*zip(self.cuts, crossing, strict=True), *more]:
            if crosses and not cut.width:
                node = self.tiers.topology.nodes[cut.nodes[0]].name
                way = "receive" if cut.into else "send"
                raise DisconnectedError(
                    f"{node} must {way} data over links that its GPU or box does not have"
                )
            if crosses * best.width > most * cut.width:
                best, most = cut, crosses
        return best, most

    def _cuts_without(self, total: _Totals) -> Iterator[tuple[_Cut, int]]:
        """Yield cuts around boxes without GPUs whose ports are of no use to the others.

        What enters over the port of a GPU without a link to its switch stays there; so, in the
        other direction, with one without a link from it. They are left out one by one: those with
        the least data for their bandwidth first.
        """
        tiers, under = self.tiers, Fraction(1) / self.unit_gb_s
        for ranks, into in ((tiers.no_uplink, True), (tiers.no_downlink, False)):
            across, gpu = total.across[into], tiers.topology.compute
            for number in sorted({int(self.box[rank]) for rank in ranks}):
                wide: dict[int, Fraction] = {}
                for port in tiers.ports[number]:
                    wide[port.node] = wide.get(port.node, Fraction(0)) + (
                        port.down if into else port.up
                    )
                there = [rank for rank in ranks if self.box[rank] == number and wide[gpu[rank]]]
                there.sort(key=lambda rank: (Fraction(int(across[rank])) / wide[gpu[rank]], rank))
                nodes, width = tiers.nodes_of(number), sum(wide.values(), start=Fraction(0))
                crosses = int(across[self.box == number].sum())
                for rank in there:
                    nodes = [v for v in nodes if v != gpu[rank]]
                    width -= wide[gpu[rank]]
                    crosses -= int(across[rank])
                    yield _Cut(tuple(nodes), into, int(width * under)), crosses


@dataclass(frozen=True, slots=True)
class _Totals:
    """What each rank sends and receives, in its box and across: two arrays each."""

    inside: tuple[Ints, Ints]
    across: tuple[Ints, Ints]

    @classmethod
    def of(cls, amounts: Ints, box: Ints, boxes: int) -> _Totals:
        order, ranks = in_order(box, boxes), np.arange(len(box))
        first = np.searchsorted(box[order], np.arange(boxes))
        by_source = by_target = amounts
        if not np.array_equal(order, ranks):  # else no copies
            by_source, by_target = amounts[order], amounts[:, order]
        out = np.add.reduceat(by_target, first, axis=1)
        into = np.add.reduceat(by_source, first, axis=0)
        inside = out[ranks, box], into[box, ranks]
        return cls(inside, (out.sum(axis=1) - inside[0], into.sum(axis=0) - inside[1]))

    def moved(self, source: Ints, target: Ints, amount: Ints) -> _Totals:
        """Return the totals with pairs of one box that go over the hub as those of two boxes do."""
        more = np.zeros((2, len(self.across[0])), dtype=np.int64)
        np.add.at(more[0], source, amount)
        np.add.at(more[1], target, amount)
        (first, second), (out, into) = self.inside, self.across
        return _Totals((first - more[0], second - more[1]), (out + more[0], into + more[1]))


def _cuts(tiers: TwoTiers) -> tuple[tuple[_Cut, ...], Fraction]:
    """Return the boundaries of all GPUs and boxes, outwards and inwards, and their unit in GB/s."""
    topology = tiers.topology
    under, widths = topology.whole_bandwidths
    leaving, entering = [0] * len(topology.nodes), [0] * len(topology.nodes)
    for link, width in zip(topology.links, widths, strict=True):
        leaving[link.tail] += width
        entering[link.head] += width
    cuts = []
    for gpu in topology.compute:
        cuts += [_Cut((gpu,), False, leaving[gpu]), _Cut((gpu,), True, entering[gpu])]
    for number, ports in enumerate(tiers.ports):
        nodes = tuple(tiers.nodes_of(number))
        for into in (False, True):
            wide = sum((port.down if into else port.up for port in ports), start=Fraction(0))
            cuts.append(_Cut(nodes, into, int(wide * under)))
    return tuple(cuts), Fraction(1, under)


def _over_hubs(
    parts: Parts, box: Ints, divided_data: DividedData, whole: int, into: PortSide
) -> Parts:
    """Divide what each box has for each other over the hubs, at the receiver's own ones first."""
    hubs = list(divided_data.hubs)
    if len(hubs) == 1:
        return replace(parts, hub=np.full(len(parts.source), hubs[0], dtype=np.int64))
    boxes = int(box.max()) + 1
    pair = box[parts.source] * boxes + box[parts.target]
    line = pair * len(box) + parts.target
    order = in_order(line, boxes * boxes * len(box))
    parts, line, pair = parts.taken(order), line[order], pair[order]
    first = np.flatnonzero(np.diff(line, prepend=-1))
    amount = np.add.reduceat(parts.amount, first)
    new = np.diff(pair[first], prepend=-1) != 0
    place = np.cumsum(new) - 1  # pairs of boxes ascend
    total = np.add.reduceat(amount, np.flatnonzero(new))
    room = divided_data.rooms(pair[first][new], total, whole).reshape(-1)
    at = np.full(len(box), -1, dtype=np.int64)
    for rank, beside in into.own:
        at[rank] = hubs.index(beside)
    mine = at[parts.target[first]]
    own = np.where(mine >= 0, place * len(hubs) + mine, -1)
    group = np.repeat(np.arange(len(total)), len(hubs))
    _, port, size = divided(amount, place.astype(np.int64), own, room, group)
    segment, piece, amount = cut_both(parts.amount, size)
    hub = np.array(hubs, dtype=np.int64)[port[piece] % len(hubs)]
    return replace(parts.taken(segment), amount=amount, hub=hub)


def _routes(tiers: TwoTiers, inside: Parts, outside: Parts) -> Routes:
    """Write the paths: sender, box switch, port, hub, port, box switch, receiver; -1: left out."""
    gpu = np.array(tiers.topology.compute, dtype=np.int32)
    switch = np.array(tiers.switch, dtype=np.int32)[np.array(tiers.box)]
    source = np.concatenate([inside.source, outside.source])
    target = np.concatenate([inside.target, outside.target])
    order = in_order(source * len(gpu) + target, len(gpu) ** 2)
    source, target, near = source[order], target[order], order < len(inside.source)
    amount, hub, out, into = (
        np.concatenate([getattr(inside, name), getattr(outside, name)])[order]
        for name in ("amount", "hub", "out", "into")
    )
    hops = np.empty((len(source), 7), dtype=np.int32)
    hops[:, 0], hops[:, 3], hops[:, 6] = gpu[source], hub, gpu[target]
    hops[:, 1], hops[:, 2] = _way(hops[:, 0], switch[source], out)
    hops[:, 5], hops[:, 4] = _way(hops[:, 6], switch[target], into)
    hops[near, 1] = switch[source[near]]
    hops[near, 2:6] = -1
    there = hops >= 0
    new = np.flatnonzero(np.diff(source * len(gpu) + target, prepend=-1))
    return Routes(
        tail=source[new].astype(np.int32),
        head=target[new].astype(np.int32),
        first_path=np.append(new, len(source)).astype(np.int64),
        multiplicity=amount,
        first_hop=np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64),
        hop=hops[there],
    )


def _way(gpu: _AnyInts, switch: _AnyInts, port: _AnyInts) -> tuple[_AnyInts, _AnyInts]:
    """Return the nodes between a GPU and a hub: the box's switch and the port, or -1."""
    direct = port == gpu
    return np.where(direct, -1, switch), np.where(direct | (port == switch), -1, port)
