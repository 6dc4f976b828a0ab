"""Forests with the plan of their times.

Problem: a forest should keep the times that its search found.
Input:   an explicit forest, a size, alpha; perhaps slots.
Output:  the same forest with a time plan: slots, or constant rates.
Cost:    that of :mod:`forestcoll.forest_over_time.slot_times` or
         :mod:`forestcoll.forest_over_time.repeated_time`.
Source:  ours; docs/mathematics/forests-over-time.md. A reduction goes backwards in time: with K
         slots, what a gathering sends in slot s it sends in K - 1 - s. Data then reach links by
         other latencies than before, so its times are found anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from forestcoll.forest_over_time.repeated_time import repeated_time_us
from forestcoll.forest_over_time.slot_times import SlotTimes
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import PARTS, Slots, TimePlan
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.model import Topology

__all__ = ["at_constant_rates", "in_slots", "reduction_of", "slots_of_parts"]


def at_constant_rates(forest: Forest, size_bytes: int, alpha_us: Fraction) -> Forest:
    """Return a forest whose trees send at one rate from the start on.

    Raises as :func:`forestcoll.forest_over_time.repeated_time.repeated_time_us`.
    """
    time = repeated_time_us(forest, size_bytes, alpha_us)
    return replace(forest, plan=TimePlan(size_bytes, alpha_us, time))


def in_slots(forest: Forest, slots: Slots, size_bytes: int, alpha_us: Fraction) -> Forest | None:
    """Return a forest whose hops send in slots; None if the slots do not fit together."""
    found = SlotTimes(forest, slots).at(size_bytes, alpha_us)
    if found is None:
        return None
    width, time = found
    slots = replace(slots, width_us=width)
    return replace(forest, plan=TimePlan(size_bytes, alpha_us, time, slots))


def reduction_of(forest: Forest, topology: Topology) -> Forest:
    """Return a gathering with a plan, reversed: a reduction on ``topology`` with a plan."""
    made, plan = transposed(forest, topology), forest.plan
    assert plan is not None
    if plan.slots is not None:
        slot = plan.slots.slot
        slots = replace(plan.slots, slot=np.where(slot < 0, slot, slot.max() - slot))
        found = in_slots(made, slots, plan.size_bytes, plan.alpha_us)
        if found is not None:
            return found
    return at_constant_rates(made, plan.size_bytes, plan.alpha_us)


def slots_of_parts(rows: Sequence[tuple[int, Fraction, Sequence[int]]]) -> Slots:
    """Return slots whose width is not known yet.

    Parameters
    ----------
    rows : sequence of (int, Fraction, sequence of int)
        The batch, its share of the batch's data, and the slot of each rank, -1 at the root. The
        shares of a batch add up to 1; they are rounded to whole parts.
    """
    before: dict[int, Fraction] = {}
    found = []
    for batch, share, slot in rows:
        start = before.get(batch, Fraction(0))
        before[batch] = start + share
        parts = round(before[batch] * PARTS) - round(start * PARTS)
        if parts:
            found.append((batch, parts, slot))
    return Slots(
        width_us=Fraction(0),
        tree=np.array([batch for batch, _, _ in found], dtype=np.int32),
        parts=np.array([parts for _, parts, _ in found], dtype=np.int64),
        slot=np.array([slot for _, _, slot in found], dtype=np.int32),
    )
