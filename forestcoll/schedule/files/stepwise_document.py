"""Writer of step and flow schedules as JSON data and arrays; see :mod:`.stepwise_parsing`.

Redundant columns are omitted: intervals that are whole chunks, paths that are those of the logical
links, messages of one transfer. So equal schedules give equal data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule

__all__ = [
    "ALWAYS", "AS_ARRAYS", "COLUMNS", "DEMAND_FIELDS", "FLOW_FIELDS", "FLOW_OPTIONS", "NARROW",
    "OPTIONAL_ARRAYS", "STEP_ARRAYS", "STEP_FIELDS", "STEP_OPTIONS", "arrays_of_steps",
    "chunk_lines", "head_of_flows", "head_of_steps", "send_columns",
]  # fmt: skip

STEP_FIELDS = ("collective", "method", "whole", "clock")
"""Fields of the head of a step schedule, besides format, version, form and topology.

Weights are included if not all are 1, a demand if the amounts differ.
"""

STEP_OPTIONS = ("weights", "demand")
"""Fields of the head of a step schedule that may be missing."""

FLOW_FIELDS = ("collective", "method", "whole")
"""Fields of the head of a flow schedule.

A demand is included if the amounts of the pairs differ; prices if they are claimed.
"""

FLOW_OPTIONS = ("demand", "price")
"""Fields of the head of a flow schedule that may be missing."""

DEMAND_FIELDS = ("name", "bytes")
"""Fields of a demand: its name, and the bytes of each chunk; in a flow schedule of each logical
link of the routes, in order. ``targets`` lists the ranks that need each chunk, where some are for
several.
"""

ALWAYS = ("step", "chunk", "from", "to")
"""Columns of every transfer in every schedule."""

COLUMNS = (*ALWAYS, "reduce", "first", "amount", "path", "start", "end", "left", "message")
"""All columns of a transfer, in this order."""

NARROW = ("step", "chunk", "from", "to", "reduce", "path", "message")
"""Columns that fit 32 bits."""

AS_ARRAYS = {
    "step": "sends.step",
    "chunk": "sends.chunk",
    "from": "sends.tail",
    "to": "sends.head",
    "reduce": "sends.reduce",
    "first": "sends.interval.first",
    "amount": "sends.interval.amount",
    "path": "sends.path",
    "start": "clock.start",
    "end": "clock.end",
    "left": "clock.left",
    "message": "clock.message",
}
"""Their names in a binary file."""

STEP_ARRAYS: Mapping[str, type] = {
    "chunks.size": np.int64,
    "chunks.root": np.int32,
    "chunks.target": np.int32,
    **{array: np.int32 if name in NARROW else np.int64 for name, array in AS_ARRAYS.items()},
}
"""Arrays of a step schedule in a binary file, besides those of its routes, with their types."""

OPTIONAL_ARRAYS = (
    *("chunks.root", "chunks.target"),
    *(array for name, array in AS_ARRAYS.items() if name not in ALWAYS),
)
"""Arrays that are omitted if redundant."""

_Column = npt.NDArray[np.integer[Any]]


def head_of_steps(schedule: StepSchedule) -> dict[str, Any]:
    """Return the head of a step schedule, without its lists."""
    clock = schedule.clock
    clock_fields = clock and {"size_bytes": clock.size_bytes, "tick_us": str(clock.tick_us)}
    values = (schedule.collective, schedule.method, schedule.chunks.whole, clock_fields)
    head: dict[str, Any] = dict(zip(STEP_FIELDS, values, strict=True))
    if set(schedule.weights) != {1}:
        head["weights"] = list(schedule.weights)
    if (demand := schedule.demand) is not None:
        head["demand"] = {"name": demand.name, "bytes": demand.size.tolist()}
        if not demand.is_unicast:
            chunks = range(demand.num_chunks)
            head["demand"]["targets"] = [list(demand.chunk(chunk).targets) for chunk in chunks]
    return head


def head_of_flows(schedule: FlowSchedule) -> dict[str, Any]:
    """Return the head of a flow schedule, without its routes."""
    values = (schedule.collective, schedule.method, schedule.whole)
    head: dict[str, Any] = dict(zip(FLOW_FIELDS, values, strict=True))
    if schedule.demand is not None:
        routes = schedule.routes
        size = schedule.demand.matrix[routes.tail, routes.head].tolist()
        head["demand"] = {"name": schedule.demand.name, "bytes": size}
    return head | ({"price": list(schedule.price)} if schedule.price else {})


def send_columns(schedule: StepSchedule) -> dict[str, _Column]:
    """Return the columns of the transfers."""
    short = schedule.in_short()
    sends, clock = short.sends, short.clock
    stored: dict[str, _Column | None] = {
        "step": sends.step,
        "chunk": sends.chunk,
        "from": sends.tail,
        "to": sends.head,
        "reduce": sends.reduce.astype(np.int8) if sends.reduce.any() else None,
        "first": None if sends.interval is None else sends.interval.first,
        "amount": None if sends.interval is None else sends.interval.amount,
        "path": sends.path,
    }
    if clock is not None:
        stored |= {name: getattr(clock, name) for name in ("start", "end", "left", "message")}
    return {name: values for name, values in stored.items() if values is not None}


def chunk_lines(chunks: Chunks) -> Iterator[str]:
    """Yield the chunks, an object each."""
    for size, root, target in zip(
        chunks.size.tolist(), chunks.root.tolist(), chunks.target.tolist(), strict=True
    ):
        ends = "".join(
            f'"{key}": {rank}, ' for key, rank in (("root", root), ("target", target)) if rank >= 0
        )
        yield f'{{{ends}"size": {size}}}'


def arrays_of_steps(schedule: StepSchedule) -> dict[str, _Column]:
    """Return the arrays of a binary file by their names."""
    chunks = schedule.chunks
    arrays: dict[str, _Column] = {"chunks.size": chunks.size}
    for name, ranks in (("chunks.root", chunks.root), ("chunks.target", chunks.target)):
        if (ranks >= 0).any():
            arrays[name] = ranks
    columns = send_columns(schedule)
    return arrays | {AS_ARRAYS[name]: values for name, values in columns.items()}
