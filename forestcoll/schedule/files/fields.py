"""Form checks of JSON fields and of arrays: missing fields, wrong types, values out of range.

A file can have a million records, so one field of all records is checked at a time; only the search
for a fault goes record by record. Every error names the field, the value found and the values
allowed. Numbers of chunks, nodes and paths are checked before anything is indexed with them: an
index from a file would fail far from the file, or silently return another entry.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from itertools import chain
from operator import itemgetter
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = [
    "LARGEST", "Record", "Where", "amount", "check_fields", "check_path_rows", "check_range",
    "check_records", "check_routes", "check_rows", "column", "entry_of", "fraction", "maker",
    "node_positions", "numbers", "of_type", "one", "refuse", "weights_of", "whole", "within",
    "wrong",
]  # fmt: skip


LARGEST = 2**63 - 1
"""Largest whole number that a file may hold."""

_FRACTION = re.compile("[0-9]{1,300}(/[0-9]{1,300})?")  # 300 digits still fit a float's range

Record = dict[str, Any]

Where = Callable[[int], str]
"""Function that names the i-th record of a column: "trees[3]"."""


def within(where: Where, key: str) -> Where:
    """Name a field of the records of a column."""
    return lambda i: f"{where(i)}.{key}"


def node_positions(
    lists: list[list[Any]], topology: Topology, where: Where
) -> npt.NDArray[np.int32]:
    """Return the positions of the nodes named in some lists, concatenated."""
    position = topology.position_of
    names = list(chain.from_iterable(lists))
    if not (set(map(type, names)) <= {str} and position.keys() >= set(names)):
        for i, listed in enumerate(lists):
            for name in listed:
                if type(name) is not str or name not in position:
                    wrong(where(i), name, f"names of nodes of {topology.name}")
    return np.fromiter(map(position.__getitem__, names), np.int32, len(names))


def check_records(records: list[Any], fields: Collection[str], where: Where) -> None:
    """Check that every record is an object with exactly these fields."""
    of_type(records, dict, where)
    check_fields(records, fields, lambda i: f"{where(i)}.")


def check_fields(
    records: list[Record], fields: Collection[str], prefix: Where, optional: Collection[str] = ()
) -> None:
    """Check that every record has all these fields, and no others but the optional ones."""
    wanted, may = set(fields), set(optional)
    known = {keys: set(keys) - may == wanted for keys in set(map(tuple, records))}
    if all(known.values()):
        return
    i, record = next((i, r) for i, r in enumerate(records) if not known[tuple(r)])
    for field in fields:
        if field not in record:
            refuse(f"{prefix(i)}{field} is missing; add it")
    extra = next(key for key in record if key not in wanted | may)
    listed = ", ".join((*fields, *optional))
    refuse(f"{prefix(i)}{extra!r} is not in the format; the fields here are {listed}")


def column(records: list[Record], key: str, kind: type, where: Where) -> list[Any]:
    """Return a field of all records; check its type."""
    return of_type(list(map(itemgetter(key), records)), kind, within(where, key))


def of_type(values: list[Any], kind: type, where: Where) -> list[Any]:
    """Return the values if all are of exactly this type (a bool is no int)."""
    if not set(map(type, values)) <= {kind}:
        at = next(i for i, value in enumerate(values) if type(value) is not kind)
        wrong(where(at), values[at], _KINDS[kind])
    return values


def numbers(values: list[int], low: int, high: int, where: Where) -> npt.NDArray[np.int64]:
    """Return integers as an array if all lie between low and high."""
    try:
        array = np.fromiter(values, np.int64, len(values))
    except OverflowError:  # beyond 64 bits, so beyond the range of any field
        array = None
    if array is None or (array.size and not low <= array.min() <= array.max() <= high):
        at = next(i for i, value in enumerate(values) if not low <= value <= high)
        wrong(where(at), values[at], f"between {low} and {high}")
    return array


_KINDS: Mapping[type, str] = {
    bool: "true or false",
    dict: "an object",
    int: "an integer",
    list: "a list",
    str: "text",
}


def one(record: Record, key: str, kind: type, prefix: str = "") -> Any:
    """Return a field of a record; check its type."""
    return of_type([record[key]], kind, lambda _: prefix + key)[0]


def whole(record: Record, key: str, prefix: str = "") -> int:
    """Return a field that is a whole number from 1 up."""
    value: int = one(record, key, int, prefix)
    if not 0 < value <= LARGEST:
        wrong(prefix + key, value, f"positive and at most {LARGEST}")
    return value


def amount(record: Record, key: str, prefix: str = "") -> int:
    """Return a field that is a whole number from 1 up, of up to 300 digits."""
    value: int = one(record, key, int, prefix)
    if not 0 < value < 10**300:
        wrong(prefix + key, value, "positive, with at most 300 digits")
    return value


def maker(record: Record) -> str:
    """Return the field with the method of a schedule."""
    method: str = one(record, "method", str)
    if not method or not method.isprintable():
        wrong("method", method, "the printable name of who made the schedule")
    return method


def weights_of(record: Record, topology: Topology) -> tuple[int, ...]:
    """Return the weights of all ranks, 1 where the record gives none."""
    if "weights" not in record:
        return (1,) * topology.num_compute
    weights = of_type(one(record, "weights", list), int, lambda i: f"weights[{i}]")
    if len(weights) != topology.num_compute:
        wrong("weights", weights, f"a list of {topology.num_compute} integers, one for each GPU")
    numbers(weights, 0, LARGEST, lambda i: f"weights[{i}]")
    return tuple(weights)


def fraction(record: Record, key: str, prefix: str = "") -> Fraction:
    """Return a field that holds an exact number from 0 up as text."""
    value: str = one(record, key, str, prefix)
    top, _, bottom = value.partition("/")
    if not _FRACTION.fullmatch(value) or not int(bottom or 1):
        wrong(prefix + key, value, 'an exact number in quotes: "3" or "127/25"')
    return Fraction(int(top), int(bottom or 1))


def wrong(field: str, found: object, allowed: str) -> NoReturn:
    """Raise an error about a value."""
    refuse(f"{field} is {reprlib.repr(found)}; it must be {allowed}")


def refuse(problem: str) -> NoReturn:
    """Raise an error about a file.

    Raises InvalidScheduleError.
    """
    raise InvalidScheduleError(problem)


_Whole = npt.NDArray[np.integer[Any]]


def entry_of(array: str) -> Where:
    """Name the entries of an array of a binary file: "sends.chunk[3]"."""
    return lambda i: f"{array}[{i}]"


def check_range(values: _Whole, low: int, high: int, where: Where) -> None:
    """Check that an array has one dimension and values between low and high."""
    if not len(values) or low <= int(values.min()) <= int(values.max()) <= high:
        return
    at = int(np.flatnonzero((values < low) | (values > high))[0])
    wrong(where(at), int(values[at]), f"between {low} and {high}")


def check_rows(name: str, first: _Whole, rows: int, entries: int) -> None:
    """Check that compressed rows start at 0, do not decrease, and end at the last entry."""
    if len(first) != rows + 1:
        refuse(f"array {name} has {len(first)} entries; it must have {rows + 1}")
    if first[0] != 0 or first[-1] != entries:
        refuse(f"array {name} runs from {first[0]} to {first[-1]}; it must run from 0 to {entries}")
    if len(back := np.flatnonzero(first[1:] < first[:-1])):
        at = int(back[0]) + 1
        wrong(f"{name}[{at}]", int(first[at]), f"at least {first[at - 1]}, as the one before it")


def check_routes(routes: Routes, nodes: int, ends: int, prefix: str = "") -> None:
    """Check that links join ends below ``ends``, and that rows lead to paths and to nodes."""
    links, paths = len(routes.tail), len(routes.multiplicity)
    if len(routes.head) != links:
        refuse(f"array {prefix}routes.head has {len(routes.head)} entries; routes.tail has {links}")
    ranges = {
        "tail": (0, ends - 1),
        "head": (0, ends - 1),
        "multiplicity": (1, LARGEST),
        "hop": (0, nodes - 1),
    }
    for name, (low, high) in ranges.items():
        check_range(getattr(routes, name), low, high, entry_of(f"{prefix}routes.{name}"))
    check_rows(f"{prefix}routes.first_path", routes.first_path, links, paths)
    check_rows(f"{prefix}routes.first_hop", routes.first_hop, paths, len(routes.hop))


def check_path_rows(routes: Routes) -> None:
    """Check that every logical link of steps or flows has a path, and every path a hop."""
    if len(empty := np.flatnonzero(np.diff(routes.first_path) < 1)):
        refuse(f"routes: {_link(routes, int(empty[0]))} has no path; leave it out")
    if len(short := np.flatnonzero(np.diff(routes.first_hop) < 2)):
        link = int(np.searchsorted(routes.first_path, short[0], side="right")) - 1
        refuse(f"routes: a path of {_link(routes, link)} has less than 2 nodes; name both its ends")


def _link(routes: Routes, link: int) -> str:
    return f"the logical link from {routes.tail[link]} to {routes.head[link]}"
