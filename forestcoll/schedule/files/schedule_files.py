"""Read and write schedule files, in JSON or npz, atomically.

docs/formats/schedule.md and docs/schemas/ describe the formats. A name that ends in ".npz" selects
the binary format, which also holds factored forests. Reading checks the form, and that nodes,
chunks and paths exist. It also rejects a GPU with two parents in one tree, which the arrays of a
forest cannot hold. :func:`forestcoll.schedule.verify` checks the content.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.atomic_write import write_whole
from forestcoll.bounded_read import contains, expect_at_most, open_regular, read_whole
from forestcoll.errors import (
    ExportError,
    InvalidScheduleError,
    InvalidTopologyError,
    VerificationError,
)
from forestcoll.schedule.allreduce import Allreduce, AnyForest, AnySchedule, not_taken
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.files.binary import parse_binary, write_binary
from forestcoll.schedule.files.header import FORMAT, head_document
from forestcoll.schedule.files.parsing import parse_schedule
from forestcoll.schedule.files.plan_document import slot_rows
from forestcoll.schedule.files.stepwise_document import chunk_lines, send_columns
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.protocols import Routed
from forestcoll.schedule.steps import StepSchedule

__all__ = ["MOST_BINARY_BYTES", "MOST_BYTES", "read_schedule", "write_schedule"]

MOST_BYTES = 256_000_000
"""Size limit of a JSON file: 25 MB hold the forest of 1024 GPUs, so this is for some 3000."""

MOST_BINARY_BYTES = 4_000_000_000
"""Size limit of an npz file: the explicit forest of 1024 GPUs takes 5 MB, this some 20,000."""

_MARK = re.compile(rb'"format"\s{0,99}:\s{0,99}"' + FORMAT.encode() + b'"')

_LARGE = 1_000_000  # shorter files are always parsed, so that the error can name the fault
_AS_NPZ = "write the schedule as .npz, a fifth of the size"


def read_schedule(path: str | os.PathLike[str]) -> AnySchedule:
    """Read a schedule file.

    Parameters
    ----------
    path : path
        A JSON or npz file as :func:`write_schedule` makes it.

    Returns
    -------
    Forest, FactoredForest, MulticastForest, Allreduce, StepSchedule or FlowSchedule
        As it was written; only an npz file holds a factored one. Its form is checked; its claims
        are not (see :func:`forestcoll.schedule.verify`).

    Raises
    ------
    InvalidScheduleError
        If the file cannot be read or is not in the format; in one line, with the file, the
        field, the value found and the values allowed.
    VerificationError
        If a tree gives a GPU two parents.
    """
    path = Path(path)
    if _is_binary(path):
        with open_regular(path, MOST_BINARY_BYTES, InvalidScheduleError) as file, _named(path):
            return parse_binary(file)
    content = _content(path)
    with _named(path):
        return parse_schedule(content)


def _content(path: Path) -> bytes:
    """Return the bytes of a JSON file; a large file that is no schedule is not kept in memory."""
    with open_regular(path, MOST_BYTES, InvalidScheduleError, _AS_NPZ) as file:
        if os.fstat(file.fileno()).st_size > _LARGE and not contains(file, _MARK, MOST_BYTES):
            raise InvalidScheduleError(
                f'{path}: not a schedule; a schedule is a JSON object with "format": "{FORMAT}"'
            )
        content = read_whole(file, MOST_BYTES)
    expect_at_most(content, MOST_BYTES, str(path), InvalidScheduleError, _AS_NPZ)
    return content


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Put the name of the file before the message of an error."""
    try:
        yield
    except UnicodeDecodeError:
        raise InvalidScheduleError(f"{path}: not text in UTF-8; save it as such") from None
    except (InvalidScheduleError, InvalidTopologyError) as error:
        raise InvalidScheduleError(f"{path}: {error}") from None
    except VerificationError as error:
        raise VerificationError(f"{path}: {error}") from None


