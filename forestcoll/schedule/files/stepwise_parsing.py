"""Parser of step and flow schedules from JSON data or arrays.

It guarantees safe indexing; :func:`forestcoll.schedule.verify` proves delivery.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.demand import MOST_BYTES, Demand
from forestcoll.problem.price_bound import MOST_PRICE
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.files.fields import (
    LARGEST,
    Record,
    Where,
    amount,
    check_fields,
    check_range,
    column,
    entry_of,
    fraction,
    maker,
    numbers,
    of_type,
    one,
    refuse,
    weights_of,
    within,
    wrong,
)
from forestcoll.schedule.files.stepwise_document import (
    ALWAYS,
    AS_ARRAYS,
    COLUMNS,
    DEMAND_FIELDS,
    NARROW,
)
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.sends import Chunks, Intervals, Sends
from forestcoll.schedule.steps import COLLECTIVES, WEIGHTED, StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["flows_of", "steps_of_arrays", "steps_of_lists"]

_CLOCK = ("size_bytes", "tick_us")
_INT32 = 2**31 - 1
_TOGETHER = (("first", "amount"), ("start", "end"))

_Column = npt.NDArray[np.integer[Any]]


def steps_of_lists(document: Record, topology: Topology, routes: Routes) -> StepSchedule:
    """Read a step schedule of a JSON file, given its routes.

    Raises InvalidScheduleError.
    """
    chunks = _chunks(document, one(document, "chunks", list), topology)
    names = of_type(one(document, "columns", list), str, lambda i: f"columns[{i}]")
    known = [name for name in COLUMNS if name in names]
    if names != known or not set(ALWAYS) <= set(names):
        wrong("columns", names, f"{', '.join(ALWAYS)}, and more of {', '.join(COLUMNS)}, in order")
    rows = of_type(one(document, "sends", list), list, _send)
    if not set(map(len, rows)) <= {len(names)}:
        at = next(i for i, row in enumerate(rows) if len(row) != len(names))
        wrong(_send(at), rows[at], f"a list of {len(names)} numbers, one for each of the columns")

    def entry(i: int) -> str:
        return f"{_send(i // len(names))}, {names[i % len(names)]},"

    values = of_type(list(chain.from_iterable(rows)), int, entry)
    table = numbers(values, -1, LARGEST, entry).reshape(-1, len(names))
    columns = {name: table[:, place] for place, name in enumerate(names)}
    return _steps(document, topology, chunks, columns, routes, _inside)


def _inside(name: str) -> Where:
    return lambda i: f"{_send(i)}, {name},"


def steps_of_arrays(
    document: Record, topology: Topology, arrays: Mapping[str, _Column], routes: Routes
) -> StepSchedule:
    """Make a step schedule from the head and arrays of a binary file.

    Raises InvalidScheduleError if arrays have different lengths, or name chunks, nodes or paths
    that do not exist.
    """
    size = arrays["chunks.size"]
    nobody = np.full(len(size), -1, dtype=np.int32)
    chunks = Chunks(
        size=np.asarray(size, dtype=np.int64),
        whole=amount(document, "whole"),
        root=np.asarray(arrays.get("chunks.root", nobody), dtype=np.int32),
        target=np.asarray(arrays.get("chunks.target", nobody), dtype=np.int32),
    )
    columns = {name: arrays[array] for name, array in AS_ARRAYS.items() if array in arrays}
    lengths = {array: len(columns[name]) for name, array in AS_ARRAYS.items() if name in columns}
    check_range(size, 1, LARGEST, entry_of("chunks.size"))
    for name in ("chunks.root", "chunks.target"):
        if name in arrays and len(arrays[name]) != len(size):
            refuse(f"array {name} has {len(arrays[name])} entries; chunks.size has {len(size)}")
        if name in arrays:
            check_range(arrays[name], -1, topology.num_compute - 1, entry_of(name))
    for array, length in lengths.items():
        if length != lengths["sends.step"]:
            refuse(f"array {array} has {length} entries; sends.step has {lengths['sends.step']}")
    where = {name: entry_of(array) for name, array in AS_ARRAYS.items()}
    return _steps(document, topology, chunks, columns, routes, where.__getitem__)


def flows_of(document: Record, topology: Topology, routes: Routes) -> FlowSchedule:
    """Read a flow schedule, given its routes.

    Raises InvalidScheduleError.
    """
    if (found := one(document, "collective", str)) != "all-to-all":
        wrong("collective", found, "'all-to-all', the only one of flows")
    return FlowSchedule(
        topology,
        maker(document),
        amount(document, "whole"),
        routes,
        demand=_demand(document, topology, routes) if "demand" in document else None,
        price=_price(document, topology) if "price" in document else (),
    )


def _demand(document: Record, topology: Topology, routes: Routes) -> Demand:
    """Read the bytes of each logical link of the routes."""
    given = one(document, "demand", dict)
    check_fields([given], DEMAND_FIELDS, lambda _: "demand.")
    name, size = _name_of(given), _bytes_of(given, len(routes.tail), "pairs of GPUs")
    amounts = np.zeros((topology.num_compute,) * 2, dtype=np.int64)
    amounts[routes.tail, routes.head] = size
    try:
        return Demand.of_matrix(amounts, name)
    except InvalidParameterError as error:
        refuse(f"demand: {error}")


def _price(document: Record, topology: Topology) -> tuple[int, ...]:
    price = of_type(one(document, "price", list), int, lambda i: f"price[{i}]")
    if len(price) != len(topology.links) + len(topology.shared):
        refuse(
            f"price has {len(price)} entries; the network has {len(topology.links)} links and "
            f"{len(topology.shared)} shared capacities"
        )
    return tuple(numbers(price, 0, MOST_PRICE, lambda i: f"price[{i}]").tolist())


def _steps(
    document: Record,
    topology: Topology,
    chunks: Chunks,
    columns: Mapping[str, _Column],
    routes: Routes,
    where: Callable[[str], Where],
) -> StepSchedule:
    """Make a step schedule; errors name the column and index of a number."""
    collective = one(document, "collective", str)
    if collective not in COLLECTIVES:
        wrong("collective", collective, f"one of {', '.join(COLLECTIVES)}")
    for pair in _TOGETHER:
        if len({name in columns for name in pair}) > 1:
            refuse(f"of {pair[0]} and {pair[1]} one is given without the other")
    _check_columns(columns, topology, len(chunks), routes, where)
    narrow = {n: np.asarray(columns[n], dtype=np.int32) for n in NARROW if n in columns}
    wide = {n: np.asarray(columns[n], dtype=np.int64) for n in columns if n not in NARROW}
    reduce = narrow.get("reduce", np.zeros(len(narrow["step"]), dtype=np.int32))
    return StepSchedule(
        topology=topology,
        method=maker(document),
        collective=collective,
        chunks=chunks,
        sends=Sends(
            step=narrow["step"],
            chunk=narrow["chunk"],
            tail=narrow["from"],
            head=narrow["to"],
            reduce=reduce == 1,
            interval=Intervals(wide["first"], wide["amount"]) if "first" in wide else None,
            path=narrow.get("path"),
        ),
        routes=routes,
        clock=_clock(document, narrow, wide),
        weights=_weights(document, topology),
        demand=_demand_of_chunks(document, topology, chunks) if "demand" in document else None,
    )


def _demand_of_chunks(document: Record, topology: Topology, chunks: Chunks) -> Demand:
    """Read the bytes of each chunk, and who needs those without a target."""
    given = one(document, "demand", dict)
    check_fields([given], DEMAND_FIELDS, lambda _: "demand.", ("targets",))
    size = _bytes_of(given, len(chunks), "chunks")
    if "targets" not in given:
        targets = [[rank] for rank in chunks.target.tolist()]
    else:
        rows = one(given, "targets", list, "demand.")
        targets = of_type(rows, list, lambda i: f"demand.targets[{i}]")
    if len(targets) != len(chunks):
        refuse(f"demand.targets has {len(targets)} entries; there are {len(chunks)} chunks")
    ranks = of_type(list(chain.from_iterable(targets)), int, _in_targets)
    flat = numbers(ranks, 0, topology.num_compute - 1, _in_targets)
    return Demand(
        name=_name_of(given),
        gpus=topology.num_compute,
        source=chunks.root.astype(np.int64),
        size=size,
        first_target=np.concatenate([[0], np.cumsum([len(one) for one in targets])]).astype(
            np.int64
        ),
        target=flat,
    )


def _in_targets(_: int) -> str:
    return "a rank of demand.targets"


def _name_of(given: Record) -> str:
    name: str = one(given, "name", str, "demand.")
    if not name or not name.isprintable():
        wrong("demand.name", name, "a printable name")
    return name


def _bytes_of(given: Record, count: int, what: str) -> npt.NDArray[np.int64]:
    """Return the bytes of each chunk or pair."""
    sizes = of_type(one(given, "bytes", list, "demand."), int, lambda i: f"demand.bytes[{i}]")
    if len(sizes) != count:
        refuse(f"demand.bytes has {len(sizes)} entries; there are {count} {what}")
    if sum(sizes) > MOST_BYTES:
        refuse(f"demand.bytes are {sum(sizes)} in all; at most {MOST_BYTES} are possible")
    return numbers(sizes, 1, MOST_BYTES, lambda i: f"demand.bytes[{i}]")


def _check_columns(
    columns: Mapping[str, _Column],
    topology: Topology,
    chunks: int,
    routes: Routes,
    where: Callable[[str], Where],
) -> None:
    """Check that the steps, chunks, ends and paths of transfers exist."""
    nodes, from_0 = len(topology.nodes), (0, LARGEST)
    ranges = {
        "step": (0, max(len(columns["step"]) - 1, 0)),
        "chunk": (0, chunks - 1),
        "from": (0, nodes - 1),
        "to": (0, nodes - 1),
        "first": from_0,
        "amount": (1, LARGEST),
        "path": (-1, len(routes.multiplicity) - 1),
        "start": from_0,
        "end": from_0,
        "left": from_0,
        "message": (-1, _INT32),
    }
    for name, values in columns.items():
        if name == "reduce":
            if len(wrongs := np.flatnonzero((values != 0) & (values != 1))):
                at = int(wrongs[0])
                wrong(where(name)(at), int(values[at]), "1 if the receiver adds, else 0")
        else:
            check_range(values, *ranges[name], where(name))


def _weights(document: Record, topology: Topology) -> tuple[int, ...]:
    """Return the weights of all ranks; they may differ only in collectives of shards."""
    weights = weights_of(document, topology)
    if set(weights) != {1} and (found := document["collective"]) not in WEIGHTED:
        refuse(f"weights is given; a schedule of {found} has none, so leave it out")
    return weights


def _clock(
    document: Record,
    narrow: Mapping[str, npt.NDArray[np.int32]],
    wide: Mapping[str, npt.NDArray[np.int64]],
) -> Clock | None:
    timed = {"start", "left", "message"} & (narrow.keys() | wide.keys())
    if document["clock"] is None:
        if timed:
            refuse(f"clock is null, but transfers have {', '.join(sorted(timed))}")
        return None
    clock = one(document, "clock", dict)
    check_fields([clock], _CLOCK, lambda _: "clock.")
    if "start" not in wide:
        refuse("clock is given, but transfers have no start and end")
    tick_us = fraction(clock, "tick_us", "clock.")
    if not tick_us:
        wrong("clock.tick_us", clock["tick_us"], "more than 0")
    return Clock(
        size_bytes=amount(clock, "size_bytes", "clock."),
        tick_us=tick_us,
        start=wide["start"],
        end=wide["end"],
        left=wide.get("left"),
        message=narrow.get("message"),
    )


def _chunks(document: Record, records: list[Any], topology: Topology) -> Chunks:
    """Return the chunks; an allreduce's have no root, only an all-to-all's have a target.

    With a demand, a chunk that several GPUs need has none.
    """
    collective = one(document, "collective", str)
    ends = {"allreduce": (), "all-to-all": ("root", "target")}.get(collective, ("root",))
    several = ("target",) if "target" in ends and "demand" in document else ()
    of_type(records, dict, _chunk)
    check_fields(
        records, (*(end for end in ends if end not in several), "size"), _in_chunk, several
    )
    ranks = {}
    for end in ("root", "target"):
        ranks[end] = np.full(len(records), -1, dtype=np.int32)
        having = [i for i, record in enumerate(records) if end in record]
        where = [_in_chunk(i) + end for i in having]
        values = of_type([records[i][end] for i in having], int, where.__getitem__)
        ranks[end][having] = numbers(values, 0, topology.num_compute - 1, where.__getitem__)
    return Chunks(
        size=numbers(column(records, "size", int, _chunk), 1, LARGEST, within(_chunk, "size")),
        whole=amount(document, "whole"),
        root=ranks["root"],
        target=ranks["target"],
    )


def _in_chunk(i: int) -> str:
    return f"{_chunk(i)}."


def _send(i: int) -> str:
    return f"sends[{i}]"


def _chunk(i: int) -> str:
    return f"chunks[{i}]"
