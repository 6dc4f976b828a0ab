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
    """A column of rows with its metadata.

    Parameters
    ----------
    name : str
        Name of the column; it ends with the unit if there is one.
    meaning : str
        Description for the docs.
    how : callable, optional
        Computes the value for a verified schedule: ``how(made)``, or ``how(made, size_bytes)`` if
        it depends on the data size; None means no value. A Fraction is rounded in this column. The
        running process reports a measure without ``how``.
    sized : bool
        Whether it depends on the data size. Such a measure has a value for each of the
        experiment's ``sizes``, and none without sizes.
    simulated : bool
        Whether it comes from simulations, which run only if an experiment requests them.
    label : str
        Label of an axis; a measure without a label is not drawn.
    unit : str
        Unit of an axis.
    better : str
        "less" or "more".
    logarithmic : bool
        Whether its values span decades.
    bounded : bool
        Whether the optimum bounds it from above.
    limit : str
        The column with its limit, at which a timeout is drawn.
    compared : bool
        Whether a difference between two sets of results counts as a change.
    exact_of : str
        The measure whose exact value this column holds, as text "p/q".
    summary : bool
        Whether summary.csv includes it.
    heading : str
        Heading of its column in the terminal table; empty if the table leaves it out.
    cell : callable, optional
        Formats the cell of a row; by default the number, rates with two decimals.
    always : bool
        Whether the table shows the column even if no row has a value.
    before : str
        The measure that it precedes in tables and summary.csv, if not the next in order.
    """

    name: str = ""
    meaning: str = ""
    how: Callable[..., object] | None = None
    sized: bool = False
    simulated: bool = False
    label: str = ""
    unit: str = ""
    better: Literal["less", "more"] = "less"
    logarithmic: bool = False
    bounded: bool = False
    limit: str = ""
    compared: bool = False
    exact_of: str = ""
    summary: bool = True
    heading: str = ""
    cell: Callable[[Any], str] | None = None
    always: bool = False
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
