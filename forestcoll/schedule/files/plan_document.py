"""Time plans in schedule files: numbers in the head, and rows of slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.files.fields import (
    Record,
    amount,
    check_fields,
    check_range,
    entry_of,
    fraction,
    numbers,
    of_type,
    one,
    refuse,
    wrong,
)
from forestcoll.schedule.time_plan import PARTS, Slots, TimePlan

__all__ = [
    "MOST_SLOTS", "SLOT_ARRAYS", "parse_plan", "plan_document", "plan_in_arrays", "plan_in_rows",
    "slot_rows",
]  # fmt: skip

MOST_SLOTS = 2**20

SLOT_ARRAYS = {"plan.tree": np.int32, "plan.parts": np.int64, "plan.slot": np.int32}
"""Arrays of a plan in slots in a binary file, with their types in memory."""

_Array = npt.NDArray[np.integer[Any]]


def plan_document(plan: TimePlan) -> dict[str, Any]:
    """Return the numbers of a plan as JSON data; the width of a slot only where there are slots."""
    document: dict[str, Any] = {
        "size_bytes": plan.size_bytes,
        "alpha_us": str(plan.alpha_us),
        "time_us": str(plan.time_us),
    }
    if plan.slots is not None:
        document["width_us"] = str(plan.slots.width_us)
        if plan.slots.common:
            document["common"] = True
    return document


def slot_rows(slots: Slots) -> Iterator[list[int]]:
    """Yield the rows of a JSON file: the tree, its parts, the slot of each rank."""
    columns = (slots.tree.tolist(), slots.parts.tolist(), slots.slot.tolist())
    for tree, parts, slot in zip(*columns, strict=True):
        yield [tree, parts, *slot]


def parse_plan(document: Record) -> TimePlan | None:
    """Return the numbers of a plan, with slots that have no rows yet; None if there is no plan.

    Raises InvalidScheduleError.
    """
    if "plan" not in document:
        return None
    plan: Record = one(document, "plan", dict)
    names, optional = ("size_bytes", "alpha_us", "time_us"), ("width_us", "common")
    check_fields([plan], names, lambda _: "plan.", optional)
    slots = None
    if "width_us" in plan:
        none = np.zeros(0, dtype=np.int32)
        width = fraction(plan, "width_us", "plan.")
        common = "common" in plan and one(plan, "common", bool, "plan.")
        slots = Slots(width, none, none.astype(np.int64), none.reshape(0, 0), common)
    elif "common" in plan:
        refuse("plan.common is not in the format without plan.width_us; leave one out or add both")
    return TimePlan(
        size_bytes=amount(plan, "size_bytes", "plan."),
        alpha_us=fraction(plan, "alpha_us", "plan."),
        time_us=fraction(plan, "time_us", "plan."),
        slots=slots,
    )


def plan_in_rows(plan: TimePlan | None, phase: Record, batches: int, ranks: int) -> TimePlan | None:
    """Add the rows of a JSON file to the numbers of its plan."""
    if plan is None or plan.slots is None:
        if "slots" in phase:
            refuse("slots is not in the format without plan.width_us; add it, or leave slots out")
        return plan
    if "slots" not in phase:
        refuse("slots is missing; add it, or leave plan.width_us out")
    rows = of_type(one(phase, "slots", list), list, _row)
    for place, row in enumerate(rows):
        if len(row) != ranks + 2:
            wrong(_row(place), row, f"a list of a tree, its parts, and a slot of {ranks} GPUs")

    def entry(place: int) -> str:
        row, column = divmod(place, ranks + 2)
        return f"{_row(row)}[{column}]"

    flat = of_type(list(chain.from_iterable(rows)), int, entry)
    table = numbers(flat, -1, max(MOST_SLOTS, PARTS, batches), entry).reshape(-1, ranks + 2)
    return _with_rows(plan, plan.slots, table[:, 0], table[:, 1], table[:, 2:], batches)


def plan_in_arrays(
    plan: TimePlan | None, arrays: Mapping[str, _Array], batches: int, ranks: int, prefix: str
) -> TimePlan | None:
    """Add the arrays of a binary file to the numbers of its plan."""
    if plan is None or plan.slots is None:
        return plan
    tree, parts, slot = (arrays[name] for name in SLOT_ARRAYS)
    if slot.shape != (shape := (len(tree), ranks)) or len(parts) != len(tree):
        refuse(
            f"array {prefix}plan.slot has shape {slot.shape}, and plan.parts {parts.shape}; they "
            f"must have {shape} and ({len(tree)},)"
        )
    return _with_rows(plan, plan.slots, tree, parts, slot, batches, prefix)


def _with_rows(
    plan: TimePlan,
    slots: Slots,
    tree: _Array,
    parts: _Array,
    slot: _Array,
    batches: int,
    prefix: str = "",
) -> TimePlan:
    check_range(tree, 0, batches - 1, entry_of(f"{prefix}plan.tree"))
    check_range(parts, 1, PARTS, entry_of(f"{prefix}plan.parts"))
    check_range(slot.reshape(-1), -1, MOST_SLOTS, entry_of(f"{prefix}plan.slot"))
    filled = replace(
        slots,
        tree=tree.astype(np.int32),
        parts=parts.astype(np.int64),
        slot=slot.astype(np.int32),
    )
    return replace(plan, slots=filled)


def _row(place: int) -> str:
    return f"slots[{place}]"
