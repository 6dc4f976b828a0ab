"""Short displays of objects: a line at the prompt, a small table in a notebook."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction

from forestcoll.topology.describe import decimal

__all__ = ["InARow", "InBrief", "cell_text", "html_cell"]


class InBrief(ABC):
    """Base class of dataclasses declared with ``repr=False``, which define what to display.

    Examples
    --------
    >>> class Ring(InBrief):
    ...     def in_a_line(self):
    ...         return "of 3 GPUs"
    ...     def in_a_table(self):
    ...         return {"GPUs": 3, "speed": "1 < 2"}
    >>> Ring()
    <Ring of 3 GPUs>
    >>> Ring()._repr_html_().count("<tr>"), "1 &lt; 2" in Ring()._repr_html_()
    (2, True)
    """

    __slots__ = ()

    @abstractmethod
    def in_a_line(self) -> str:
        """Return what it is, without its type."""

    @abstractmethod
    def in_a_table(self) -> Mapping[str, object]:
        """Return facts by their labels; those that are None are left out, others shown as text."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.in_a_line()}>"

    def _repr_html_(self) -> str:
        """What Jupyter shows."""
        rows = "".join(
            f'<tr><th style="text-align:left">{_escaped(label)}</th>'
            f'<td style="text-align:left">{html_cell(value)}</td></tr>'
            for label, value in self.in_a_table().items()
            if value is not None
        )
        return f"<table><caption>{_escaped(type(self).__name__)}</caption>{rows}</table>"


class InARow(InBrief):
    """Base class of results that are also the rows of a table, by the same labels.

    Labels are those of columns in results, such as ``algbw_gb_s``; numbers are exact.

    Examples
    --------
    >>> class Link(InARow):
    ...     def in_a_row(self):
    ...         return {"link": "a - b", "gb_s": Fraction(100, 3), "shared": None, "fast": True}
    >>> Link()
    <Link a - b, gb_s 33.3333, fast yes>
    """

    __slots__ = ()

    @abstractmethod
    def in_a_row(self) -> dict[str, object]:
        """Return the cells of its row by their labels; the first names it where it is a text."""

    def in_a_line(self) -> str:
        """Return the cells with their labels; a text at the beginning needs none."""
        cells = [(label, value) for label, value in self.in_a_row().items() if value is not None]
        return ", ".join(
            cell_text(value)
            if not place and isinstance(value, str)
            else f"{label} {cell_text(value)}"
            for place, (label, value) in enumerate(cells)
        )

    def in_a_table(self) -> Mapping[str, object]:
        """Return the cells by their labels."""
        return self.in_a_row()


def cell_text(value: object) -> str:
    """Write a value for people: yes or no, and numbers to six digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | Fraction):
        return decimal(Fraction(value)) if math.isfinite(value) else str(value)
    return str(value)


def html_cell(value: object) -> str:
    """Write a value as text in HTML: lists line by line, None as an empty text."""
    lines = value if isinstance(value, list | tuple) else [value]
    return "<br>".join("" if line is None else _escaped(cell_text(line)) for line in lines)


def _escaped(text: str) -> str:
    from html import escape  # for notebooks only: its table of characters is long

    return escape(text)
