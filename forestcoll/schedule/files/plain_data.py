"""JSON reader of schedule files, with exact decimals and a limit on the number of values.

Problem: read megabytes of JSON in a fraction of a second, and name the fault of invalid files.
Input:   the bytes or the text of a file.
Output:  its one object. A number with a point is kept as text; a repeated field is an error.
Cost:    linear.
Source:  jiter (pydantic's parser) for valid files; Python's json, which is slower but reports the
         line, for invalid ones. Not msgspec: it keeps the last of two equal fields, and without
         ``edge_lines`` needs 170 MB more for a file of 25 MB (docs/architecture.md).
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
_MANY = ("trees", "routes", "walks", "chunks", "sends")
"""Fields with megabytes and without decimals."""


class Decimal(str):
    """A number with a point, kept as text, so that it stays exact and is not an integer."""

    __slots__ = ()
    __repr__ = str.__str__


def read_document(content: bytes, build: Callable[[Any], T]) -> T:
    """Build an object from the JSON data of a file.

    Parameters
    ----------
    build : callable
        Called with the data, in which edges of trees may be arrays of shape (edges, 2). If it
        rejects them, it is called again with the data of :func:`full_document`, so that errors
        quote the original text.

    Raises
    ------
    InvalidScheduleError
        If the content is not JSON, or ``build`` rejects it.
    UnicodeDecodeError
        If it is not text in UTF-8.
    """
    with _collector_paused():
        with suppress(UnreadableError, InvalidScheduleError):
            return build(_quick_document(content))
        return build(full_document(_text(content)))


def _quick_document(content: bytes) -> Any:
    """Parse JSON fast; the result equals that of :func:`full_document`, except in trees.

    Edges may be arrays, and numbers with a point in trees are not text: none is valid there.
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
    """Replace numbers with a point by their text, in place."""
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
    """Return the text with universal newlines, as Python's files have them."""
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read()


def full_document(text: str) -> Any:
    """Parse JSON.

    Raises InvalidScheduleError if it is not JSON, with the line; if an object repeats a field; if
    there are too many values for the memory limit.
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
    except ValueError:  # an integer with more digits than Python's conversion limit
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
    """Pause the garbage collector while a million small lists are made; this halves the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
