"""Binary schedule files (npz), for networks whose trees would fill gigabytes as JSON.

Every array is a member of its own, integers in the narrowest type that holds them; ``head`` is the
text of a JSON document. Nothing is pickled, and nothing compressed: a member is as long as its
own header says, so that a small file never asks for much memory.
"""

from __future__ import annotations

import io
import json
import math
import struct
import tokenize
from dataclasses import fields
from typing import IO, Any, NoReturn
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
import numpy.typing as npt

from forestcoll.errors import ExportError, InvalidScheduleError
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.schedule.allreduce import Allreduce, AnyForest, AnySchedule
from forestcoll.schedule.factored import FactoredForest, Links, Sets, Shapes
from forestcoll.schedule.files.fields import (
    LARGEST,
    Record,
    check_path_rows,
    check_range,
    check_routes,
    check_rows,
    entry_of,
)
from forestcoll.schedule.files.header import ROTATED_VERSION, Head, head_document
from forestcoll.schedule.files.parsing import parse_heads, parse_stepwise_head
from forestcoll.schedule.files.plain_data import read_document
from forestcoll.schedule.files.plan_document import SLOT_ARRAYS, plan_in_arrays
from forestcoll.schedule.files.stepwise_document import (
    OPTIONAL_ARRAYS,
    STEP_ARRAYS,
    arrays_of_steps,
)
from forestcoll.schedule.files.stepwise_parsing import flows_of, steps_of_arrays
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["parse_binary", "write_binary"]

_ROUTES = {
    "routes.tail": np.int32,
    "routes.head": np.int32,
    "routes.first_path": np.int64,
    "routes.multiplicity": np.int64,
    "routes.first_hop": np.int64,
    "routes.hop": np.int32,
}
_ARRAYS: dict[str, dict[str, type]] = {
    "explicit": {"root": np.int32, "multiplicity": np.int64, "parent": np.int32, **_ROUTES},
    "factored": {
        "sets.set_of": np.int32,
        "sets.parent": np.int32,
        "sets.shape": np.int32,
        "shapes.items": np.int32,
        "shapes.batches": np.int64,
        "shapes.root": np.int32,
        "shapes.multiplicity": np.int64,
        "shapes.parent": np.int32,
        "links.tail": np.int32,
        "links.head": np.int32,
        "links.load": np.int64,
        **_ROUTES,
    },
    "multicast": {
        "root": np.int32,
        "multiplicity": np.int64,
        "first_walk": np.int64,
        "walk": np.int32,
        "walks.first_node": np.int64,
        "walks.node": np.int32,
    },
}
"""Arrays of each form, with the types they have in memory."""

_ROTATIONS: dict[str, type] = {"shapes.digits": np.int32, "shapes.radices": np.int32}
"""More arrays of factored forests, in files that keep rotations of trees."""

_TABLES = ("parent", "plan.slot")
"""Arrays of two dimensions."""

_FORMS = {"explicit": Forest, "factored": FactoredForest, "multicast": MulticastForest}

_UNREADABLE = (
    *(BadZipFile, EOFError, NotImplementedError, OverflowError, RuntimeError, SyntaxError),
    *(ValueError, struct.error, tokenize.TokenError),
)

_LONGEST = 200  # longest quotation of a library's error, in characters

_Array = npt.NDArray[np.integer[Any]]


def write_binary(schedule: AnySchedule, file: IO[bytes]) -> None:
    """Write a schedule; the same schedule gives the same bytes.

    Raises ExportError if an array holds a number beyond signed 64 bits.
    """
    if isinstance(schedule, StepSchedule | FlowSchedule):
        steps = arrays_of_steps(schedule) if isinstance(schedule, StepSchedule) else {}
        routes = {name: getattr(schedule.routes, name.partition(".")[2]) for name in _ROUTES}
        _save(head_document(schedule), steps | routes, file)
        return
    forests: dict[str, AnyForest] = (
        {"reduce.": schedule.reduce, "gather.": schedule.gather}
        if isinstance(schedule, Allreduce)
        else {"": schedule}
    )
    (form,) = {_form(forest) for forest in forests.values()}
    head = head_document(schedule)
    kinds = _ARRAYS[form] | (_ROTATIONS if head["version"] == ROTATED_VERSION else {})
    arrays: dict[str, _Array] = {}
    for prefix, forest in forests.items():
        for name in kinds:
            value: Any = forest
            for part in name.split("."):
                value = getattr(value, part)
            arrays[prefix + name] = value
        arrays |= {prefix + name: array for name, array in _slot_arrays(forest).items()}
    _save({**head, "form": form}, arrays, file)


