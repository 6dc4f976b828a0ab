"""Demands in files: a table of amounts (CSV, npz), or chunks with their targets (YAML, JSON).

Problem: read what a framework or a trace says: who sends how much to whom.
Input:   a file of at most ``MOST_FILE_BYTES``; the network, for the names of its GPUs.
Output:  the demand; each amount is a whole number of bytes.
Cost:    linear in the file.
Source:  ours. The formats are in docs/all-to-all.md.
"""

from __future__ import annotations

import csv
import io
import os
import reprlib
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from forestcoll.bounded_read import read_at_most, read_text_at_most
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.demand import Demand
from forestcoll.problem.named_demands import DEMANDS, named_demand, rank_of_gpu
from forestcoll.problem.sizes import read_size
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import in_short
from forestcoll.topology.reading.documents import Document, parse_json, parse_yaml
from forestcoll.topology.spec import Network, as_topology

__all__ = ["MOST_FILE_BYTES", "demand_in", "read_demand"]

MOST_FILE_BYTES = 64_000_000
"""Size limit of a file: the amounts of 2,000 GPUs as text."""

_MOST_YAML_BYTES = 16_000_000

_MOST_LETTERS = 1000

_MOST_TARGETS = 2**22
"""Of all chunks of a file together."""

_MOST_ADDED = 2**28
"""Largest number of pairs of GPUs of all demands that a file adds up."""

_ENTRY = b"PK\x01\x02"
_MOST_ENTRIES = 1000
_LONGEST_HEADER = 10_000

# What zipfile and numpy raise on bad archives. The parser of headers runs out of memory for a few
# thousand nested brackets.
_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError, KeyError, ValueError),
    *(EOFError, OSError, OverflowError, RuntimeError, SyntaxError, TypeError, MemoryError),
)

_FIELDS = ("name", "amounts", "unit", "chunks", "demands")


def demand_in(text: str, topology: Network) -> Demand:
    """Return the demand that a text names: a file if there is one, or else a specification.

    Raises
    ------
    InvalidParameterError
        As :func:`read_demand` and :func:`forestcoll.problem.named_demands.named_demand`.
    """
    topology = as_topology(topology)
    if text.partition(":")[0] in DEMANDS and not os.path.lexists(text):
        return named_demand(text, topology)
    if not os.path.lexists(text) and (":" in text or not Path(text).suffix):
        return named_demand(text, topology)  # whose error lists the names
    return read_demand(text, topology)


def read_demand(path: str | os.PathLike[str], topology: Topology) -> Demand:
    """Read a demand: ``.csv``, ``.npz``, ``.json``, or else YAML.

    A CSV file has a row of amounts for each GPU, in the order of the ranks or, with a first row and
    column of names, in any. An npz file has an array ``amounts`` of whole numbers. A YAML or JSON
    file has ``amounts`` (rows, in ``unit``), ``chunks`` (mappings of ``from``, ``to`` and
    ``size``), or ``demands`` (specifications of named demands), which are added up.

    Raises
    ------
    InvalidParameterError
        If the file cannot be read, or does not fit the network; in one line, with the file, the
        place and what is allowed.
    """
    path = Path(path)
    readers = {".csv": _read_csv, ".npz": _read_npz}
    demand = readers.get(path.suffix.lower(), _read_document)(path, topology)
    if demand.gpus != topology.num_compute:
        raise InvalidParameterError(
            f"{path}: has amounts for {demand.gpus} GPUs; {topology.name} has "
            f"{topology.num_compute}"
        )
    return demand


