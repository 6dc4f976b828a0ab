"""Expansion of Slurm's lists of names, such as ``node[001-016,020],login``."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

from forestcoll.errors import ForestCollError

__all__ = ["expanded_names"]

_MOST_NAMES = 100_000
_PART = re.compile(r"(?:[^,\[\]\s]|\[[0-9,-]*\])+")
_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_PIECE = re.compile(r"\[([^\]]*)\]|([^\[]+)")


def expanded_names(text: str, fault: Callable[[str], ForestCollError]) -> list[str]:
    """Return the names of a list, in its order.

    Parameters
    ----------
    text : str
    fault : callable
        Makes the error from a problem.

    Raises
    ------
    ForestCollError
        If brackets or a range are wrong, or there are over 100,000 names.

    Examples
    --------
    >>> expanded_names("n[09-11],r[0-1]x[1,3]", ValueError)
    ['n09', 'n10', 'n11', 'r0x1', 'r0x3', 'r1x1', 'r1x3']
    """
    names: list[str] = []
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None or (match.end() < len(text) and text[match.end()] != ","):
            raise fault(f"{text[:40]!r} is not a list of names, such as node[01-16]; correct it")
        names += _expanded(match[0], _MOST_NAMES - len(names), fault)
        at = match.end() + 1
    if not names or text.endswith(","):
        raise fault(f"{text[:40]!r} is not a list of names, such as node[01-16]; correct it")
    return names


def _expanded(part: str, room: int, fault: Callable[[str], ForestCollError]) -> list[str]:
    pieces: list[list[str]] = []
    size = 1
    for match in _PIECE.finditer(part):
        pieces.append([match[2]] if match[2] else _numbers(match[1], room, fault))
        size *= len(pieces[-1])
        if size > room:
            raise fault(f"{part[:40]!r} makes over {_MOST_NAMES} names; write fewer")
    return ["".join(words) for words in product(*pieces)]


def _numbers(text: str, room: int, fault: Callable[[str], ForestCollError]) -> list[str]:
    """Return the numbers of ``001-016,020`` with their leading zeros."""
    numbers: list[str] = []
    for item in text.split(","):
        match = _RANGE.fullmatch(item)
        first, last = (match[1], match[2] or match[1]) if match else ("1", "0")
        if int(first) > int(last):
            raise fault(f"[{text[:40]}] is not a list of numbers, such as [01-16,20]; correct it")
        if int(last) - int(first) >= room - len(numbers):
            raise fault(f"[{text[:40]}] makes over {_MOST_NAMES} names; write fewer")
        numbers += [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1)]
    return numbers
