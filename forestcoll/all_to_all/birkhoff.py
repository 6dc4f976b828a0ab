"""Birkhoff-von Neumann decomposition: amounts between boxes into matchings, one after another.

Problem: every box sends to one box and gets from one at a time; write the amounts of all pairs as
         matchings, each with an amount. Their sum is the time if all boxes are equally fast.
Input:   a square matrix of whole amounts; what sits on its diagonal stays in the box.
Output:  matchings whose amounts add up to the largest row or column sum, at most n^2 - 2 n + 2 of
         them for n boxes; or fewer that take longer, where each costs a latency.
Cost:    a bipartite matching for each.
Source:  Birkhoff (1946) and von Neumann (1953); the largest bottleneck first: Gopal and Wong,
         "Minimizing the Number of Switchings in an SS/TDMA System" (IEEE Trans. Communications,
         1985), Liu et al., Solstice (CoNEXT 2015). The choice of how many to cover is ours.

Slack makes all row and column sums equal; a pair that meets in slack is idle. By König's theorem
the support of such a matrix has a perfect matching. Its least entry is subtracted all along, so one
entry or more becomes 0 and the rest has equal sums again. What is left after j matchings spans a
face of the Birkhoff polytope, whose dimension is at most (n - 1)^2 - j: hence the limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.demand import MOST_BYTES

__all__ = ["Matching", "birkhoff", "few_matchings", "shortened", "time_of"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs of boxes that exchange at the same time.

    Parameters
    ----------
    amount : int
        What the busiest pair sends, in the unit of the matrix.
    sent : tuple of (int, int, int)
        Sender, receiver and amount, by sender; each box at most once as sender and as receiver.
    """

    amount: int
    sent: tuple[tuple[int, int, int], ...]


def birkhoff(amounts: npt.ArrayLike) -> tuple[Matching, ...]:
    """Decompose a matrix exactly, the matching with the largest amount first.

    Each matching has the largest amount that any perfect matching of the rest has.

    Parameters
    ----------
    amounts : whole numbers of shape (n, n)
        From 0 up; the diagonal is ignored.

    Returns
    -------
    tuple of Matching
        Their amounts add up to the largest row or column sum. Equal input gives equal output.

    Raises
    ------
    InvalidParameterError
        If the matrix is not square, or its amounts are negative, no whole numbers or too large.

    Examples
    --------
    >>> for one in birkhoff([[0, 5, 1], [2, 0, 2], [4, 0, 0]]):
    ...     print(one.amount, one.sent)
    3 ((0, 1, 3), (1, 2, 2), (2, 0, 3))
    2 ((0, 1, 2), (1, 0, 2))
    1 ((0, 2, 1), (2, 0, 1))
    """
    left = _checked(amounts)
    whole = left + _slack(left)
    return tuple(_exact(left, whole))


def few_matchings(amounts: npt.ArrayLike, alpha: Fraction | int) -> tuple[Matching, ...]:
    """Decompose a matrix into fewer matchings, where each costs a latency.

    Largest bottlenecks come first. What is left after some of them is *covered*: by as many
    matchings as its fullest row or column has entries, each as long as its largest entry. The
    number before that is the one of the least time.

    Parameters
    ----------
    amounts : whole numbers of shape (n, n)
    alpha : Fraction or int
        The latency of each matching as an amount, that is times the bandwidth of a box.

    Raises
    ------
    InvalidParameterError
        As :func:`birkhoff`, or if alpha is negative.

    Examples
    --------
    >>> few_matchings([[0, 5, 1], [2, 0, 2], [4, 0, 0]], alpha=10)
    (Matching(amount=5, sent=((0, 1, 5), (1, 2, 2), (2, 0, 4))), \
Matching(amount=2, sent=((0, 2, 1), (1, 0, 2))))
    """
    if alpha < 0:
        raise InvalidParameterError(f"alpha is {alpha}; a latency is 0 or more")
    fullest = _longest_line(_checked(amounts))
    best: tuple[Matching, ...] | None = None
    for exact, found in enumerate(shortened(amounts)):
        if best is None or time_of(found, alpha) < time_of(best, alpha):
            best = found
        if time_of(best, alpha) <= fullest + alpha * (exact + 1):
            break  # with one exact matching more, and for all that follow
    assert best is not None
    return best


def time_of(matchings: Sequence[Matching], alpha: Fraction | int) -> Fraction:
    """Return the time of matchings one after another, in amounts."""
    return Fraction(sum(one.amount for one in matchings)) + alpha * len(matchings)


def shortened(amounts: npt.ArrayLike) -> Iterator[tuple[Matching, ...]]:
    """Yield decompositions with 0, 1, 2, ... exact matchings before the rest is covered.

    The last one is that of :func:`birkhoff`.

    Raises InvalidParameterError as :func:`birkhoff`.
    """
    left = _checked(amounts)
    whole = left + _slack(left)
    found: list[Matching] = []
    matchings = _exact(left, whole)
    while left.any():
        yield (*found, *_cover(left.copy()))
        found.append(next(matchings))
    yield tuple(found)


