"""Division of the data between boxes over several hubs, such as the switches of rails.

Problem: how much does each box send to each other over each hub, so that no port of a box is
         busier than all its ports together must be?
Input:   the bandwidths of the boxes to and from the hubs; the amounts between boxes.
Output:  for each pair of boxes the amount over each hub, in whole parts; None if there is no such
         division, or none is known.
Cost:    nothing where all boxes divide their bandwidth alike: so does the data. Else a flow
         between as many nodes as there are boxes, which starts near its end.
Source:  ours. Where boxes differ in the share of one hub alone, as a rail on which a box lacks a
         NIC, the data over that hub is an unknown of each pair, bounded below and above for each
         box by what its other ports take, and what its port there does: a flow with lower bounds.
         Equal ports of which one is missing always have one (docs/mathematics/all-to-all.md).

Where boxes differ in several hubs, an unknown has three indices: sender, receiver and hub. There
the cuts around boxes may be attained by no division, and the program is left to decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.all_to_all.two_tiers import Port

__all__ = ["DividedData", "HubDivision"]

Ints = npt.NDArray[np.int64]

_Widths = tuple[tuple[Fraction, Fraction], ...]
"""Of each box, to or from the odd hub and all others; 0 for a box without ports."""


@dataclass(frozen=True, slots=True)
class DividedData:
    """How the data between boxes is divided over the hubs.

    Parameters
    ----------
    hubs : tuple of int
        Ascending.
    shares : tuple of Fraction
        Of what is not over the odd hub, over each hub; 0 for the odd one.
    under : int
        All parts of the amounts are whole multiples of 1 / under.
    odd : int
        The place among the hubs of the one in which boxes differ; -1 if there is none.
    over : int64 array, optional
        Of each pair of boxes, what goes over the odd hub, in 1 / unit.
    unit : int
    """

    hubs: tuple[int, ...]
    shares: tuple[Fraction, ...]
    under: int
    odd: int = -1
    over: Ints | None = field(default=None, repr=False)
    unit: int = 1

    def rooms(self, pair: Ints, total: Ints, whole: int) -> Ints:
        """Return what goes over each hub, in 1 / whole: a row for each pair of boxes.

        Parameters
        ----------
        pair : int64 array
            Number of the pair: sender times boxes, and receiver.
        total : int64 array
            Its amount in 1 / whole, a multiple of ``under``.
        """
        there = np.zeros_like(total)
        if self.over is not None:
            there = self.over.reshape(-1)[pair] * (whole // self.unit)
        part = np.array([share.as_integer_ratio() for share in self.shares], dtype=np.int64)
        room = (total - there)[:, None] // part[:, 1] * part[:, 0]
        if self.odd >= 0:
            room[:, self.odd] = there
        return np.asarray(room)


@dataclass(frozen=True, slots=True)
class HubDivision:
    """The hubs of a network, and how boxes divide their bandwidth over them.

    Parameters
    ----------
    hubs, shares, odd
        As of :class:`DividedData`.
    out, into : tuples of pairs of Fraction
        For each box its bandwidth to (from) the odd hub and to (from) all others.
    """

    hubs: tuple[int, ...]
    shares: tuple[Fraction, ...]
    odd: int = -1
    out: _Widths = field(default=(), repr=False)
    into: _Widths = field(default=(), repr=False)

    @classmethod
    def of(cls, ports: Sequence[Sequence[Port]]) -> HubDivision | None:
        """Return the division of boxes with these ports; None if they differ in several hubs."""
        widths = [[_by_hub(box, up=up) for box in ports] for up in (True, False)]
        rows = [row for side in widths for row in side if any(row.values())]
        hubs = tuple(sorted({hub for row in rows for hub in row}))
        for odd, left_out in ((-1, None), *enumerate(hubs)):
            others = [{hub: row[hub] for hub in row if hub != left_out} for row in rows]
            shares = {_proportions(row) for row in others if any(row.values())}
            if len(shares) != 1:
                continue
            share = dict(shares.pop())
            out, into = (
                tuple((row.get(left_out, Fraction(0)), _rest(row, left_out)) for row in side)
                if left_out is not None
                else ()
                for side in widths
            )
            return cls(hubs, tuple(share.get(hub, Fraction(0)) for hub in hubs), odd, out, into)
        return None

    def divided(self, between: Ints) -> DividedData | None:
        """Divide the amounts between boxes; None if no division keeps all ports equally busy.

        Parameters
        ----------
        between : int64 array of shape (boxes, boxes)
            With zeros on the diagonal.
        """
        under = math.lcm(*(share.denominator for share in self.shares))
        if self.odd < 0:
            return DividedData(self.hubs, self.shares, under)
        time = _least_time(between, self.out, self.into)
        if time is None:
            return None
        limits = [(time * there, time * rest) for there, rest in (*self.out, *self.into)]
        unit = math.lcm(*(one.denominator for both in limits for one in both))
        bounds = [(int(there * unit), int(rest * unit)) for there, rest in limits]
        if unit * int(between.sum()) >= 2**62:
            return None
        boxes = len(between)
        over = _over_one(between * unit, bounds[:boxes], bounds[boxes:])
        if over is None:
            return None
        return DividedData(self.hubs, self.shares, unit * under, self.odd, over, unit)


def _by_hub(ports: Sequence[Port], *, up: bool) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for port in ports:
        found.setdefault(port.hub, Fraction(0))
        found[port.hub] += port.up if up else port.down
    return {hub: wide for hub, wide in found.items() if wide}


def _rest(row: dict[int, Fraction], left_out: int) -> Fraction:
    return sum((wide for hub, wide in row.items() if hub != left_out), start=Fraction(0))


def _proportions(row: dict[int, Fraction]) -> tuple[tuple[int, Fraction], ...]:
    total = sum(row.values(), start=Fraction(0))
    return tuple(sorted((hub, wide / total) for hub, wide in row.items()))


def _least_time(between: Ints, out: _Widths, into: _Widths) -> Fraction | None:
    """Return the time of the box whose ports all of its data keeps busiest; None without ports."""
    least = Fraction(0)
    for amounts, widths in ((between.sum(axis=1), out), (between.sum(axis=0), into)):
        for amount, wide in zip(amounts.tolist(), widths, strict=True):
            if amount and not sum(wide):
                return None
            if amount:
                least = max(least, amount / sum(wide, start=Fraction(0)))
    return least


def _over_one(
    between: Ints, out: Sequence[tuple[int, int]], into: Sequence[tuple[int, int]]
) -> Ints | None:
    """Return what goes over the odd hub; None if there is no such division.

    ``out`` and ``into`` tell for each box what its port there, and its others, can take in time.
    It starts at the same part of each box's data as of its bandwidth, rounded down, which exceeds
    no port there. Then boxes whose other ports would take too much are raised one by one.
    """
    sums = between.sum(axis=1), between.sum(axis=0)
    low, high = (
        tuple(np.array(one, dtype=np.int64) for one in sides)
        for sides in zip(
            *(
                ([max(0, due - rest) for due, (_, rest) in rows], [there for _, (there, _) in rows])
                for rows in (
                    list(zip(total.tolist(), side, strict=True))
                    for total, side in zip(sums, (out, into), strict=True)
                )
            ),
            strict=True,
        )
    )
    sides = [
        [Fraction(there, there + rest) if there else Fraction(0) for there, rest in side]
        for side in (out, into)
    ]
    over = np.array(
        [
            [int(amount * min(one, other)) for amount, other in zip(row, sides[1], strict=True)]
            for row, one in zip(between.tolist(), sides[0], strict=True)
        ],
        dtype=np.int64,
    )
    rows = _Raising(over, between, (low[0], low[1]), (high[0], high[1]))
    columns = _Raising(over.T, between.T, (low[1], low[0]), (high[1], high[0]))
    return over if rows.done() and columns.done() else None


@dataclass(slots=True)
class _Raising:
    """Amounts of pairs between 0 and most, whose rows are to be raised to their lower bounds.

    No row or column is raised above its upper bound, or taken below the lower one, so the rows and
    columns that are right stay so. ``amount`` changes in place, and may be transposed.
    """

    amount: Ints
    most: Ints
    low: tuple[Ints, Ints]  # of rows, of columns
    high: tuple[Ints, Ints]

    def done(self) -> bool:
        """Raise all rows; False if one cannot be."""
        for row in range(len(self.amount)):
            while (lacks := int(self.low[0][row] - self.amount[row].sum())) > 0:
                chain = self._chain(row)
                if chain is None:
                    return False
                self._raise(chain, lacks)
        return True

    def _chain(self, row: int) -> list[int] | None:
        """Return rows and columns in turn: pairs to raise and to lower; None if there are none."""
        to_column: dict[int, int] = {}
        to_row: dict[int, int] = {row: -1}
        filled, held = self.amount.sum(axis=0), self.amount.sum(axis=1)
        queue = [row]
        for one in queue:
            for column in np.flatnonzero(self.amount[one] < self.most[one]).tolist():
                if column in to_column:
                    continue
                to_column[column] = one
                if filled[column] < self.high[1][column]:
                    return list(_back(to_row, to_column, column, ends_in_row=False))
                for other in np.flatnonzero(self.amount[:, column]).tolist():
                    if other in to_row:
                        continue
                    to_row[other] = column
                    if held[other] > self.low[0][other]:
                        return list(_back(to_row, to_column, other, ends_in_row=True))
                    queue.append(other)
        return None

    def _raise(self, chain: list[int], lacks: int) -> None:
        pairs = [
            (chain[i], chain[i + 1]) if i % 2 == 0 else (chain[i + 1], chain[i])
            for i in range(len(chain) - 1)
        ]
        raised, lowered = pairs[::2], pairs[1::2]
        end = chain[-1]
        if len(chain) % 2:
            slack = int(self.amount[end].sum() - self.low[0][end])
        else:
            slack = int(self.high[1][end] - self.amount[:, end].sum())
        step = min(
            lacks,
            slack,
            *(int(self.most[pair] - self.amount[pair]) for pair in raised),
            *(int(self.amount[pair]) for pair in lowered),
        )
        for pair in raised:
            self.amount[pair] += step
        for pair in lowered:
            self.amount[pair] -= step


def _back(
    to_row: dict[int, int], to_column: dict[int, int], end: int, *, ends_in_row: bool
) -> Iterator[int]:
    found, in_row = [end], ends_in_row
    while (before := (to_row if in_row else to_column)[found[-1]]) >= 0:
        found.append(before)
        in_row = not in_row
    return reversed(found)
