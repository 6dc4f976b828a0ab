"""Exact check of a plan in slots: the width at which it carries whole numbers of trees.

Problem: amounts in slots come from a program in floats. As fractions that fit the links in every
         slot, how wide must slots be for the trees to carry their data?
Input:   a plan, its columns, the limits, what each tree must carry.
Output:  the width of a slot, exactly; None if a tree carries nothing, or numbers are too large.
Cost:    linear in the tree edges of the plan.
Source:  ours; docs/mathematics/forests-over-time.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from forestcoll.forest_over_time.rate_program import Limits
from forestcoll.forest_over_time.slot_program import SlotPlan
from forestcoll.forest_over_time.timed_trees import Column

__all__ = ["exact_width"]

_UNIT = 720_720  # parts of a unit of capacity; halves to sixteenths are whole
_MOST = 2**62


def exact_width(
    plan: SlotPlan, columns: Sequence[Column], limits: Limits, due: Sequence[Fraction]
) -> Fraction | None:
    """Return how wide slots must be, in ticks.

    Parameters
    ----------
    due : sequence of Fraction
        What a tree of each column carries for each root, in capacity times ticks.
    """
    upper = [limit * _UNIT for limit in limits.exact]
    if max(upper) * len(plan.moves) >= _MOST:
        return None
    amounts = [amount * _UNIT for _, _, amount in plan.moves]
    # Solutions of small programs are simple fractions, which are met exactly if rounded.
    whole = list(map(round, amounts))
    if _excess(plan, whole, columns, limits, upper) > 1:
        whole = list(map(math.floor, amounts))
        excess = max(Fraction(1), _excess(plan, whole, columns, limits, upper))
        whole = [math.floor(one / excess) for one in whole]
    return _width(plan, whole, due)


def _excess(
    plan: SlotPlan,
    whole: Sequence[int],
    columns: Sequence[Column],
    limits: Limits,
    upper: Sequence[Fraction],
) -> Fraction:
    """Return the largest share of its capacity that a link carries in a slot."""
    loads = np.zeros((plan.slots, len(upper)), dtype=np.int64)
    for (place, at, _), amount in zip(plan.moves, whole, strict=True):
        of_depths = limits.rows(columns[place].of_depths.T).T.astype(np.int64)
        for slot, of_depth in zip(at, of_depths, strict=True):
            loads[slot] += amount * of_depth
    most = loads.max(axis=0).tolist()
    return max(Fraction(load) / limit for load, limit in zip(most, upper, strict=True))


def _width(plan: SlotPlan, whole: Sequence[int], due: Sequence[Fraction]) -> Fraction | None:
    carried = [0] * len(due)
    for (place, _, _), amount in zip(plan.moves, whole, strict=True):
        carried[place] += amount
    pairs = [(amount, sent) for amount, sent in zip(due, carried, strict=True) if amount]
    if not all(sent for _, sent in pairs):
        return None
    return max(amount * _UNIT / sent for amount, sent in pairs)
