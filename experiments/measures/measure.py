"""Declaration of a measure: a column of rows, with its unit, label and meaning.

A measure is declared as a field of :class:`experiments.measures.declared.Measures`, whose default
is what :func:`measure` returns. So it is typed like any field, and the rest stands beside it.
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
    """A column of rows, of one kind of number or remark.

    Parameters
    ----------
    name : str
        Of the column, with the unit at its end where there is one.
    meaning : str
        For the docs.
    how : callable, optional
        Its value, of a schedule that has passed the check: ``how(made)``, or, where it depends on
        the size of the data, ``how(made, size_bytes)``; None where it has none. A Fraction is
        rounded in this column. A measure without ``how`` is told by the process that runs.
    sized : bool
        Whether it depends on the size of the data. Such a measure has a value for each of the
        experiment's ``sizes``, and none where there are no sizes.
    simulated : bool
        Whether it comes from simulations, which are made only where an experiment asks for them.
    label : str
        In words, for an axis; a measure without a label is not drawn.
    unit : str
        For an axis too.
    better : str
        "less" or "more".
    logarithmic : bool
        Whether its values spread over decades.
    bounded : bool
        Whether no schedule takes it above the optimum.
    limit : str
        The column that holds its limit, at which a timeout is drawn.
    compared : bool
        Whether a difference between two sets of results is a change, which is then reported.
    exact_of : str
        The measure whose exact value, as text "p/q", this column holds.
    summary : bool
        Whether it is in summary.csv.
    heading : str
        Of its column in the table for the terminal; none if it is not in there.
    cell : callable, optional
        What that column shows of a row; else the number, rates with two decimals.
    always : bool
        Whether that column is there even if no row has a value.
    before : str
        The measure before which it is read, in tables and in summary.csv, if that is not the next.
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
        """Return what the table for the terminal shows of a row."""
        if self.cell is not None:
            return self.cell(row)
        value = getattr(row, self.name)
        if value is None:
            return ""
        return f"{value:.2f}" if isinstance(value, float) else str(value)

    def of(self, made: RunResult, *size: int) -> object:
        """Return its value, exact if it can be."""
        return None if self.how is None else self.how(made, *size)


def measure(meaning: str, *, empty: Callable[[], object] | None = None, **more: Any) -> Any:
    """Return a dataclass field that declares a measure, for :class:`Measure`'s parameters.

    Parameters
    ----------
    meaning : str
    empty : callable, optional
        Makes what stands for no value, if that is not None.
    """
    metadata = {_KEY: Measure(meaning=meaning, **more)}
    if empty is not None:
        return dataclasses.field(default_factory=empty, metadata=metadata)
    return dataclasses.field(default=None, metadata=metadata)


def exactly(name: str, *, compared: bool = False) -> Any:
    """Return a dataclass field for the exact value of a measure, as text."""
    return measure("the same, exactly", exact_of=name, compared=compared)


def measures_of(cls: type) -> Mapping[str, Measure]:
    """Return what a class declares, by name, in its order."""
    return {
        field.name: dataclasses.replace(field.metadata[_KEY], name=field.name)
        for field in dataclasses.fields(cls)
        if _KEY in field.metadata
    }


def duration(time: float | None) -> str:
    """Return a time, in seconds, in a unit that suits it.

    Examples
    --------
    >>> duration(0.00123), duration(12.3)
    ('1.2 ms', '12.3 s')
    """
    if time is None:
        return ""
    return f"{time:.1f} s" if time >= 1 else f"{1000 * time:.1f} ms"


def share(part: float | None) -> str:
    """Return a part of a whole in per cent.

    Examples
    --------
    >>> share(0.762), share(None)
    ('76.2%', '')
    """
    return "" if part is None else f"{part:.1%}"
