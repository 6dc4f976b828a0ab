"""All-to-alls of any amounts on boxes and hubs: paths at once, and the cut that proves them.

Problem: who has how much for whom, on a cluster of boxes; in milliseconds, not by a program.
Input:   a network of two tiers, the amounts of all pairs.
Output:  a flow schedule, with the narrowest of the cuts around one GPU or one box as its bound;
         None where boxes divide their bandwidth over the hubs in different proportions.
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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.all_to_all.line_cuts import cut_both, divided
from forestcoll.all_to_all.two_tiers import Port, TwoTiers
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound, boundary_prices
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = ["METHOD", "narrowest_cut", "two_tier_flow"]

METHOD = "two tiers"

Ints = npt.NDArray[np.int64]

_MOST = 2**62


@dataclass(frozen=True, slots=True)
class _Parts:
    """Data between boxes in parts: sender, receiver, amount, and the ports chosen so far."""

    source: Ints
    target: Ints
    amount: Ints
    hub: Ints
    out: Ints
    into: Ints

    def taken(self, which: Ints) -> _Parts:
        return _Parts(*(getattr(self, name)[which] for name in self.__slots__))


def two_tier_flow(
    tiers: TwoTiers, amounts: Ints, demand: Demand | None = None
) -> FlowSchedule | None:
    """Return a schedule of these amounts.

    Parameters
    ----------
    amounts : int64 array of shape (N, N)
        With zeros on the diagonal, of a sum that fits 64 bits; in any unit.
    demand : Demand, optional
        The demand whose matrix this is; None if all amounts are 1.
    """
    box = np.array(tiers.box, dtype=np.int64)
    source, target = (ends.astype(np.int64) for ends in np.nonzero(amounts))
    across = box[source] != box[target]
    ports = _Ports.of(tiers)
    shares = _hub_shares(tiers, np.unique(box[source[across]]), np.unique(box[target[across]]))
    if shares is None:
        return None
    whole = math.lcm(*(share.denominator for share in shares.values()))
    whole *= math.lcm(ports.out.under, ports.into.under)  # of each hub's part, whole shares
    if whole * int(amounts.sum()) >= _MOST:
        return None
    nobody = np.full(len(source), -1, dtype=np.int64)
    parts = _Parts(source, target, amounts[source, target] * whole, nobody, nobody, nobody)
    inside, outside = (parts.taken(np.flatnonzero(which)) for which in (~across, across))
    if len(outside.source):
        outside = _over_hubs(outside, box, shares, ports)
        outside = ports.out.chosen(outside, "source", "out", box)
        outside = ports.into.chosen(outside, "target", "into", box)
    routes = _routes(tiers, ports, inside, outside)
    return FlowSchedule(tiers.topology, METHOD, whole, routes, demand)


def narrowest_cut(tiers: TwoTiers, amounts: Ints, demand: Demand | None = None) -> PriceBound:
    """Return the bound of the cut around a GPU or a box that binds most: price 1 for its links."""
    topology, boxes = tiers.topology, len(tiers.switch)
    leaving, entering = _widths(topology)
    candidates: list[tuple[int, Fraction, tuple[int, ...], bool]] = [
        (int(total), width, (gpu,), into)
        for totals, widths, into in (
            (amounts.sum(axis=1), leaving, False),
            (amounts.sum(axis=0), entering, True),
        )
        for total, gpu, width in zip(totals.tolist(), topology.compute, widths, strict=True)
    ]
    order = np.argsort(np.array(tiers.box), kind="stable")
    first = np.searchsorted(np.array(tiers.box)[order], np.arange(boxes))
    among = np.add.reduceat(amounts[order], first, axis=0)
    among = np.add.reduceat(among[:, order], first, axis=1)
    np.fill_diagonal(among, 0)
    for number, ports in enumerate(tiers.ports):
        nodes = tuple(sorted({*tiers.nodes_of(number), *(port.node for port in ports)}))
        up, down = (
            Fraction(sum(wide)) for wide in ([p.up for p in ports], [p.down for p in ports])
        )
        candidates.append((int(among[number].sum()), up, nodes, False))
        candidates.append((int(among[:, number].sum()), down, nodes, True))
    binding = (one for one in candidates if one[0] and one[1])
    total, width, nodes, into = max(binding, key=lambda one: one[0] / one[1])
    price = boundary_prices(topology, nodes, into=into)
    return PriceBound(topology, demand, tuple(price), Fraction(total) / width)


def _widths(topology: Topology) -> tuple[list[Fraction], list[Fraction]]:
    """Return the bandwidth out of and into each GPU, by rank."""
    leaving = {gpu: Fraction(0) for gpu in topology.compute}
    entering = dict(leaving)
    for link in topology.links:
        if link.tail in leaving:
            leaving[link.tail] += link.bandwidth_gb_s
        if link.head in entering:
            entering[link.head] += link.bandwidth_gb_s
    return list(leaving.values()), list(entering.values())


def _hub_shares(tiers: TwoTiers, senders: Ints, receivers: Ints) -> dict[int, Fraction] | None:
    """Return each hub's share of the bandwidth of every box; None if boxes differ in it."""
    rows = []
    for boxes, up in ((senders, True), (receivers, False)):
        for number in boxes.tolist():
            by_hub: dict[int, Fraction] = {}
            for port in tiers.ports[number]:
                by_hub.setdefault(port.hub, Fraction(0))
                by_hub[port.hub] += port.up if up else port.down
            total = sum(by_hub.values())
            if not total:
                return None
            rows.append({hub: wide / total for hub, wide in by_hub.items() if wide})
    if not rows:
        return {0: Fraction(1)}
    return rows[0] if all(row == rows[0] for row in rows) else None


