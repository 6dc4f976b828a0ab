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
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from forestcoll.bounded_read import read_at_most, read_text_at_most
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.demand import MOST_CHUNKS, Demand
from forestcoll.problem.named_demands import DEMANDS, named_demand
from forestcoll.problem.sizes import read_size
from forestcoll.problem.weights import rank_of_root
from forestcoll.topology.model import Topology
from forestcoll.topology.reading.documents import Document, parse_json, parse_yaml

__all__ = ["MOST_FILE_BYTES", "demand_in", "read_demand"]

MOST_FILE_BYTES = 64_000_000
"""Size limit of a file: the amounts of 2,000 GPUs as text."""

_MOST_CELLS = MOST_CHUNKS
_FIELDS = ("name", "amounts", "unit", "chunks", "demands")


def demand_in(text: str, topology: Topology) -> Demand:
    """Return the demand that a text names: a file if there is one, or else a specification.

    Raises
    ------
    InvalidParameterError
        As :func:`read_demand` and :func:`forestcoll.problem.named_demands.named_demand`.
    """
    if text.partition(":")[0] in DEMANDS and not os.path.lexists(text):
        return named_demand(text, topology)
    if not os.path.lexists(text) and not Path(text).suffix:
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
    try:
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error as error:
        raise InvalidParameterError(f"{path}: is no CSV file: {error}") from None
    names = None
    if rows and not any(_is_amount(cell) for cell in rows[0][1:]):
        names, rows = [cell.strip() for cell in rows[0][1:]], rows[1:]
        if [row[0].strip() for row in rows] != names:
            raise InvalidParameterError(
                f"{path}: the first column does not name the same GPUs as the first row"
            )
        rows = [row[1:] for row in rows]
    expected = topology.num_compute
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
        order = [rank_of_root(topology, name) for name in names]
        if sorted(order) != list(range(expected)):
            raise InvalidParameterError(f"{path}: does not name every GPU of {topology.name} once")
        placed = np.zeros_like(amounts)
        placed[np.ix_(order, order)] = amounts
        amounts = placed
    return Demand.of_matrix(_fitting(amounts), str(path))


def _read_npz(path: Path, topology: Topology) -> Demand:
    content = read_at_most(path, MOST_FILE_BYTES, InvalidParameterError)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            member = archive.getinfo("amounts.npy")
            if member.file_size > 8 * _MOST_CELLS + 1024:
                raise InvalidParameterError(f"{path}: its array is too large for a demand")
            with archive.open(member) as file:
                amounts = np.lib.format.read_array(file, allow_pickle=False)
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError) as error:
        raise InvalidParameterError(
            f"{path}: holds no array 'amounts' of whole numbers ({error}); write it with "
            f"numpy.savez"
        ) from None
    if amounts.shape != (topology.num_compute,) * 2:
        raise InvalidParameterError(
            f"{path}: 'amounts' has shape {amounts.shape}; {topology.name} has "
            f"{topology.num_compute} GPUs and needs as many rows and columns"
        )
    return Demand.of_matrix(amounts, str(path))


def _read_document(path: Path, topology: Topology) -> Demand:
    text = read_text_at_most(path, MOST_FILE_BYTES, InvalidParameterError)
    parse = parse_json if path.suffix.lower() == ".json" else parse_yaml
    document = parse(text, str(path), InvalidParameterError)
    data = document.data
    if not isinstance(data, Mapping):
        raise document.fault(
            (), f"holds {reprlib.repr(data)}; it must be a mapping of {_allowed()}"
        )
    for key in data:
        if key not in _FIELDS:
            raise document.fault((key,), f"is no field; known are {_allowed()}")
    if sum(key in data for key in ("amounts", "chunks", "demands")) != 1:
        raise document.fault((), "must have one of amounts, chunks and demands")
    name = str(data.get("name", path))
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
    made = []
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping) or {*row} != {"from", "to", "size"}:
            raise document.fault(("chunks", i), "must be a mapping of from, to and size")
        targets = row["to"] if isinstance(row["to"], list) else [row["to"]]
        if targets == ["*"]:
            targets = list(range(topology.num_compute))
        where = f"{document.source}: chunks[{i}]"
        size = _amount(row["size"], f"{where}.size", 1)
        source, *others = [_rank(topology, one, where) for one in (row["from"], *targets)]
        made.append((source, size, others))
    return Demand.of_chunks(topology.num_compute, made, name)


def _of_names(document: Document, specs: object, topology: Topology, name: str) -> Demand:
    if not isinstance(specs, list) or not specs or not all(isinstance(one, str) for one in specs):
        raise document.fault(("demands",), "must be a list of demands such as all-to-all:size=1MB")
    amounts = np.zeros((topology.num_compute,) * 2, dtype=np.int64)
    for spec in specs[:1000]:
        amounts += named_demand(spec, topology).matrix
    return Demand.of_matrix(amounts, name)


def _rank(topology: Topology, name: object, where: str) -> int:
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise InvalidParameterError(f"{where}: {reprlib.repr(name)} is no GPU; give a name or rank")
    try:
        return rank_of_root(topology, name)
    except InvalidParameterError as error:
        raise InvalidParameterError(
            f"{where}: {str(error).replace('the root is', 'names')}"
        ) from None


def _is_amount(cell: str) -> bool:
    return cell.strip()[:1].isdigit() or cell.strip()[:1] in ("-", "+")


def _amount(given: object, where: str, unit: int) -> int:
    """Return bytes: a number of units, or a size with its own unit such as 1.5MB."""
    text = given.strip() if isinstance(given, str) else given
    if isinstance(text, str) and text.lstrip("-").isdecimal() and len(text) < 20:
        text = int(text)
    if isinstance(text, float) and text.is_integer():
        text = int(text)
    if isinstance(text, int) and not isinstance(text, bool):
        if text < 0:
            raise InvalidParameterError(f"{where}: is {text}; amounts are from 0 up")
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
