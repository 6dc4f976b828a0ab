"""Error for arguments of a type that an operation does not support."""

from __future__ import annotations

from forestcoll.errors import UnsupportedError

__all__ = ["not_taken"]


def not_taken(operation: str, found: object, takes: str = "a schedule") -> UnsupportedError:
    """Return the error of an operation that got an argument of the wrong type.

    Examples
    --------
    >>> print(not_taken("verify", None))
    unsupported: verify takes a schedule, not NoneType
    """
    return UnsupportedError(f"unsupported: {operation} takes {takes}, not {type(found).__name__}")
