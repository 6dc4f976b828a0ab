"""Generated tables between marks of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["with_tables"]


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
