"""The section of docs/experiments.md on measures, generated from their declarations.

``python -m experiments.measures.docs`` updates the page of this clone.
"""

from __future__ import annotations

from pathlib import Path

from experiments.measures.declared import DRAWN, MEASURES
from experiments.measures.page_marks import with_tables

__all__ = ["columns", "drawn", "updated"]

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


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
    """Update the page."""
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