def _read_csv(path: Path, topology: Topology) -> Demand:
    text = read_text_at_most(path, MOST_FILE_BYTES, InvalidParameterError)
    expected = topology.num_compute
    if text.count(",") > (expected + 1) * (expected + 2):
        raise InvalidParameterError(
            f"{path}: has over {text.count(',')} amounts; {topology.name} has {expected} GPUs and "
            f"needs as many rows, each of as many amounts"
        )
    try:
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error as error:
        raise InvalidParameterError(f"{path}: is not a CSV file: {error}") from None
    names = None
    if rows and not any(map(_is_amount, rows[0][1:])):
        names, rows = [cell.strip() for cell in rows[0][1:]], rows[1:]
        if [row[0].strip() for row in rows] != names:
            raise InvalidParameterError(
                f"{path}: the first column does not name the same GPUs as the first row"
            )
        rows = [row[1:] for row in rows]
    if len(rows) != expected or any(len(row) != expected for row in rows):
        raise InvalidParameterError(
            f"{path}: has {len(rows)} rows of amounts; {topology.name} has {expected} GPUs and "
            f"needs as many rows, each of as many amounts"
        )
    amounts = np.array(
        [
            [_amount(cell, f"{path}: row {i + 1}, column {j + 1}", 1) for j, cell in enumerate(row)]
            for i, row in enumerate(rows)
        ],
        dtype=object,
    )
    if names is not None:
        order = [rank_of_gpu(topology, name, str(path)) for name in names]
        if sorted(order) != list(range(expected)):
            raise InvalidParameterError(f"{path}: does not name every GPU of {topology.name} once")
        placed = np.zeros_like(amounts)
        placed[np.ix_(order, order)] = amounts
        amounts = placed
    return Demand.of_matrix(_fitting(amounts), _name(path))


def _read_npz(path: Path, topology: Topology) -> Demand:
    content = read_at_most(path, MOST_FILE_BYTES, InvalidParameterError)
    gpus = topology.num_compute
    try:
        # Each entry of the archive's directory becomes an object, before any of them is asked for.
        if content.count(_ENTRY) > _MOST_ENTRIES:
            raise ValueError(f"it has over {_MOST_ENTRIES} arrays")
        with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open("amounts.npy") as member:
            # No more than is needed: a small file may hold many zeros.
            raw = io.BytesIO(member.read(8 * gpus**2 + _LONGEST_HEADER))
        version = np.lib.format.read_magic(raw)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, by_columns, kind = read(raw)
        if kind.kind not in "iuf" or kind.itemsize > 8:
            raise ValueError(f"it holds {str(kind)[:80]}")
        if shape == (gpus, gpus):
            flat = np.frombuffer(raw.getbuffer()[raw.tell() :], dtype=kind, count=gpus**2)
    except _UNREADABLE as error:
        raise InvalidParameterError(
            f"{path}: holds no array 'amounts' of whole numbers ({_in_a_line(error)}); write it "
            f"with numpy.savez"
        ) from None
    if shape != (gpus, gpus):
        raise InvalidParameterError(
            f"{path}: 'amounts' has shape {shape}; {topology.name} has {gpus} GPUs and needs as "
            f"many rows and columns"
        )
    return Demand.of_matrix(flat.reshape(shape, order="F" if by_columns else "C"), _name(path))


def _in_a_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _read_document(path: Path, topology: Topology) -> Demand:
    parse, most = parse_yaml, _MOST_YAML_BYTES
    if path.suffix.lower() == ".json":
        parse, most = parse_json, MOST_FILE_BYTES
    remedy = "write large demands as CSV or npz"
    text = read_text_at_most(path, most, InvalidParameterError, remedy)
    document = parse(text, str(path), InvalidParameterError)
    data = document.data
    if not isinstance(data, Mapping):
        raise document.fault(
            (), f"holds {reprlib.repr(data)}; it must be a mapping of {_allowed()}"
        )
    for key in data:
        if key not in _FIELDS:
            raise document.fault((key,), f"is not a field; known are {_allowed()}")
    if sum(key in data for key in ("amounts", "chunks", "demands")) != 1:
        raise document.fault((), "must have one of amounts, chunks and demands")
    name = data.get("name", _name(path))
    if not isinstance(name, str) or not _is_name(name):
        raise document.fault(("name",), f"must be printable, of at most {_MOST_LETTERS} letters")
    if "unit" in data and "amounts" not in data:
        raise document.fault(("unit",), "is for amounts; give sizes such as 1MB in chunks")
    if "chunks" in data:
        return _of_chunks(document, data["chunks"], topology, name)
    if "demands" in data:
        return _of_names(document, data["demands"], topology, name)
    unit = _amount(data.get("unit", 1), f"{document.source}: unit", 1)
    return _of_rows(document, data["amounts"], unit, topology, name)


