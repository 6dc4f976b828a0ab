"""Arrays of amounts that add up without overflow, and the first True of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Ints", "exact", "first"]

Ints = npt.NDArray[np.integer[Any]]


def first(wrong: npt.NDArray[np.bool_]) -> int | None:
    """Return the flat index of the first True, if there is one."""
    at = int(wrong.argmax()) if wrong.size else 0
    return at if wrong.size and wrong.flat[at] else None


def exact(amounts: Ints, terms: int) -> npt.NDArray[Any]:
    """Return positive amounts in a type in which ``terms`` of them add up without overflow.

    Amounts of this type are returned as they are, not copied.
    """
    fits = not amounts.size or int(amounts.max()) * max(terms, 1) < 2**63
    return amounts.astype(np.int64 if fits else object, copy=False)