@dataclass(frozen=True, slots=True)
class _Side:
    """The ports of all boxes in one direction, grouped by box and hub.

    Parameters
    ----------
    key : int64 array
        Box and hub of each port as one number; ascending.
    share : tuple of Fraction
        Of each port, in the bandwidth of its box to (or from) the hub.
    own : dict
        The port of a rank at a hub, by (rank, hub).
    under : int
        A common denominator of all shares.
    """

    nodes: int
    key: Ints
    node: Ints
    share: tuple[Fraction, ...]
    own: dict[tuple[int, int], int]
    under: int

    @classmethod
    def of(cls, tiers: TwoTiers, width: Callable[[Port], Fraction]) -> _Side:
        nodes = len(tiers.topology.nodes)
        rows = sorted(
            (number * nodes + port.hub, port.node, width(port))
            for number, ports in enumerate(tiers.ports)
            for port in ports
            if width(port)
        )
        total: dict[int, Fraction] = {}
        for key, _, wide in rows:
            total[key] = total.get(key, Fraction(0)) + wide
        rank_of = tiers.topology.rank_of
        share = tuple(wide / total[key] for key, _, wide in rows)
        return cls(
            nodes,
            np.array([key for key, _, _ in rows], dtype=np.int64),
            np.array([node for _, node, _ in rows], dtype=np.int64),
            share,
            {
                (rank_of[node], key % nodes): place
                for place, (key, node, _) in enumerate(rows)
                if node in rank_of
            },
            math.lcm(*(one.denominator for one in share)),
        )

    def chosen(self, parts: _Parts, end: str, into: str, box: Ints) -> _Parts:
        """Choose the port of every part at one of its ends."""
        rank = getattr(parts, end)
        group = box[rank] * self.nodes + parts.hub
        line = group * len(box) + rank
        order = np.argsort(line, kind="stable")
        parts, line, group = parts.taken(order), line[order], group[order]
        first = np.flatnonzero(np.diff(line, prepend=-1))
        amount = np.add.reduceat(parts.amount, first)
        rows = list(
            zip(getattr(parts, end)[first].tolist(), parts.hub[first].tolist(), strict=True)
        )
        own = np.array([self.own.get(row, -1) for row in rows], dtype=np.int64)
        total = _totals(group[first], amount, self.key)
        room = np.array(
            [int(share * due) for share, due in zip(self.share, total, strict=True)], dtype=np.int64
        )
        _, port, part = divided(amount, group[first], own, room, self.key)
        segment, piece, size = cut_both(parts.amount, part)
        return replace(parts.taken(segment), amount=size, **{into: self.node[port[piece]]})