def _of_rows(document: Document, rows: object, unit: int, topology: Topology, name: str) -> Demand:
    gpus = topology.num_compute
    if not isinstance(rows, list) or len(rows) != gpus:
        raise document.fault(("amounts",), f"must be {gpus} rows, one for each GPU")
    for i, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != gpus:
            raise document.fault(("amounts", i), f"must be {gpus} amounts, one for each GPU")
    amounts = [
        [_amount(cell, f"{document.source}: amounts[{i}][{j}]", unit) for j, cell in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    return Demand.of_matrix(_fitting(np.array(amounts, dtype=object)), name)


def _of_chunks(document: Document, rows: object, topology: Topology, name: str) -> Demand:
    if not isinstance(rows, list):
        raise document.fault(("chunks",), "must be a list of mappings of from, to and size")
    made, everybody, left = [], list(range(topology.num_compute)), _MOST_TARGETS
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping) or {*row} != {"from", "to", "size"}:
            raise document.fault(("chunks", i), "must be a mapping of from, to and size")
        targets = row["to"] if isinstance(row["to"], list) else [row["to"]]
        where = f"{document.source}: chunks[{i}]"
        size = _amount(row["size"], f"{where}.size", 1)
        source = _rank(topology, row["from"], where)
        everywhere = targets == ["*"]
        others = everybody if everywhere else [_rank(topology, one, where) for one in targets]
        made.append((source, size, others))
        left -= len(others)
        if left < 0:
            raise document.fault(("chunks", i), f"is beyond {_MOST_TARGETS} targets in all")
    return Demand.of_chunks(topology.num_compute, made, name)


def _of_names(document: Document, specs: object, topology: Topology, name: str) -> Demand:
    if not isinstance(specs, list) or not specs or not all(isinstance(one, str) for one in specs):
        raise document.fault(("demands",), "must be a list of demands such as all-to-all:size=1MB")
    amounts = np.zeros((topology.num_compute,) * 2, dtype=np.int64)
    if len(specs) * amounts.size > _MOST_ADDED:
        raise document.fault(
            ("demands",), f"has {len(specs)} entries; at most {_MOST_ADDED // amounts.size} fit"
        )
    for spec in specs:
        amounts += named_demand(spec, topology).matrix
    return Demand.of_matrix(amounts, name)


def _rank(topology: Topology, name: object, where: str) -> int:
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise InvalidParameterError(
            f"{where}: {reprlib.repr(name)} is not a GPU; give a name or rank"
        )
    return rank_of_gpu(topology, name, where)


def _name(path: Path) -> str:
    """Return the path as the name of a demand, which is printable."""
    text = str(path)
    return text if _is_name(text) else ascii(text)[:_MOST_LETTERS]


def _is_name(text: str) -> bool:
    return 0 < len(text) <= _MOST_LETTERS and text.isprintable()


def _is_amount(cell: str) -> bool:
    """Whether a cell is no name; an empty one is 0."""
    return cell.strip()[:1] in ("", "-", "+") or cell.strip()[:1].isdigit()


def _amount(given: object, where: str, unit: int) -> int:
    """Return bytes: a number of units, or a size with its own unit such as 1.5MB."""
    text = given.strip() if isinstance(given, str) else given
    if isinstance(text, str) and text.removeprefix("-").isdecimal() and len(text) < 20:
        text = int(text)
    if isinstance(text, float) and text.is_integer():
        text = int(text)
    if isinstance(text, int) and not isinstance(text, bool):
        if text < 0:
            raise InvalidParameterError(f"{where}: is {in_short(text)}; amounts are from 0 up")
        return text * unit
    if text in ("", None):
        return 0
    try:
        return read_size(text)
    except ValueError as error:
        raise InvalidParameterError(f"{where}: {error}") from None


def _fitting(amounts: np.ndarray) -> np.ndarray:
    """Return whole numbers as 64 bits; those that do not fit stay, for the demand to refuse."""
    fits = all(abs(one) < 2**62 for one in amounts.flat)
    return amounts.astype(np.int64) if fits else amounts


def _allowed() -> str:
    return ", ".join(_FIELDS)
