"""Equality and hashes of dataclasses that hold arrays, field by field.

Problem: ``==`` of two numpy arrays is an array, so a dataclass that holds them cannot use it.
Input:   two dataclasses of one kind.
Output:  whether they are the same schedule, or the same part of one; a hash that goes with it.
Cost:    equality: one pass over the arrays; hash: a few entries of each array.
"""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

__all__ = ["ByValue"]

_HASHED = 16  # entries of an array, at either end


class ByValue:
    """A base of frozen dataclasses that hold arrays, declared with ``eq=False``.

    Two of them are equal if their fields are. Arrays compare by shape and entries, whatever their
    integer type; all other fields by ``==``. A field with ``compare=False`` does not count. Equal
    objects have equal hashes, so they can be members of sets and keys of mappings. ``hash=False``
    leaves a field out of the hash alone: one that is slow to hash, or is still lazy. Subclasses
    that add no field are of the same kind; nothing of another kind is equal.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False)
    ... class Row(ByValue):
    ...     entry: npt.NDArray[np.integer[Any]]
    >>> short, long = Row(np.array([1, 2], dtype=np.int8)), Row(np.array([1, 2], dtype=np.int64))
    >>> short == long, hash(short) == hash(long), short == Row(np.array([2, 1]))
    (True, True, False)
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ByValue) or fields(self) != fields(other):
            return NotImplemented
        names = (field.name for field in fields(self) if field.compare)
        return all(_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        hashed = (f for f in fields(self) if (f.compare if f.hash is None else f.hash))
        return hash(tuple(_hashable(getattr(self, field.name)) for field in hashed))


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
            return False
        return bool(one == other)
    return _kind(one) == _kind(other) and np.array_equal(one, other)


def _kind(array: npt.NDArray[Any]) -> str:
    """Return what an array holds: "i" for integers of all types."""
    return "i" if array.dtype.kind == "u" else array.dtype.kind


def _hashable(value: Any) -> Any:
    """Return a hashable stand-in for a value; for an array its shape and its ends."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind not in "iub":
        return value.shape
    flat = value.reshape(-1)
    ends = np.concatenate([flat[:_HASHED], flat[-_HASHED:]])
    return value.shape, ends.astype(np.int64).tobytes()
