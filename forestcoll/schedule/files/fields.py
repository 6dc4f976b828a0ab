"""Form checks of JSON fields: missing fields, wrong types and values out of range.

A file can have a million records, so one field of all records is checked at a time; only the search
for a fault goes record by record. Every error names the field, the value found and the values
allowed.
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
from forestcoll.topology.model import Topology

__all__ = [
    "LARGEST",
    "Record",
    "Where",
    "amount",
    "check_fields",
    "check_records",
    "column",
    "fraction",
    "maker",
    "node_positions",
    "numbers",
    "of_type",
    "one",
    "refuse",
    "weights_of",
    "whole",
    "within",
    "wrong",
]

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

    Raises
    ------
    InvalidScheduleError
    """
    raise InvalidScheduleError(problem)
