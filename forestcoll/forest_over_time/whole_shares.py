"""Whole numbers of trees from the amounts that trees carry.

Problem: a forest has k w(u) trees of equal data at each root u. The amounts that trees carry by
         some time are real numbers, of a sum a little above what is needed. Find a small k and
         multiplicities of which none is above its amount.
Input:   for each orbit of roots its weight and the amounts of its trees, 1 for all data per weight.
Output:  k, and a multiplicity for each tree.
Cost:    linear in the trees, for each k that is tried.
Source:  ours. No multiplicity exceeds its amount, so the plan that carries the amounts carries the
         whole numbers too, and needs no longer.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from fractions import Fraction

__all__ = ["rounded_down", "whole_shares"]

_ONE_BY_ONE = 64


def whole_shares(
    weights: Sequence[int], amounts: Sequence[Sequence[Fraction]], most: int
) -> tuple[int, list[list[int]]] | None:
    """Return the least k among those tried, and the multiplicities of each orbit's trees.

    Parameters
    ----------
    weights : sequence of int
        Of the roots of each orbit.
    amounts : sequence of sequences of Fraction
        Of the trees of each orbit, in shards per unit of weight.
    most : int
        The largest k to try.

    Returns
    -------
    tuple or None
        None if no such k has whole numbers below the amounts.

    Examples
    --------
    >>> whole_shares([1], [[Fraction(51, 100), Fraction(50, 100)]], 9)
    (2, [[1, 1]])
    """
    for k in _numbers(most):
        found = [
            _rounded(k * weight, k, of_trees)
            for weight, of_trees in zip(weights, amounts, strict=True)
        ]
        if all(one is not None for one in found):
            return k, [one for one in found if one is not None]
    return None


def rounded_down(
    parts: Sequence[Fraction], many: Sequence[int], least: Fraction, most: int
) -> list[int] | None:
    """Return whole numbers in the proportion of some parts, none above its share by a millionth.

    Parameters
    ----------
    parts : sequence of Fraction
        Of all data, each of them ``many`` times.
    least : Fraction
        The part of all units that must be shared out, below 1.
    most : int
        The largest number of units for each part to try.

    Returns
    -------
    list of int or None
        None if no such number of units will do.

    Examples
    --------
    >>> rounded_down([Fraction(1, 2), Fraction(1, 4)], [1, 2], Fraction(9, 10), 9)
    [6, 3]
    """
    for k in _numbers(most):
        units = k * sum(many)
        # What is whole but for a rounding error stays whole.
        found = [int(units * part + Fraction(1, 10**6)) for part in parts]
        if sum(map(operator.mul, found, many)) >= least * units:
            return found
    return None


def _numbers(most: int) -> Iterator[int]:
    k = 1
    while k <= most:
        yield k
        k += 1 if k < _ONE_BY_ONE else 1 + k // 16


def _rounded(trees: int, k: int, amounts: Sequence[Fraction]) -> list[int] | None:
    """Return multiplicities of a sum, none above its amount; those cut most are cut first."""
    found = [int(k * amount) for amount in amounts]
    surplus = sum(found) - trees
    if surplus < 0:
        return None
    # Small trees first: a tree less is a tree less to compile.
    for place in sorted(range(len(found)), key=lambda i: (found[i], i)):
        cut = min(found[place], surplus)
        found[place] -= cut
        surplus -= cut
    return found