def _checked(amounts: npt.ArrayLike) -> Ints:
    matrix = np.array(amounts)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidParameterError(
            f"the amounts between boxes have shape {matrix.shape}; give as many rows as columns"
        )
    if matrix.size and matrix.dtype.kind not in "iu":
        raise InvalidParameterError("the amounts between boxes must be whole numbers")
    if matrix.size and (matrix.min() < 0 or matrix.max() > MOST_BYTES):
        raise InvalidParameterError(f"amounts between boxes must be from 0 to {MOST_BYTES:.0e}")
    matrix = matrix.astype(np.int64)
    np.fill_diagonal(matrix, 0)
    return matrix


def _longest_line(left: Ints) -> int:
    return max(int(left.sum(axis=axis).max(initial=0)) for axis in (0, 1))


def _slack(left: Ints) -> Ints:
    """Return what makes all sums equal: on the diagonal first, then from corner to corner."""
    rows, columns, most = left.sum(axis=1), left.sum(axis=0), _longest_line(left)
    due, room = most - rows, most - columns
    slack = np.zeros_like(left)
    np.fill_diagonal(slack, np.minimum(due, room))
    due, room = due - slack.diagonal(), room - slack.diagonal()
    row = column = 0
    while row < len(left) and column < len(left):
        part = min(int(due[row]), int(room[column]))
        slack[row, column] += part
        due[row] -= part
        room[column] -= part
        if due[row]:
            column += 1
        else:
            row += 1
    return slack


def _exact(left: Ints, whole: Ints) -> Iterator[Matching]:
    """Take matchings off the amounts and off the matrix of equal sums, until nothing is left."""
    everyone = np.arange(len(left))
    bottleneck = _Bottleneck(whole)
    while left.any():
        to = bottleneck.matching()
        amount = int(whole[everyone, to].min())
        whole[everyone, to] -= amount
        sent = np.minimum(left[everyone, to], amount)
        left[everyone, to] -= sent
        # The fullest row or column has no slack, so it is busy in every matching.
        yield Matching(amount, _rows(to, sent))


def _rows(to: Ints, sent: Ints) -> tuple[tuple[int, int, int], ...]:
    rows = zip(range(len(to)), to.tolist(), sent.tolist(), strict=True)
    return tuple(row for row in rows if row[2])


def _largest_matching(support: npt.NDArray[np.bool_]) -> Ints:
    """Return the column of each row in a matching of most pairs of the support; -1 for none."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import maximum_bipartite_matching

    to = maximum_bipartite_matching(sp.csr_array(support), perm_type="column")
    return np.asarray(to, dtype=np.int64)


_MOST_SEARCHES = 16
"""Rows that look for a path one by one; beyond it one call of scipy is faster."""


class _Bottleneck:
    """Perfect matchings whose least entry is largest, in a matrix whose entries only decrease.

    The least entry then never grows from one matching to the next. So pairs that still have it are
    kept, and every other row looks for the widest augmenting path, as in the bottleneck assignment
    of Derigs and Zimmermann (Computing, 1978). If these are many, as many as possible are matched
    at once.
    """

    def __init__(self, whole: Ints) -> None:
        self.whole = whole
        self.least = int(whole.max(initial=0))
        self.to = np.full(len(whole), -1, dtype=np.int64)
        self.row_of = np.full(len(whole), -1, dtype=np.int64)

    def matching(self) -> Ints:
        """Return the column of each row."""
        rows = np.flatnonzero(self.to >= 0)
        self.to[rows[self.whole[rows, self.to[rows]] < self.least]] = -1
        if np.count_nonzero(self.to < 0) > _MOST_SEARCHES:
            self.to = _largest_matching(self.whole >= self.least)
        rows = np.flatnonzero(self.to >= 0)
        self.row_of[:] = -1
        self.row_of[self.to[rows]] = rows
        for row in np.flatnonzero(self.to < 0).tolist():
            self._augment(row)
        return self.to.copy()

    def _augment(self, start: int) -> None:
        """Match one more row over the path whose least entry is largest, from the first column."""
        # What is wider than the least entry so far is as good as that.
        width = np.minimum(self.whole[start], self.least)
        before = np.full(len(width), start, dtype=np.int64)
        seen = np.zeros(len(width), dtype=np.bool_)
        while True:
            column = int(np.where(seen, -1, width).argmax())
            seen[column] = True
            row = int(self.row_of[column])
            if row < 0:
                break
            onward = np.minimum(self.whole[row], width[column])
            wider = (onward > width) & ~seen
            width[wider] = onward[wider]
            before[wider] = row
        self.least = int(width[column])
        while column >= 0:
            row = int(before[column])
            self.row_of[column] = row
            self.to[row], column = column, int(self.to[row])


def _cover(left: Ints) -> Iterator[Matching]:
    """Cover all entries by as many matchings as a row or column has at most, large ones together.

    The support, filled up to equal numbers of entries in all rows and columns, stays so whichever
    perfect matching is taken off it: the heaviest one is.
    """
    from scipy.optimize import linear_sum_assignment

    support = (left > 0).astype(np.int64)
    filled = support + _slack(support)
    everyone = np.arange(len(left))
    while left.any():
        # A matching with a barred pair weighs less than any inside the support, rounded or not.
        barred = -float(len(left)) * float(left.max() + 1)
        weight = np.where(filled > 0, left.astype(np.float64), barred)
        _, to = linear_sum_assignment(weight, maximize=True)
        sent = left[everyone, to]
        yield Matching(int(sent.max()), _rows(to.astype(np.int64), sent))
        filled[everyone, to] -= 1
        left[everyone, to] = 0
