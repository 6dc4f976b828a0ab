"""Every measure of a schedule that was made: the columns of its row."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from experiments.measures.declared import MEASURES, SIZED
from experiments.measures.made import Made

__all__ = ["measured"]


def measured(made: Made, sizes: Iterable[int] = ()) -> dict[str, Any]:
    """Take every measure of a schedule: the columns that have a value.

    Those that depend on the size of the data are in the column ``sizes``, by size.
    """
    values = {name: one.of(made) for name, one in MEASURES.items() if not one.sized}
    values |= {name: values[one.exact_of] for name, one in MEASURES.items() if one.exact_of}
    columns: dict[str, Any] = {
        name: str(value) if MEASURES[name].exact_of else _plain(value)
        for name, value in values.items()
        if value is not None
    }
    by_size = {str(size): _sized(made, size) for size in sizes}
    return {**columns, "sizes": by_size} if by_size else columns


def _sized(made: Made, size: int) -> dict[str, Any]:
    values = {name: MEASURES[name].of(made, size) for name in SIZED}
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Fraction) else value
