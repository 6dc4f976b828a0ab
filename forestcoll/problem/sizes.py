"""Parser of data sizes such as 64MB, into exact numbers of bytes.

1KB is 1024 bytes and 1MB is 1024 KB, as in nccl-tests, where K, KB and KiB mean the same. A bare
number is in bytes. Bandwidths differ: a GB/s is 1e9 bytes/s, in nccl-tests as here.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator
from fractions import Fraction

__all__ = ["MOST_BYTES", "read_size", "read_sizes", "size_text"]

MOST_BYTES = 10**18
"""Largest size in bytes: an exabyte, the limit of simulations."""

MOST_SIZES = 1000
"""Largest number of sizes in a list; more are probably a mistake."""

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?) ?(?:([KMGT])i?)?B?", re.ASCII)
_KEYS = ("from", "to", "factor")


def read_size(given: object) -> int:
    """Read a number of bytes.

    Raises
    ------
    ValueError
        The message continues the name of the field.

    Examples
    --------
    >>> read_size("1KB"), read_size("1.5 MiB"), read_size(1000)
    (1024, 1572864, 1000)
    """
    if isinstance(given, int) and not isinstance(given, bool) and given > 0:
        return _within(given)
    found = _SIZE.fullmatch(str(given)) if isinstance(given, str | int) else None
    if found is None or isinstance(given, bool):
        raise ValueError(
            f"has {reprlib.repr(given)}; write bytes, or a size such as 1KB, 64MB or 1.5GB"
        )
    number = Fraction(found[1]) * _UNITS[found[2] or ""]
    if number.denominator != 1 or number < 1:
        raise ValueError(f"has {given!r}, which is {number} bytes; a size is a whole number from 1")
    return _within(int(number))


def _within(size: int) -> int:
    if size > MOST_BYTES:
        raise ValueError(f"has {reprlib.repr(size)} bytes; at most {MOST_BYTES} are allowed")
    return size


def read_sizes(given: object) -> list[int]:
    """Read a list of sizes and ranges.

    A range is "1KB..1GB", each size twice the one before, or a mapping ``{from: 1KB, to: 1GB,
    factor: 4}``.

    Raises
    ------
    ValueError
        The message continues the name of the field.

    Examples
    --------
    >>> read_sizes(["1KB..8KB", {"from": "1MB", "to": "20MB", "factor": 4}])
    [1024, 2048, 4096, 8192, 1048576, 4194304, 16777216]
    """
    if not isinstance(given, list):
        raise ValueError(f"is {reprlib.repr(given)}; write a list, such as [1KB..1GB]")
    sizes: list[int] = []
    for entry in given:
        for size in _values(entry):
            if size in sizes:
                raise ValueError(f"has {size_text(size)} twice; keep one")
            sizes.append(size)
            if len(sizes) > MOST_SIZES:
                raise ValueError(f"has over {MOST_SIZES} sizes; take a larger factor")
    return sizes


def _values(entry: object) -> Iterator[int]:
    if isinstance(entry, dict):
        yield from _scaled(entry)
    elif isinstance(entry, str) and ".." in entry:
        first, _, last = entry.partition("..")
        yield from _scaled({"from": first, "to": last})
    else:
        yield read_size(entry)


def _scaled(given: dict[object, object]) -> Iterator[int]:
    for key in given:
        if key not in _KEYS:
            raise ValueError(f"has a range with {key!r}; known: {', '.join(_KEYS)}")
    if "from" not in given or "to" not in given:
        raise ValueError('has a range without "from" or "to"; add it')
    size, last, factor = read_size(given["from"]), read_size(given["to"]), given.get("factor", 2)
    if not isinstance(factor, int) or isinstance(factor, bool) or not 2 <= factor <= MOST_BYTES:
        raise ValueError(
            f"has a range by the factor {reprlib.repr(factor)}; it must be a whole number from 2 "
            f"to {MOST_BYTES}"
        )
    if last < size:
        raise ValueError(
            f"has a range from {size_text(size)} to {size_text(last)}; exchange its two ends"
        )
    while size <= last:
        yield size
        size *= factor


def size_text(size: int) -> str:
    """Return a size as text for :func:`read_size`, in the largest unit that divides it.

    Examples
    --------
    >>> size_text(1024), size_text(1572864), size_text(1000)
    ('1KB', '1536KB', '1000')
    """
    unit = max((name for name in _UNITS if size % _UNITS[name] == 0), key=lambda name: _UNITS[name])
    return f"{size // _UNITS[unit]}{unit}{'B' if unit else ''}"
