"""The tables of measures below docs/experiments, generated from their declarations.

``python -m experiments.measures.docs`` updates the pages of this clone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from experiments.measures.declared import DRAWN, MEASURES

__all__ = ["columns", "drawn", "piped", "updated", "with_tables"]

_FOLDER = Path(__file__).parents[2] / "docs" / "experiments"
PAGES = (_FOLDER / "rows.md", _FOLDER / "figures.md")


def piped(cells: Iterable[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def columns() -> str:
    """Return a table of the measures' columns."""
    exact = {one.exact_of: name for name, one in MEASURES.items() if one.exact_of}
    lines = ["| column | what is measured |", "|---|---|"]
    for name, one in MEASURES.items():
        if one.exact_of:
            continue
        both = f"`{name}`, `{exact[name]}`" if name in exact else f"`{name}`"
        lines.append(f"| {both} | {one.meaning}{'; rounded, and exact' * (name in exact)} |")
    return "\n".join(lines)


def drawn() -> str:
    """Return a table of the measures that figures can show."""
    lines = ["| column | on an axis | better |", "|---|---|---|"]
    lines += [f"| `{name}` | {one.axis} | {one.better} |" for name, one in DRAWN.items()]
    return "\n".join(lines)


def updated(page: str) -> str:
    """Return the page with these tables between its marks."""
    tables = {"columns": columns(), "drawn": drawn()}
    return with_tables(page, tables, "python -m experiments.measures.docs")


def main() -> None:
    """Update the pages."""
    for page in PAGES:
        page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(page: str, tables: Mapping[str, str], command: str) -> str:
    """Return a page with tables between its marks, ``<!-- NAME: COMMAND -->`` and ``<!-- end -->``.

    Parameters
    ----------
    tables : mapping
        Tables by the names of their marks; a table without a mark in the page is left out.
    command : str
        The command that writes them, for readers of the page's source.

    Examples
    --------
    >>> print(with_tables("<!-- a: make it -->old<!-- end -->", {"a": "new"}, "make it"))
    <!-- a: make it -->
    <BLANKLINE>
    new
    <BLANKLINE>
    <!-- end -->
    """
    for name, text in tables.items():
        mark = f"<!-- {name}: {command} -->"
        page = re.sub(
            rf"{re.escape(mark)}.*?<!-- end -->",
            lambda _, whole=f"{mark}\n\n{text}\n\n<!-- end -->": whole,  # type: ignore[misc]
            page,
            flags=re.DOTALL,
        )
    return page


if __name__ == "__main__":
    main()
