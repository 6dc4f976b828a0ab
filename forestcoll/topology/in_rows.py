"""Tuples of results that display as a table, and become a data frame for pandas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex, TypeVar, overload

from forestcoll.extras import missing
from forestcoll.topology.describe import counted
from forestcoll.topology.in_brief import InARow, cell_text, html_cell

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["InRows", "frame_of", "html_rows"]

R = TypeVar("R", bound=InARow)

_SHOWN = 60
"""Rows in a notebook; the data frame has all."""


class InRows(tuple[R, ...]):
    """Results of one kind: a tuple, a line at the prompt, a table in a notebook.

    Examples
    --------
    >>> from forestcoll.what_if.tightest_cuts import tightest_cuts
    >>> cuts = tightest_cuts("dgx_a100:boxes=4", count=2)
    >>> cuts
    <2 cuts: 266.667 to 335.484 GB/s>
    >>> isinstance(cuts, tuple), list(cuts.to_frame()["algbw_gb_s"].round(3))
    (True, [266.667, 335.484])
    """

    __slots__ = ()

    what: ClassVar[str] = "result"
    """One entry, in a word."""

    @overload
    def __getitem__(self, key: SupportsIndex) -> R: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: SupportsIndex | slice) -> R | Self:
        """Return an entry, or some of them with the same display."""
        found = super().__getitem__(key)
        return type(self)(found) if isinstance(found, tuple) else found

    def __repr__(self) -> str:
        found = [one.in_a_row().get("algbw_gb_s") for one in self]
        rates = sorted(rate for rate in found if isinstance(rate, Fraction | float))
        ends = dict.fromkeys(cell_text(rate) for rate in (*rates[:1], *rates[-1:]))
        span = f": {' to '.join(ends)} GB/s" if ends else ""
        return f"<{counted(len(self), self.what)}{span}>"

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        left = len(self) - _SHOWN
        more = f", of which {_SHOWN} are shown; to_frame() has all" if left > 0 else ""
        rows = [one.in_a_row() for one in self[:_SHOWN]]
        return html_rows(rows, f"{counted(len(self), self.what)}{more}")

    def to_frame(self) -> pd.DataFrame:
        """Return a pandas data frame with a row for each; exact numbers become floats.

        Raises
        ------
        MissingPackageError
            If pandas is not installed.
        """
        return frame_of(one.in_a_row() for one in self)


def html_rows(rows: Sequence[Mapping[str, object]], caption: str) -> str:
    """Return a table in HTML; columns without a value are left out."""
    labels = {label: None for row in rows for label, value in row.items() if value is not None}
    head = "".join(f"<th>{escape(label)}</th>" for label in labels)
    body = "".join(
        "<tr>" + "".join(_cell(row.get(label)) for label in labels) + "</tr>" for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    is_number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    return f'<td style="text-align:{"right" if is_number else "left"}">{html_cell(value)}</td>'


def frame_of(rows: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """Return a pandas data frame of rows; exact numbers become floats.

    Raises
    ------
    MissingPackageError
        If pandas is not installed.
    """
    try:
        import pandas as pd  # takes 0.5 s, and is no dependency of the package
    except ModuleNotFoundError as error:
        raise missing(error, "a data frame") or error from None
    return pd.DataFrame([{label: _plain(value) for label, value in row.items()} for row in rows])


def _plain(value: object) -> Any:
    return float(value) if isinstance(value, Fraction) else value