def write_schedule(schedule: AnySchedule, path: str | os.PathLike[str]) -> None:
    """Write a schedule file; :func:`read_schedule` gives back an equal schedule.

    A name that ends in ".npz" makes a binary file, any other a JSON file.

    The same schedule gives the same bytes. The file appears when it is complete: an interrupted or
    failed write leaves what was there before.

    Raises
    ------
    ExportError
        If the directory does not exist or cannot be written to, or a factored forest is to be
        written as JSON, or the phases of an allreduce are of two types; or a number does not fit an
        array of a binary file.
    UnsupportedError
        If it is no schedule.
    """
    path = Path(path)
    _check_type(schedule, path)
    write_whole(path, lambda draft: _write(draft, schedule, path))


def _check_type(schedule: object, path: Path) -> None:
    if isinstance(schedule, StepSchedule | FlowSchedule):
        return
    parts = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    for part in parts:
        if not isinstance(part, AnyForest):
            raise not_taken("write_schedule", part)
    if len(set(map(type, parts))) > 1:
        raise ExportError(f"{path}: both phases of an allreduce must be of one type; expand it")
    if isinstance(parts[0], FactoredForest) and not _is_binary(path):
        raise ExportError(f"{path}: a factored forest needs a name that ends in .npz; or expand it")


def _write(draft: Path, schedule: AnySchedule, path: Path) -> None:
    if _is_binary(path):
        try:
            with draft.open("wb") as file:
                write_binary(schedule, file)
        except ExportError as error:
            raise ExportError(f"{path}: {error}") from None
    else:
        with draft.open("w", encoding="utf-8", newline="\n") as text:
            text.writelines(_within_limit(_lines(schedule), path))


def _within_limit(lines: Iterable[str], path: Path) -> Iterator[str]:
    """Yield the lines, up to the size that can be read again."""
    length = 0
    for line in lines:
        length += len(line)
        if length > MOST_BYTES:
            raise ExportError(
                f"{path}: would have over {MOST_BYTES // 10**6} MB, which read_schedule refuses; "
                f"{_AS_NPZ}"
            )
        yield line


def _is_binary(path: Path) -> bool:
    return path.suffix.lower() == ".npz"


# --- layout ------------------------------------------------------------------------------------


def _lines(schedule: AnySchedule) -> Iterator[str]:
    """Yield the text of the file: one field, node, link, tree, route or walk a line."""
    head = head_document(schedule)
    yield "{\n"
    if isinstance(schedule, Allreduce):
        yield from (f"  {_field(key, head[key])},\n" for key in list(head)[:-2])
        for name, forest, comma in (
            ("reduce", schedule.reduce, ","),
            ("gather", schedule.gather, ""),
        ):
            yield f'  "{name}": {{\n'
            yield from _phase(head[name], forest)
            yield f"  }}{comma}\n"
    elif isinstance(schedule, StepSchedule | FlowSchedule):
        yield from _stepwise(head, schedule)
    else:
        yield from _phase(head, schedule)
    yield "}\n"


def _stepwise(head: dict[str, Any], schedule: StepSchedule | FlowSchedule) -> Iterator[str]:
    yield from (f"  {_field(key, value)},\n" for key, value in head.items())
    if isinstance(schedule, StepSchedule):
        columns = send_columns(schedule)
        yield f'  "chunks": {_list(chunk_lines(schedule.chunks), "    ")},\n'
        yield f'  "columns": {json.dumps(list(columns))},\n'
        yield f'  "sends": {_list(_rows(columns.values()), "    ")},\n'
    yield f'  "routes": {_list(_routes(schedule), "    ")}\n'


def _phase(head: dict[str, Any], forest: Any) -> Iterator[str]:
    """Yield the fields of a forest; those of a phase have no extra indentation."""
    yield from (f"  {_field(key, value)},\n" for key, value in head.items())
    if isinstance(forest, MulticastForest):
        yield f'  "trees": {_list(_physical_trees(forest), "    ")},\n'
        yield f'  "walks": {_list(_walks(forest), "    ")}\n'
    else:
        if forest.plan is not None and forest.plan.slots is not None:
            rows = (json.dumps(row, separators=(",", ":")) for row in slot_rows(forest.plan.slots))
            yield f'  "slots": {_list(rows, "    ")},\n'
        yield f'  "trees": {_list(_trees(forest), "    ")},\n'
        yield f'  "routes": {_list(_routes(forest), "    ")}\n'


