"""From the bytes of a schedule file to plain data: dictionaries, lists, text and whole numbers.

Problem: read megabytes of JSON in a fraction of a second, and name what is wrong in the others.
Input:   the bytes or the text of a file.
Output:  its one object; a number with a point is its text, a field twice in one object a fault.
Cost:    linear.
Source:  jiter (pydantic's parser) for what is right; Python's json, slower, for what
         is not, as it tells the line.
"""

from __future__ import annotations

import gc
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import jiter

from forestcoll.bounded_read import expect_few_objects, object_bytes
from forestcoll.errors import InvalidScheduleError
from forestcoll.schedule.files.edge_lines import UnreadableError, edges_lifted, edges_put_back
from forestcoll.schedule.files.fields import Record, refuse

__all__ = ["MOST_OBJECT_BYTES", "Decimal", "full_document", "read_document"]

MOST_OBJECT_BYTES = 1_200_000_000
"""Of the objects of a file, where edges that stand on a line take none: those of 256 MB of forests.
"""

T = TypeVar("T")

_NESTING = (dict, list, jiter.LosslessFloat)
_MANY = ("trees", "routes", "walks")  # hold megabytes, and no number with a point


class Decimal(str):
    """A number with a point, kept as its text: nothing is lost, and it is no integer."""

    __slots__ = ()
    __repr__ = str.__str__


def read_document(content: bytes, build: Callable[[Any], T]) -> T:
    """Build something of the JSON data of a file.

    Parameters
    ----------
    content : bytes
    build : callable
        Called with the data, in which edges of trees may be arrays of shape (edges, 2). If it
        refuses them, once more with the data as :func:`full_document` reads them, so that what is
        told of them is told of the very text.

    Raises
    ------
    InvalidScheduleError
        If the content is not JSON, or ``build`` refuses it.
    UnicodeDecodeError
        If it is not text in UTF-8.
    """
    with _collector_paused():
        with suppress(UnreadableError, InvalidScheduleError):
            return build(_quick_document(content))
        return build(full_document(_text(content)))


def _quick_document(content: bytes) -> Any:
    """Parse JSON; what is read is what :func:`full_document` reads, but for numbers in trees.

    Edges may be arrays, and numbers with a point in trees are not text: none is right there.
    """
    rest, taken = edges_lifted(content.removeprefix(b"\xef\xbb\xbf"))
    if object_bytes(rest) > MOST_OBJECT_BYTES:
        raise UnreadableError("too many values")
    try:
        data = jiter.from_json(
            rest,
            allow_inf_nan=False,
            catch_duplicate_keys=True,
            float_mode="lossless-float",
        )
    except ValueError as error:
        raise UnreadableError from error
    edges_put_back(data, taken)
    return _with_decimals(data)


def _with_decimals(value: Any) -> Any:
    """Put the text of numbers with a point in their place, in the data itself."""
    kind = type(value)
    if kind is jiter.LosslessFloat:
        return Decimal(bytes(value).decode())
    if kind is dict:
        for key, inner in value.items():
            if type(inner) in _NESTING and key not in _MANY:
                value[key] = _with_decimals(inner)
    elif kind is list:
        value[:] = map(_with_decimals, value)
    return value


def _text(content: bytes) -> str:
    """Return the text, its lines ended as Python's files end them."""
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()


def full_document(text: str) -> Any:
    """Parse JSON.

    Raises
    ------
    InvalidScheduleError
        If it is none, with the line; if a field is given twice in one object; if there are more
        values than memory should hold.
    """
    expect_few_objects(text, "", InvalidScheduleError, MOST_OBJECT_BYTES)
    try:
        with _collector_paused():
            return json.loads(
                text, object_pairs_hook=_unique, parse_float=Decimal, parse_constant=Decimal
            )
    except json.JSONDecodeError as error:
        refuse(f"line {error.lineno}: not JSON: {error.msg}; is it complete?")
    except RecursionError:
        refuse("nested too deeply to be a schedule")
    except ValueError:  # an integer of more digits than Python converts
        refuse("holds an integer of thousands of digits; no schedule needs one")


def _unique(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        refuse(f"the field {twice!r} is given twice in one object; remove one")
    return record


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Hold the garbage collector while a million small lists are made: they take half the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