def _totals(group: Ints, amount: Ints, key: Ints) -> list[int]:
    """Return what the rows of each port's group have in all."""
    names, place = np.unique(group, return_inverse=True)
    sums = np.zeros(len(names), dtype=np.int64)
    np.add.at(sums, place, amount)
    by_name = dict(zip(names.tolist(), sums.tolist(), strict=True))
    return [by_name.get(one, 0) for one in key.tolist()]


@dataclass(frozen=True, slots=True)
class _Ports:
    """The ports of all boxes, both ways."""

    out: _Side
    into: _Side

    @classmethod
    def of(cls, tiers: TwoTiers) -> _Ports:
        return cls(_Side.of(tiers, lambda port: port.up), _Side.of(tiers, lambda port: port.down))


def _over_hubs(parts: _Parts, box: Ints, shares: dict[int, Fraction], ports: _Ports) -> _Parts:
    """Divide what each box has for each other over the hubs, at the receiver's own ones first."""
    hubs = sorted(shares)
    if len(hubs) == 1:
        return replace(parts, hub=np.full(len(parts.source), hubs[0], dtype=np.int64))
    boxes = int(box.max()) + 1
    pair = box[parts.source] * boxes + box[parts.target]
    line = pair * len(box) + parts.target
    order = np.argsort(line, kind="stable")
    parts, line, pair = parts.taken(order), line[order], pair[order]
    first = np.flatnonzero(np.diff(line, prepend=-1))
    amount = np.add.reduceat(parts.amount, first)
    names, place = np.unique(pair[first], return_inverse=True)
    total = np.zeros(len(names), dtype=np.int64)
    np.add.at(total, place, amount)
    part = np.array([shares[hub].as_integer_ratio() for hub in hubs], dtype=np.int64)
    room = (total[:, None] // part[:, 1] * part[:, 0]).reshape(-1)
    at = np.full(len(box), -1, dtype=np.int64)
    for rank, beside in ports.into.own:
        at[rank] = hubs.index(beside)
    mine = at[parts.target[first]]
    own = np.where(mine >= 0, place * len(hubs) + mine, -1)
    group = np.repeat(np.arange(len(names)), len(hubs))
    _, port, size = divided(amount, place.astype(np.int64), own, room, group)
    segment, piece, amount = cut_both(parts.amount, size)
    hub = np.array(hubs, dtype=np.int64)[port[piece] % len(hubs)]
    return replace(parts.taken(segment), amount=amount, hub=hub)


def _routes(tiers: TwoTiers, ports: _Ports, inside: _Parts, outside: _Parts) -> Routes:
    """Write the paths: sender, box switch, port, hub, port, box switch, receiver; -1: left out."""
    gpu = np.array(tiers.topology.compute, dtype=np.int64)
    switch = np.array(tiers.switch, dtype=np.int64)[np.array(tiers.box)]
    none = np.full(len(inside.source), -1, dtype=np.int64)
    near = [gpu[inside.source], switch[inside.source], none, none, none, none, gpu[inside.target]]
    far = [
        gpu[outside.source], *_way(gpu, switch, outside.source, outside.out), outside.hub,
        *_way(gpu, switch, outside.target, outside.into)[::-1], gpu[outside.target],
    ]  # fmt: skip
    source = np.concatenate([inside.source, outside.source])
    target = np.concatenate([inside.target, outside.target])
    order = np.argsort(source * len(gpu) + target, kind="stable")
    source, target = source[order], target[order]
    amount = np.concatenate([inside.amount, outside.amount])[order]
    hops = np.stack([np.concatenate(both) for both in zip(near, far, strict=True)], axis=1)[order]
    there = hops >= 0
    new = np.flatnonzero(np.diff(source * len(gpu) + target, prepend=-1))
    return Routes(
        tail=source[new].astype(np.int32),
        head=target[new].astype(np.int32),
        first_path=np.append(new, len(source)).astype(np.int64),
        multiplicity=amount,
        first_hop=np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64),
        hop=hops[there].astype(np.int32),
    )


def _way(gpu: Ints, switch: Ints, rank: Ints, port: Ints) -> Sequence[Ints]:
    """Return the nodes between a GPU and a hub: the box's switch and the port, or -1."""
    direct = port == gpu[rank]
    over = np.where(direct, -1, switch[rank])
    return over, np.where(direct | (port == over), -1, port)
