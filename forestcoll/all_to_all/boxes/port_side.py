"""Ports of boxes in one direction, and what each of them carries.

Problem: divide what the GPUs of a box send to a hub, or receive from it, over the box's ports.
Input:   the ports of all boxes with their bandwidths; the amounts of each GPU.
Output:  the port of every part. A GPU's own port serves it first, and no port carries more than its
         share of all that the box sends; ports at a limit of their own carry that.
Cost:    sorting the parts.
Source:  ours; see ``two_tier_flow``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.all_to_all.boxes.one_way_ports import PortLimits, ports_at_limits
from forestcoll.all_to_all.line_cuts import cut_both, divided, in_order
from forestcoll.all_to_all.two_tiers import Port, TwoTiers

__all__ = ["Parts", "PortSide"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Parts:
    """Data between boxes in parts: sender, receiver, amount, and the ports chosen so far."""

    source: Ints
    target: Ints
    amount: Ints
    hub: Ints
    out: Ints
    into: Ints

    def taken(self, which: Ints) -> Parts:
        """Return the parts at these places, in this order."""
        return Parts(*(getattr(self, name)[which] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class PortSide:
    """The ports of all boxes in one direction, grouped by box and hub.

    Parameters
    ----------
    key : int64 array
        Box and hub of each port as one number; ascending.
    part : int64 array
        Of ``under`` parts of the bandwidth of its box to (or from) the hub, those of each port.
    own : dict
        The port of a rank at a hub, by (rank, hub).
    under : int
        A common denominator of all shares.
    wide : tuple of Fraction
        The bandwidth of each port.
    """

    nodes: int
    key: Ints
    node: Ints
    part: Ints
    own: dict[tuple[int, int], int]
    under: int
    wide: tuple[Fraction, ...]
    # what ports at a limit carry, which share in nothing else; -1 for all others
    fixed: Ints

    @classmethod
    def of(cls, tiers: TwoTiers, width: Callable[[Port], Fraction]) -> PortSide:
        """Return the ports that have a width, each with its share of its box's to the hub."""
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
        share = [wide / total[key] for key, _, wide in rows]
        under = math.lcm(*(one.denominator for one in share))
        return cls(
            nodes,
            np.array([key for key, _, _ in rows], dtype=np.int64),
            np.array([node for _, node, _ in rows], dtype=np.int64),
            np.array([int(one * under) for one in share], dtype=np.int64),
            {
                (rank_of[node], key % nodes): place
                for place, (key, node, _) in enumerate(rows)
                if node in rank_of
            },
            under,
            tuple(wide for _, _, wide in rows),
            np.full(len(rows), -1, dtype=np.int64),
        )

    def limited(
        self, box: Ints, across: Ints, must: frozenset[int], alone: frozenset[int]
    ) -> PortSide | None:
        """Return the ports with what they carry where some GPUs need theirs; for one hub.

        Parameters
        ----------
        across : int64 array
            What crosses the ports for each rank.
        must : frozenset of int
            Ranks all of whose data crosses their own port.
        alone : frozenset of int
            Ranks whose port only their own data crosses.
        """
        fixed, part = self.fixed.copy(), [Fraction(0)] * len(self.key)
        for rank in must:
            if across[rank] and not any(owner == rank for owner, _ in self.own):
                return None
        owner = {place: rank for (rank, _), place in self.own.items()}
        for key in np.unique(self.key).tolist():
            places = np.flatnonzero(self.key == key).tolist()
            ranks = [owner.get(place, -1) for place in places]
            limits = [
                PortLimits(
                    self.wide[place],
                    int(across[rank]) if rank in must else 0,
                    int(across[rank]) if rank in alone else None,
                )
                for place, rank in zip(places, ranks, strict=True)
            ]
            found = ports_at_limits(int(across[box == key // self.nodes].sum()), limits)
            if found is None:
                return None
            free = sum(
                (limit.wide for limit, load in zip(limits, found, strict=True) if load is None),
                start=Fraction(0),
            )
            for place, load in zip(places, found, strict=True):
                if load is None:
                    part[place] = self.wide[place] / free
                else:
                    fixed[place] = load
        under = math.lcm(*(one.denominator for one in part))
        parts = np.array([int(one * under) for one in part], dtype=np.int64)
        return replace(self, part=parts, under=under, fixed=fixed)

    def scaled(self, whole: int) -> PortSide:
        """Return the ports for amounts in 1 / whole."""
        if (self.fixed < 0).all():
            return self
        return replace(self, fixed=np.where(self.fixed < 0, -1, self.fixed * whole))

    def reaches(self, boxes: Ints) -> bool:
        """Whether all of these boxes have a port."""
        return bool(np.isin(boxes, self.key // self.nodes).all())

    def chosen(self, parts: Parts, end: str, into: str, box: Ints) -> Parts:
        """Choose the port of every part at one of its ends."""
        rank = getattr(parts, end)
        group = box[rank] * self.nodes + parts.hub
        line = group * len(box) + rank
        order = in_order(line, (int(box.max()) + 1) * self.nodes * len(box))
        parts, line, group = parts.taken(order), line[order], group[order]
        first = np.flatnonzero(np.diff(line, prepend=-1))
        amount = np.add.reduceat(parts.amount, first)
        _, port, part = self._divided(
            getattr(parts, end)[first], parts.hub[first], group[first], amount
        )
        segment, piece, size = cut_both(parts.amount, part)
        return replace(parts.taken(segment), amount=size, **{into: self.node[port[piece]]})

    def shared_out(self, box: Ints, hub: int, across: Ints) -> tuple[Ints, Ints, Ints]:
        """Divide what ranks have in all over the ports to one hub: rank, port, amount of each."""
        group = box * self.nodes + hub
        rank = in_order(group * len(box) + np.arange(len(box)), int(group.max() + 1) * len(box))
        rank = rank[across[rank] > 0]
        if not len(rank):
            return rank, rank, rank
        row, port, part = self._divided(rank, np.full(len(rank), hub), group[rank], across[rank])
        return rank[row], self.node[port], part

    def _divided(self, rank: Ints, hub: Ints, group: Ints, amount: Ints) -> tuple[Ints, Ints, Ints]:
        """Divide rows over the ports of their groups, which ascend: row, port, amount of each."""
        rows = zip(rank.tolist(), hub.tolist(), strict=True)
        own = np.array([self.own.get(row, -1) for row in rows], dtype=np.int64)
        left = _room(group, amount, self.key)
        held = np.maximum(self.fixed, 0)
        if held.any():
            _, place = np.unique(self.key, return_inverse=True)
            left = left - np.bincount(place, held)[place].astype(np.int64)
        room = np.where(self.fixed < 0, left // self.under * self.part, held)
        return divided(amount, group, own, room, self.key)


def _room(group: Ints, amount: Ints, key: Ints) -> Ints:
    """Return what the rows of each port's group have in all; groups and keys ascend."""
    first = np.flatnonzero(np.diff(group, prepend=-1))
    names, sums = group[first], np.add.reduceat(amount, first)
    place = np.minimum(np.searchsorted(names, key), len(names) - 1)
    return np.where(names[place] == key, sums[place], 0)
