"""Shares of several sketches that balance the links: an exact linear program.

Problem: minimise max_i sum_s w_s a[i, s] for shares w >= 0 of sum 1, where a[i, s] is the time
         that sketch s alone would keep link i busy.
Input:   a as Fractions, not negative, each column with a positive entry.
Output:  the shares and the time, exact, with prices of the links that prove it.
Cost:    pivots of rows x columns; some rows and columns here, for rows that another one exceeds
         and equal columns are left out.
Source:  ours, in place of SyCCL's thresholds for combinations of sketches; the simplex method with
         Bland's rule ("New finite pivoting rules for the simplex method", 1977).

With x = w / T the program is: maximise sum x for a x <= 1. It starts at x = 0. At its end y >= 0
with y a >= 1 and sum y = sum x, so that the prices y T prove that no shares take less than T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["Balance", "balance"]

Row = list[Fraction]


@dataclass(frozen=True, slots=True)
class Balance:
    """Shares of the sketches and the time of the busiest link.

    Parameters
    ----------
    time : Fraction
        T, in the unit of the input.
    shares : tuple of Fraction
        Of each sketch; their sum is 1.
    prices : tuple of Fraction
        Of each link; their sum is 1. Each sketch costs T or more at these prices.
    """

    time: Fraction
    shares: tuple[Fraction, ...]
    prices: tuple[Fraction, ...]


def balance(times: Sequence[Sequence[Fraction]]) -> Balance:
    """Find the best shares; of several, those of earlier sketches.

    Parameters
    ----------
    times : sequence of rows
        By link and sketch.

    Examples
    --------
    >>> found = balance([[Fraction(1), Fraction(4)], [Fraction(3), Fraction(1)]])
    >>> found.time, found.shares, found.prices
    (Fraction(11, 5), (Fraction(3, 5), Fraction(2, 5)), (Fraction(2, 5), Fraction(3, 5)))
    """
    count, links = len(times[0]), len(times)
    rows = [
        [*row, *(Fraction(int(i == j)) for j in range(links)), Fraction(1)]
        for i, row in enumerate(times)
    ]
    gain = [*[Fraction(1)] * count, *[Fraction(0)] * links, Fraction(0)]
    basis = [count + i for i in range(links)]
    while (enter := next((j for j in range(count + links) if gain[j] > 0), None)) is not None:
        leave = _leaving(rows, basis, enter)
        _pivot(rows, gain, leave, enter)
        basis[leave] = enter
    time = -1 / gain[-1]
    shares = [Fraction(0)] * (count + links)
    for row, column in zip(rows, basis, strict=True):
        shares[column] = row[-1] * time
    prices = tuple(-price * time for price in gain[count : count + links])
    return Balance(time, tuple(shares[:count]), prices)


def _leaving(rows: Sequence[Row], basis: Sequence[int], enter: int) -> int:
    """Return the row that limits the entering column most, by Bland's rule."""
    limits = [(row[-1] / row[enter], basis[i], i) for i, row in enumerate(rows) if row[enter] > 0]
    return min(limits)[2]


def _pivot(rows: list[Row], gain: Row, leave: int, enter: int) -> None:
    pivot = rows[leave][enter]
    rows[leave] = [value / pivot for value in rows[leave]]
    for row in (*rows, gain):
        if row is not rows[leave] and row[enter]:
            factor = row[enter]
            row[:] = [value - factor * more for value, more in zip(row, rows[leave], strict=True)]
