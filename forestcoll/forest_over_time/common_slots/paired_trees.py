"""Pairs of a tree that reduces and a tree that gathers the same data.

Problem: a plan in common slots says how much each root reduces and gathers by which trees. Which
         tree gathers what another has reduced?
Input:   a plan of :mod:`forestcoll.forest_over_time.common_slots.common_program`.
Output:  pairs with amounts; the second tree begins when the data of the first have arrived.
Cost:    a sort of the trees of each orbit.
Source:  ours. Sums are gathered in the order in which they are complete, which suits whenever any
         order does: trees are matched as on a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from forestcoll.forest_over_time.slot_program import SlotPlan, SlottedTree

__all__ = ["TreePair", "paired"]


@dataclass(frozen=True, slots=True)
class TreePair:
    """A root's trees for the same data.

    Parameters
    ----------
    reduction : SlottedTree
        Reversed, and with slot K - 1 - s in the place of slot s, it sums up the data.
    gathering : SlottedTree
    amount : float
        Of each root of the orbit, in units of the plan.
    """

    reduction: SlottedTree
    gathering: SlottedTree
    amount: float


def paired(plan: SlotPlan) -> list[TreePair]:
    """Return pairs of the trees of a plan; amounts that rounding leaves over have none."""
    return [
        pair
        for orbit in sorted({one.orbit for one, _ in plan.moves})
        for pair in _of_orbit(plan, [move for move in plan.moves if move[0].orbit == orbit])
    ]


def _of_orbit(plan: SlotPlan, moves: list[tuple[SlottedTree, float]]) -> Iterator[TreePair]:
    gathered = sorted(moves, key=lambda move: move[0].first_slot)
    # The later a tree begins, the earlier its reduction ends.
    reduced = gathered[::-1]
    while gathered and reduced:
        (one, there), (other, here) = reduced[0], gathered[0]
        both = min(there, here)
        if other.first_slot >= plan.slots - 1 - one.first_slot + plan.gap:
            yield TreePair(one, other, both)
        for queue, tree, left in ((reduced, one, there - both), (gathered, other, here - both)):
            queue[:1] = [(tree, left)] if left > 0 else []
