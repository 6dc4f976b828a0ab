"""Refusal of JSON that would fill memory, before it is parsed.

Problem: 60 MB of ``[[],[],`` become gigabytes of Python objects.
Input:   the text of a JSON file, the most bytes that its objects may take.
Output:  nothing, or an error of one line.
Cost:    three passes that count a character each, at some GB/s.
Source:  sizes of CPython 3.11's objects on 64-bit machines. Every value of a document follows one
         of ``[ { ,`` or a key, so the counts bound the objects; characters inside text count too,
         which errs on the safe side.
"""

from __future__ import annotations

from forestcoll.errors import ForestCollError

__all__ = ["MOST_OBJECT_BYTES", "expect_few_objects", "object_bytes"]

MOST_OBJECT_BYTES = 400_000_000
"""Of the objects of a document: half a million links of eight fields each take 260 MB."""

_LIST, _OBJECT, _VALUE = 72, 200, 40


def object_bytes(text: str | bytes) -> int:
    """Estimate the memory of what a JSON text becomes, in bytes.

    Examples
    --------
    >>> object_bytes('[{"a": 1}, 2]') == 72 + 200 + 40
    True
    """
    if isinstance(text, bytes):
        lists, objects, values = text.count(b"["), text.count(b"{"), text.count(b",")
    else:
        lists, objects, values = text.count("["), text.count("{"), text.count(",")
    return _LIST * lists + _OBJECT * objects + _VALUE * values


def expect_few_objects(
    text: str | bytes, name: str, error: type[ForestCollError], most: int = MOST_OBJECT_BYTES
) -> None:
    """Refuse a JSON text whose objects would take more memory; ``name`` is what errors call it.

    Raises
    ------
    error
        If they would; in one line.
    """
    if (found := object_bytes(text)) > most:
        where = f"{name}: " if name else ""
        raise error(
            f"{where}holds so many values that they take {found // 10**6} MB of memory; at most "
            f"{most // 10**6} MB are allowed, so check that it is the right file"
        )
