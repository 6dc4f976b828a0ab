"""Text tables in four forms: 80 characters, full width, Markdown and LaTeX.

Rows belong to groups (topologies); each has a name (a method) and values. In a terminal the group
has a line of its own, so that names and values keep their columns. A name too long for its column
gets its own line, too. Names come from files, so every form escapes markup in them. Not rich, which
wraps cells in pipes and drops no columns; nor pandas, which is an extra (docs/architecture.md).
"""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

import typer

from experiments.measures.docs import piped

__all__ = ["Format", "Grid", "show_table"]

_LEAST_NAME = 16
_MOST_DIGITS = 7
_INDENT = "  "
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


class Format(StrEnum):
    """How a table is printed."""

    TABLE = "table"
    WIDE = "wide"
    MARKDOWN = "markdown"
    LATEX = "latex"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of text."""

    title: str  # above and below it
    heads: tuple[str, ...]  # of the group, the name, and the values
    # each as long as ``heads``, or shorter: its last cell then spans the missing ones
    rows: tuple[tuple[str, ...], ...]
    note: str = ""  # above and below it

    def text(self, form: Format, width: int | None = None) -> str:
        """Format the table; ``width`` is that of the terminal if not given."""
        if form is Format.WIDE:
            return self._wide()
        if form is Format.MARKDOWN:
            return self._markdown()
        if form is Format.LATEX:
            return self._latex()
        return self._narrow(width or shutil.get_terminal_size().columns)

    def _narrow(self, width: int) -> str:
        rows = [(group, name, *map(_short, values)) for group, name, *values in self.rows]
        widths = _widths(self.heads, rows)
        shown = len(self.heads)
        while shown > 3 and width - _breadth(widths[2:shown]) < len(_INDENT) + _LEAST_NAME:
            shown -= 1
        breadth = _breadth(widths[2:shown])
        first = len(_INDENT) + max(_LEAST_NAME, min(widths[1], width - breadth - len(_INDENT)))
        heads = [_INDENT + self.heads[1], *self.heads[2:shown]]
        lines = [self.title, "", _line(heads, first, widths), "─" * (first + breadth)]
        for group, members in groupby(rows, key=lambda row: row[0]):
            lines += textwrap.wrap(group, width, subsequent_indent=_INDENT)
            for _, name, *values in members:
                early = len(values) < len(self.heads) - 2
                label, before = _label(name, first, width)
                cells = [label, *values[: shown - 2]]
                lines += [*before, _line(cells, first, widths, early=early)]
        notes = [self.note] if self.note else []
        if shown < len(self.heads):
            left = ", ".join(self.heads[shown:])
            notes.append(f"left out in {width} characters: {left}; --format wide has them")
        wrapped = [line for note in notes for line in textwrap.wrap(note, width)]
        return "\n".join([*lines, *([""] if wrapped else []), *wrapped])

    def _wide(self) -> str:
        widths = _widths(self.heads, self.rows, ragged=False)
        lines = [self.title, ""]
        for row in (self.heads, *self.rows):
            texts = [cell.ljust(widths[i]) for i, cell in enumerate(row[:2])]
            numbers = [cell.rjust(widths[i + 2]) for i, cell in enumerate(row[2:])]
            lines.append("  ".join([*texts, *numbers]).rstrip())
        lines.insert(3, "─" * (sum(widths) + 2 * (len(widths) - 1)))
        return "\n".join([*lines, *(["", self.note] if self.note else [])])

    def _markdown(self) -> str:
        lines = [f"**{_markdown(self.title)}**", "", piped(self.heads)]
        lines.append(piped(["---", "---", *["---:"] * (len(self.heads) - 2)]))
        lines += [piped(map(_markdown, self._filled(row))) for row in self.rows]
        return "\n".join([*lines, *(["", _markdown(self.note)] if self.note else [])])

    def _latex(self) -> str:
        aligned = "ll" + "r" * (len(self.heads) - 2)
        body = [" & ".join(map(_latex, self._filled(row))) + r" \\" for row in self.rows]
        heads = " & ".join(map(_latex, self.heads)) + r" \\"
        return "\n".join(
            [
                r"\begin{table} % needs \usepackage{booktabs}",
                rf"\begin{{tabular}}{{{aligned}}}",
                *(r"\toprule", heads, r"\midrule", *body, r"\bottomrule"),
                r"\end{tabular}",
                rf"\caption{{{_latex(': '.join(filter(None, (self.title, self.note))))}}}",
                r"\end{table}",
            ]
        )

    def _filled(self, row: tuple[str, ...]) -> list[str]:
        return [*row, *[""] * (len(self.heads) - len(row))]


def show_table(grid: Grid, form: Format, remarks: Iterable[str]) -> None:
    """Print a table and remarks; for forms that are pasted from stdout, remarks go to stderr."""
    typer.echo(grid.text(form))
    aside = form in (Format.MARKDOWN, Format.LATEX)
    if not aside:
        typer.echo("")
    for remark in remarks:
        typer.echo(remark, err=aside)


def _widths(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, ragged: bool = True
) -> list[int]:
    """Width of each column; the last cell of a short row may extend to the right."""
    widths = list(map(len, heads))
    for row in rows:
        whole = len(row) == len(heads) or not ragged
        for i, cell in enumerate(row if whole else row[:-1]):
            widths[i] = max(widths[i], len(cell))
    return widths


def _breadth(widths: list[int]) -> int:
    """Total width of the value columns, each with a space before it."""
    return sum(widths) + len(widths)


def _line(cells: list[str], first: int, widths: list[int], *, early: bool = False) -> str:
    """Format a row: the name is left-aligned, values are right-aligned."""
    texts = [cells[0].ljust(first)]
    for i, cell in enumerate(cells[1:]):
        last = early and i == len(cells) - 2
        texts.append(cell if last else cell.rjust(widths[i + 2]))
    return " ".join(texts).rstrip()


def _label(name: str, first: int, width: int) -> tuple[str, list[str]]:
    """Return the text for the name column, and the lines above it for a longer name."""
    if len(_INDENT + name) <= first:
        return _INDENT + name, []
    return "", textwrap.wrap(name, width, initial_indent=_INDENT, subsequent_indent=2 * _INDENT)


def _short(cell: str) -> str:
    """Round whole numbers that are too wide for their column."""
    if re.fullmatch(rf"\d{{{_MOST_DIGITS + 1},}}", cell):
        return f"{int(cell):.2e}".replace("e+", "e")
    return cell


def _markdown(text: str) -> str:
    return re.sub(r"([\\|*_`\[\]<>])", r"\\\1", text)


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
