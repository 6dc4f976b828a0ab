"""Exact check of a plan in slots: the width at which it carries whole numbers of trees.

Problem: amounts in slots come from a program in floats. As fractions that fit the links in every
         slot, how wide must slots be for the trees to carry their data?
Input:   a plan, the loads of its trees, the limits, what each tree must carry.
Output:  the width of a slot, exactly; None if a tree carries nothing, or numbers are too large.
Cost:    linear in the tree edges of the plan.
Source:  ours; docs/mathematics/forests-over-time.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from forestcoll.forest_over_time.priced_hops import Ints
from forestcoll.forest_over_time.rate_program import Limits
from forestcoll.forest_over_time.slot_program import SlotPlan, SlottedTree
from forestcoll.forest_over_time.timed_trees import TimedTree

__all__ = ["exact_width"]

_UNIT = 720_720  # parts of a unit of capacity; halves to sixteenths are whole
_MOST = 2**62


def exact_width(
    plan: SlotPlan,
    limits: Limits,
    loads: Callable[[SlottedTree], Ints],
    due: Mapping[tuple[int, TimedTree], Fraction],
) -> Fraction | None:
    """Return how wide slots must be, in ticks.

    Parameters
    ----------
    loads : callable
        The load of each link in each slot by a tree, of shape (K, links).
    due : mapping of (orbit, tree) to Fraction
        What a tree carries for each root, in all its slots, in capacity times ticks.
    """
    upper = [limit * _UNIT for limit in limits.exact]
    if max(upper) * len(plan.moves) >= _MOST:
        return None
    amounts = [amount * _UNIT for _, amount in plan.moves]
    rows = [limits.rows(loads(one).T) for one, _ in plan.moves]
    # Solutions of small programs are simple fractions, which are met exactly if rounded.
    whole = list(map(round, amounts))
    if _excess(rows, whole, upper) > 1:
        whole = list(map(math.floor, amounts))
        excess = max(Fraction(1), _excess(rows, whole, upper))
        whole = [math.floor(one / excess) for one in whole]
    carried: Counter[tuple[int, TimedTree]] = Counter()
    for (one, _), amount in zip(plan.moves, whole, strict=True):
        carried[one.orbit, one.tree] += amount
    pairs = [(amount, carried[tree]) for tree, amount in due.items() if amount]
    if not all(sent for _, sent in pairs):
        return None
    return max(amount * _UNIT / sent for amount, sent in pairs)


def _excess(rows: Sequence[Ints], whole: Sequence[int], upper: Sequence[Fraction]) -> Fraction:
    """Return the largest share of its capacity that a link carries in a slot."""
    total = sum(of_tree * amount for of_tree, amount in zip(rows, whole, strict=True))
    most = np.asarray(total).max(axis=1).tolist()
    return max(Fraction(load) / limit for load, limit in zip(most, upper, strict=True))
