"""Short displays of objects: a line at the prompt, a small table in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from html import escape

__all__ = ["InBrief"]


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
            f'<tr><th style="text-align:left">{escape(label)}</th>'
            f'<td style="text-align:left">{_cell(value)}</td></tr>'
            for label, value in self.in_a_table().items()
            if value is not None
        )
        return f"<table><caption>{escape(type(self).__name__)}</caption>{rows}</table>"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    lines = value if isinstance(value, list | tuple) else [value]
    return "<br>".join(escape(str(line)) for line in lines)
