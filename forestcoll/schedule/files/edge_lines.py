"""Fast parser of tree edges in JSON files, without a Python object for each number.

Problem: half of a schedule file are pairs of small numbers, which are slow to parse as lists.
Input:   the bytes of a JSON file.
Output:  the bytes without the edges of trees on lines of their own, as ``write_schedule`` formats
         them; later, the parsed data with arrays in place of the edges.
Cost:    linear.
Source:  none. JSON strings cannot span lines, so a line that looks like an object is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["UnreadableError", "edges_lifted", "edges_put_back"]

_START = b'\n    {"root": '
_TREE = re.compile(rb'\n    \{"root": [0-9]+, "multiplicity": [0-9]+, "edges": \[\[')
_CLOSE = b"]]}"
_ENDS = (b"", b",", b"\r", b",\r")  # rest of a line after the tree
_BETWEEN = b"],["
_DIGITS = b"0123456789"
_MOST_DIGITS = 18  # numbers of so many digits always fit 64 bits


class UnreadableError(Exception):
    """Input that the fast parser does not read, valid or not."""


def edges_lifted(content: bytes) -> tuple[bytes, list[bytes]]:
    """Remove the edges from the lines of trees and leave their numbers: ``[0]``, ``[1]``...

    Returns
    -------
    rest : bytes
    taken : list of bytes
        The text between the outermost brackets of each list of edges; not checked.
    """
    pieces, taken = list[bytes](), list[bytes]()
    copied, start = 0, content.find(_START)
    while start >= 0:
        stop = content.find(b"\n", start + 1)
        stop = len(content) if stop < 0 else stop
        if head := _TREE.match(content, start, stop):
            close = content.rfind(_CLOSE, head.end(), stop)
            if close >= 0 and content[close + len(_CLOSE) : stop] in _ENDS:
                pieces += [content[copied : head.end() - 1], b"%d" % len(taken)]
                taken.append(content[head.end() : close])
                copied = close + 1
        start = content.find(_START, stop)
    return b"".join([*pieces, content[copied:]]), taken


def edges_put_back(data: Any, taken: list[bytes]) -> None:
    """Replace the numbers that were left behind by arrays of shape (edges, 2).

    There is no check that such objects stand in lists of trees: the format allows them nowhere
    else. Raises UnreadableError if some tree left no number, or the removed text is not pairs of
    whole numbers.
    """
    if not taken:
        return
    trees = list(_trees(data))
    if len(trees) != len(taken):
        raise UnreadableError("trees that stand on a line, and others")
    lengths = [edges.count(_BETWEEN) + 1 for edges in taken]
    arrays = np.split(_pairs(_BETWEEN.join(taken), sum(lengths)), np.cumsum(lengths)[:-1])
    for i, (tree, edges) in enumerate(zip(trees, arrays, strict=True)):
        if not isinstance(tree, dict) or tree.get("edges") != [i]:
            raise UnreadableError(f"a tree that is not the {i}-th on a line")
        tree["edges"] = edges


def _trees(data: Any) -> Iterator[Any]:
    """Yield the entries of lists of trees, in the order of the file."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if key == "trees" and isinstance(value, list):
            yield from value
        elif key in ("reduce", "gather"):
            yield from _trees(value)


def _pairs(text: bytes, count: int) -> npt.NDArray[np.int64]:
    """Parse text such as ``1,2],[3,4`` to an array with a row for each pair."""
    signs = text.translate(None, _DIGITS)
    flat = text.replace(_BETWEEN, b",")
    if signs + _BETWEEN != (b"," + _BETWEEN) * count or b",," in b",%s," % flat:
        raise UnreadableError("edges that are not pairs of whole numbers")
    ends = np.fromstring(flat, dtype=np.int64, sep=",")
    if _digits(ends) != len(text) - len(signs) or ends.max() >= 10**_MOST_DIGITS:
        raise UnreadableError("a number that begins with 0 or has too many digits")
    return ends.reshape(-1, 2)


def _digits(numbers: npt.NDArray[np.int64]) -> int:
    """Count the digits of numbers from 0 up."""
    longer = (np.count_nonzero(numbers >= 10**digits) for digits in range(1, _MOST_DIGITS))
    total = numbers.size
    for more in longer:
        if not more:
            break
        total += int(more)
    return total