def _field(key: str, value: Any) -> str:
    if key in ("topology", "bound"):
        return f'"{key}": {_listing(value)}'
    if key == "optimum" and value is not None:
        return f'"{key}": {_optimum(value)}'
    return f'"{key}": {json.dumps(value)}'


def _rows(columns: Iterable[npt.NDArray[Any]]) -> Iterator[str]:
    for row in zip(*(column.tolist() for column in columns), strict=True):
        yield f"[{','.join(map(str, row))}]"


def _list(entries: Iterable[str], indent: str) -> str:
    text = ",\n".join(indent + entry for entry in entries)
    return f"[\n{text}\n{indent[2:]}]" if text else "[]"


def _listing(document: dict[str, Any]) -> str:
    fields = []
    for key, value in document.items():
        entries = isinstance(value, list)
        text = _list(map(json.dumps, value), "      ") if entries else json.dumps(value)
        fields.append(f'    "{key}": {text}')
    return "{\n" + ",\n".join(fields) + "\n  }"


def _optimum(claim: dict[str, Any]) -> str:
    """Return the claim as an object whose cut has a line of its own."""
    lines = (f'    "{key}": {json.dumps(value)}' for key, value in claim.items())
    return "{\n" + ",\n".join(lines) + "\n  }"


def _trees(forest: Forest) -> Iterator[str]:
    """Yield the batches; edges run as the data does and by depth, so that senders are ready.

    From parent to child, parents first; in a reduction from child to parent, the deepest first.
    """
    depths = -forest.depths() if forest.reduction else forest.depths()
    order = np.argsort(depths, axis=1, kind="stable")
    parents = np.take_along_axis(forest.parent, order, axis=1)
    has_parent = parents >= 0
    nodes = range(parents.shape[1])
    senders = np.array([f"[{node}," for node in nodes], dtype=object)  # formatted once: faster
    receivers = np.array([f"{node}]" for node in nodes], dtype=object)
    heads = zip(forest.root.tolist(), forest.multiplicity.tolist(), strict=True)
    for batch, (root, multiplicity) in enumerate(heads):
        ends = parents[batch][has_parent[batch]], order[batch][has_parent[batch]]
        sender, receiver = reversed(ends) if forest.reduction else ends
        pairs = ",".join((senders[sender] + receivers[receiver]).tolist())
        yield f'{{"root": {root}, "multiplicity": {multiplicity}, "edges": [{pairs}]}}'


def _routes(forest: Routed) -> Iterator[str]:
    routes = forest.routes
    names = [json.dumps(node.name) for node in forest.topology.nodes]
    hops = [names[node] for node in routes.hop.tolist()]
    first_hop = routes.first_hop.tolist()
    paths = [
        f'{{"nodes": [{", ".join(hops[first_hop[j] : first_hop[j + 1]])}], "multiplicity": {m}}}'
        for j, m in enumerate(routes.multiplicity.tolist())
    ]
    first_path = routes.first_path.tolist()
    for i, (tail, head) in enumerate(zip(routes.tail.tolist(), routes.head.tolist(), strict=True)):
        listed = ", ".join(paths[first_path[i] : first_path[i + 1]])
        yield f'{{"from": {tail}, "to": {head}, "paths": [{listed}]}}'


def _physical_trees(forest: MulticastForest) -> Iterator[str]:
    walk, first = forest.walk.tolist(), forest.first_walk.tolist()
    heads = zip(forest.root.tolist(), forest.multiplicity.tolist(), strict=True)
    for batch, (root, multiplicity) in enumerate(heads):
        row = json.dumps(walk[first[batch] : first[batch + 1]], separators=(",", ":"))
        yield f'{{"root": {root}, "multiplicity": {multiplicity}, "walks": {row}}}'


def _walks(forest: MulticastForest) -> Iterator[str]:
    names = [json.dumps(node.name) for node in forest.topology.nodes]
    for i in range(len(forest.walks)):
        yield f"[{', '.join(names[node] for node in forest.walks.nodes(i))}]"
