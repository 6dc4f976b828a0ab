"""All measures of a finished schedule: the columns of its row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from experiments.measures.declared import MEASURES, SIMULATED, SIZED
from experiments.measures.run_result import RunResult

__all__ = ["measured", "simulated"]


def measured(made: RunResult, sizes: Iterable[int] = ()) -> dict[str, Any]:
    """Compute every measure of a schedule except simulations; return the columns with a value.

    Measures that depend on the data size are in the column ``sizes``, by size.
    """
    values = {name: one.of(made) for name, one in MEASURES.items() if not one.sized}
    values |= {name: values[one.exact_of] for name, one in MEASURES.items() if one.exact_of}
    columns: dict[str, Any] = {
        name: str(value) if MEASURES[name].exact_of else _plain(value)
        for name, value in values.items()
        if value is not None
    }
    names = [name for name in SIZED if name not in SIMULATED]
    by_size = {str(size): _sized(made, size, names) for size in sizes}
    return {**columns, "sizes": by_size} if by_size else columns


def simulated(made: RunResult, by_size: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Simulate one size after the other; yield the results so far.

    Parameters
    ----------
    by_size : dict
        The column ``sizes`` of :func:`measured`.

    Yields
    ------
    dict
        The column ``sizes`` with one more simulated size; or ``unsimulated`` with the reason.
    """
    if made.simulated is None:
        return
    if made.simulated.remark:
        yield {"unsimulated": made.simulated.remark}
        return
    for size in by_size:
        by_size = {**by_size, size: {**by_size[size], **_sized(made, int(size), SIMULATED)}}
        yield {"sizes": by_size}


def _sized(made: RunResult, size: int, names: Iterable[str]) -> dict[str, Any]:
    values = {name: MEASURES[name].of(made, size) for name in names}
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Fraction) else value
