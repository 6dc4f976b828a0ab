"""Exact check of a plan in slots: the width at which it carries whole numbers of trees.

Problem: amounts in slots come from a program in floats. Rounded down to fractions, do they fit the
         links in every slot, and how wide must slots be for the trees to carry their data?
Input:   a plan, its columns, the limits, what each tree must carry.
Output:  the width of a slot, exactly; None if a link would carry more than it can.
Cost:    linear in the tree edges of the plan.
Source:  ours; docs/mathematics/forests-over-time.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from forestcoll.forest_over_time.rate_program import Limits
from forestcoll.forest_over_time.slot_program import SlotPlan
from forestcoll.forest_over_time.timed_trees import Column

__all__ = ["exact_width"]

_UNIT = 2**20  # parts of a unit of capacity
_LESS = 1 - 1e-7  # programs may miss a row by less
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
    upper = [Fraction(limit) * _UNIT for limit in limits.upper.tolist()]
    if max(upper) * len(plan.moves) >= _MOST:
        return None
    loads = np.zeros((plan.slots, len(upper)), dtype=np.int64)
    carried = [0] * len(columns)
    for place, at, amount in plan.moves:
        whole = int(amount * _LESS * _UNIT)
        carried[place] += whole
        of_depths = limits.rows(columns[place].of_depths.T).T.astype(np.int64)
        for slot, of_depth in zip(at, of_depths, strict=True):
            loads[slot] += whole * of_depth
    most = loads.max(axis=0).tolist()
    if any(load > limit for load, limit in zip(most, upper, strict=True)):
        return None
    if any(amount and not whole for amount, whole in zip(due, carried, strict=True)):
        return None
    return max(amount * _UNIT / whole for amount, whole in zip(due, carried, strict=True) if amount)