def _slot_arrays(forest: AnyForest) -> dict[str, _Array]:
    plan = forest.plan if isinstance(forest, Forest) else None
    if plan is None or plan.slots is None:
        return {}
    return {name: getattr(plan.slots, name.partition(".")[2]) for name in SLOT_ARRAYS}


def _save(head: dict[str, Any], arrays: dict[str, _Array], file: IO[bytes]) -> None:
    """Write the members as numpy.savez does, which would hold all of them in their narrow types."""
    text = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, array in {"head": text, **arrays}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                narrow = text if name == "head" else _narrowed(name, array)
                np.lib.format.write_array(member, narrow, allow_pickle=False)


def _form(forest: AnyForest) -> str:
    return next(name for name, kind in _FORMS.items() if isinstance(forest, kind))


def _narrowed(name: str, array: _Array) -> _Array:
    """Return the array in the narrowest type of signed integers that holds it."""
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    if high > LARGEST:
        raise ExportError(f"array {name} holds {high}; files hold numbers up to {LARGEST}")
    # Nothing is compressed, so the type decides how long a file is.
    kinds = (np.int8, np.int16, np.int32, np.int64)
    kind = next(k for k in kinds if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
    return array.astype(kind, copy=False)


def parse_binary(file: IO[bytes]) -> AnySchedule:
    """Read a schedule.

    Raises
    ------
    InvalidScheduleError
        If the file is not in the format; names the array, what was found and what is allowed.
    InvalidTopologyError
        If the topology inside is not valid.
    """
    try:
        with ZipFile(file) as archive:
            members = _members(archive)
    except _UNREADABLE as error:
        _refuse(f"not a complete npz file: {str(error)[:_LONGEST]}")
    if "head" not in members:
        _refuse("not a schedule; array head is missing")
    found = read_document(_text(members.pop("head")), _head)
    if len(found) == 2:
        return _stepwise(*found, members)
    heads, form, bound, version = found
    if form not in _ARRAYS:
        _refuse(f"form is {form!r}; it must be one of {', '.join(map(repr, _ARRAYS))}")
    if version == ROTATED_VERSION and form != "factored":
        _refuse(f"version is {version}, but form is {form!r}; that version is for 'factored'")
    kinds = _ARRAYS[form] | (_ROTATIONS if version == ROTATED_VERSION else {})
    prefixes = {name: f"{name}." if name else "" for name in heads}
    due = [
        prefix + name
        for phase, prefix in prefixes.items()
        for name in (*kinds, *_slots_due(heads[phase]))
    ]
    for name in sorted(members.keys() ^ set(due)):
        fault = "is missing" if name in due else "is not in the format"
        _refuse(f"array {name} {fault}; the arrays of this form are {', '.join(due)}")
    forests: list[AnyForest] = [
        _forest(head, form, kinds, prefixes[name], members) for name, head in heads.items()
    ]
    return forests[0] if len(forests) == 1 else _allreduce(forests, bound)


def _slots_due(head: Head) -> tuple[str, ...]:
    return () if head.plan is None or head.plan.slots is None else tuple(SLOT_ARRAYS)


def _head(
    data: Any,
) -> tuple[Record, Topology] | tuple[dict[str, Head], str, AllreduceBound | None, int]:
    """Read the head: of steps or flows with their network, or of forests.

    For forests, return the head of each phase, the form, the bound and the version.
    """
    return parse_stepwise_head(data) or (*parse_heads(data), data["version"])


def _stepwise(
    document: Record, topology: Topology, members: dict[str, _Array]
) -> StepSchedule | FlowSchedule:
    steps = document["form"] == "steps"
    kinds = {**(STEP_ARRAYS if steps else {}), **_ROUTES}
    may = set(OPTIONAL_ARRAYS) if steps else set()
    for name in sorted((members.keys() ^ kinds.keys()) - (may - members.keys())):
        fault = "is missing" if name in kinds else "is not in the format"
        _refuse(f"array {name} {fault}; the arrays of this form are {', '.join(kinds)}")
    arrays = {name: _typed(name, array, kinds[name]) for name, array in members.items()}
    nodes = len(topology.nodes)
    routes = _routes(arrays, nodes, nodes if steps else topology.num_compute)
    check_path_rows(routes)
    if steps:
        return steps_of_arrays(document, topology, arrays, routes)
    return flows_of(document, topology, routes)


def _allreduce(phases: list[Any], bound: AllreduceBound | None) -> AnySchedule:
    reduce, gather = phases
    whole: Allreduce[Forest] = Allreduce(reduce, gather, bound)  # or of another form, both of one
    return whole


def _forest(
    head: Head, form: str, kinds: dict[str, type], prefix: str, members: dict[str, _Array]
) -> Any:
    """Return the forest whose arrays have a prefix to their names, and take these out."""
    arrays = {
        name: _typed(prefix + name, members.pop(prefix + name), kind)
        for name, kind in (kinds | {one: SLOT_ARRAYS[one] for one in _slots_due(head)}).items()
    }
    ranks, nodes = head.topology.num_compute, len(head.topology.nodes)
    if form == "multicast":
        _check_walks(arrays, prefix, ranks, nodes)
        rows: dict[str, Any] = {name: arrays[name] for name in arrays if "." not in name}
        return MulticastForest(**head.shared(), **rows, walks=_part(Walks, "walks", arrays))
    if form == "explicit":
        _check_trees(arrays, prefix, ranks)
    routes = _routes(arrays, nodes, ranks, prefix)
    if form == "explicit":
        trees: dict[str, Any] = {name: arrays[name] for name in ("root", "multiplicity", "parent")}
        plan = plan_in_arrays(head.plan, arrays, len(arrays["root"]), ranks, prefix)
        return Forest(**(vars(head) | {"plan": plan}), **trees, routes=routes)
    return FactoredForest(
        **head.shared(),
        sets=_part(Sets, "sets", arrays),
        shapes=_part(Shapes, "shapes", arrays),
        links=_part(Links, "links", arrays),
        routes=routes,
    )


def _check_trees(arrays: dict[str, _Array], prefix: str, ranks: int) -> None:
    shape, found = (len(arrays["root"]), ranks), arrays["parent"].shape
    if found != shape:
        _refuse(f"array {prefix}parent has shape {found}; it must have {shape}")
    _check_roots(arrays, prefix, ranks)
    flat = arrays["parent"].reshape(-1)
    check_range(flat, -1, ranks - 1, lambda i: f"{prefix}parent[{i // ranks}, {i % ranks}]")


def _check_roots(arrays: dict[str, _Array], prefix: str, ranks: int) -> None:
    batches, found = len(arrays["root"]), len(arrays["multiplicity"])
    if found != batches:
        _refuse(f"array {prefix}multiplicity has {found} entries; root has {batches}")
    check_range(arrays["root"], 0, ranks - 1, entry_of(f"{prefix}root"))


def _check_walks(arrays: dict[str, _Array], prefix: str, ranks: int, nodes: int) -> None:
    """Check that every batch of physical trees has its walks, and every walk its nodes."""
    _check_roots(arrays, prefix, ranks)
    walks, visited = max(len(arrays["walks.first_node"]) - 1, 0), arrays["walks.node"]
    batches, entries = len(arrays["root"]), len(arrays["walk"])
    check_rows(f"{prefix}first_walk", arrays["first_walk"], batches, entries)
    check_rows(f"{prefix}walks.first_node", arrays["walks.first_node"], walks, len(visited))
    check_range(arrays["walk"], 0, walks - 1, entry_of(f"{prefix}walk"))
    check_range(visited, 0, nodes - 1, entry_of(f"{prefix}walks.node"))


def _routes(arrays: dict[str, _Array], nodes: int, ends: int, prefix: str = "") -> Routes:
    """Return the routes, whose logical links join ends below ``ends``."""
    routes: Routes = _part(Routes, "routes", arrays)
    check_routes(routes, nodes, ends, prefix)
    return routes


def _part(kind: Any, prefix: str, arrays: dict[str, _Array]) -> Any:
    names = [(field.name, f"{prefix}.{field.name}") for field in fields(kind)]
    return kind(**{field: arrays[name] for field, name in names if name in arrays})


def _members(archive: ZipFile) -> dict[str, _Array]:
    """Return all arrays by name; together they must not be longer than the file.

    Otherwise an archive could list the same bytes under many names and fill the memory.
    """
    due, found = sum(info.file_size for info in archive.infolist()), _length(archive)
    if due > found:
        _refuse(f"its arrays have {due} bytes in all, and the file {found}; write it again")
    members = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in members:
            _refuse(f"array {name} is there twice")
        if info.compress_type != ZIP_STORED:
            _refuse(f"array {name} is compressed; write it with numpy.savez, which does not")
        with archive.open(info) as member:
            members[name] = _array(name, member, info.file_size)
    return members


def _length(archive: ZipFile) -> int:
    file = archive.fp
    assert file is not None  # it is open
    return file.seek(0, io.SEEK_END)


def _array(name: str, member: IO[bytes], size: int) -> _Array:
    """Read an array; its header must agree with the size of the member."""
    shape, by_columns, kind = _header(name, member)
    if kind.kind not in "iu" or (by_columns and len(shape) > 1):
        _refuse(f"array {name} holds {kind}; it must hold integers, row by row")
    due, given = math.prod(shape) * kind.itemsize, size - member.tell()
    if due != given:
        _refuse(f"array {name} has {given} bytes of data; its shape {shape} asks for {due}")
    array: _Array = np.frombuffer(member.read(), dtype=kind).reshape(shape)
    return array


def _header(name: str, member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape of an array, whether it is in Fortran order, and its type."""
    version = np.lib.format.read_magic(member)
    try:
        if version == (1, 0):
            return np.lib.format.read_array_header_1_0(member)
        return np.lib.format.read_array_header_2_0(member)
    except MemoryError:  # Python's parser raises it for a few thousand nested brackets or signs
        _refuse(f"array {name} has a header that is nested too deeply")


def _text(array: _Array) -> bytes:
    if array.dtype != np.uint8:
        _refuse(f"array head holds {array.dtype}; it must hold the bytes of a text, uint8")
    try:
        (text := array.tobytes()).decode()
    except UnicodeDecodeError:
        _refuse("array head is not text in UTF-8")
    return text


def _typed(name: str, array: _Array, kind: type) -> _Array:
    """Convert an array to its type in memory; check its dimensions and the range of its values."""
    dimensions = 2 if name.removeprefix("reduce.").removeprefix("gather.") in _TABLES else 1
    if array.ndim != dimensions:
        _refuse(f"array {name} has {array.ndim} dimensions; it must have {dimensions}")
    if array.dtype.kind != "i":
        _refuse(f"array {name} holds {array.dtype}; it must hold signed integers")
    limits = np.iinfo(kind)
    for extreme in (int(array.min()), int(array.max())) if array.size else ():
        if not limits.min <= extreme <= limits.max:
            _refuse(f"array {name} holds {extreme}; it must fit {np.dtype(kind).name}")
    return array.astype(kind)


def _refuse(problem: str) -> NoReturn:
    raise InvalidScheduleError(problem)
