"""Declaration of a measure: a column of rows, with its unit, label and meaning.

A measure is a field of :class:`experiments.measures.declared.Measures`, with a default from
:func:`measure`. So the field has a type, and its metadata stand beside it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from experiments.measures.run_result import RunResult

__all__ = ["Measure", "duration", "exactly", "measure", "measures_of", "share"]

_KEY = "measure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A column of rows with its metadata."""

    name: str = ""  # name of the column; it ends with the unit if there is one
    meaning: str = ""  # description for the docs
    # computes the value for a verified schedule: ``how(made)``, or ``how(made, size_bytes)`` if it
    # depends on the data size; None means no value. A Fraction is rounded in this column. The
    # running process reports a measure without ``how``
    how: Callable[..., object] | None = None
    # whether it depends on the data size. Such a measure has a value for each of the experiment's
    # ``sizes``, and none without sizes
    sized: bool = False
    # whether it comes from simulations, which run only if an experiment requests them
    simulated: bool = False
    label: str = ""  # label of an axis; a measure without a label is not drawn
    unit: str = ""  # unit of an axis
    better: Literal["less", "more"] = "less"  # "less" or "more"
    logarithmic: bool = False  # whether its values span decades
    bounded: bool = False  # whether the optimum bounds it from above
    limit: str = ""  # the column with its limit, at which a timeout is drawn
    compared: bool = False  # whether a difference between two sets of results counts as a change
    exact_of: str = ""  # the measure whose exact value this column holds, as text "p/q"
    summary: bool = True  # whether summary.csv includes it
    # heading of its column in the terminal table; empty if the table leaves it out
    heading: str = ""
    # formats the cell of a row; by default the number, rates with two decimals
    cell: Callable[[Any], str] | None = None
    always: bool = False  # whether the table shows the column even if no row has a value
    # the measure that it precedes in tables and summary.csv, if not the next in order
    before: str = ""

    @property
    def axis(self) -> str:
        """The label of an axis."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def text(self, row: object) -> str:
        """Return the cell of a row in the terminal table."""
        if self.cell is not None:
            return self.cell(row)
        value = getattr(row, self.name)
        if value is None:
            return ""
        return f"{value:.2f}" if isinstance(value, float) else str(value)

    def of(self, made: RunResult, *size: int) -> object:
        """Return its value, exact where possible."""
        return None if self.how is None else self.how(made, *size)


def measure(meaning: str, *, empty: Callable[[], object] | None = None, **more: Any) -> Any:
    """Return a dataclass field that declares a measure, for :class:`Measure`'s parameters.

    Parameters
    ----------
    empty : callable, optional
        Makes the placeholder for a missing value, if not None.
    """
    metadata = {_KEY: Measure(meaning=meaning, **more)}
    if empty is not None:
        return dataclasses.field(default_factory=empty, metadata=metadata)
    return dataclasses.field(default=None, metadata=metadata)


def exactly(name: str, *, compared: bool = False) -> Any:
    """Return a dataclass field for the exact value of a measure, as text."""
    return measure("the same, exactly", exact_of=name, compared=compared)


def measures_of(cls: type) -> Mapping[str, Measure]:
    """Return the measures that a class declares, by name, in order."""
    return {
        field.name: dataclasses.replace(field.metadata[_KEY], name=field.name)
        for field in dataclasses.fields(cls)
        if _KEY in field.metadata
    }


def duration(time: float | None) -> str:
    """Format a time in seconds with a suitable unit.

    Examples
    --------
    >>> duration(0.00123), duration(12.3)
    ('1.2 ms', '12.3 s')
    """
    if time is None:
        return ""
    return f"{time:.1f} s" if time >= 1 else f"{1000 * time:.1f} ms"


def share(part: float | None) -> str:
    """Format a share in per cent.

    Examples
    --------
    >>> share(0.762), share(None)
    ('76.2%', '')
    """
    return "" if part is None else f"{part:.1%}"
