"""Log files of failed points: the standard error of their processes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from experiments.results.rows import Row
from forestcoll.atomic_write import write_whole

__all__ = ["FOLDER", "with_log"]

FOLDER = "logs"
"""Inside the folder of the rows."""


def with_log(row: Row, folder: Path) -> Row:
    """Return a row that names the file that what it failed with has been written to.

    A point that ends without a word has no file, not even one of an earlier failure.

    Parameters
    ----------
    row : Row
    folder : Path
        Of the rows, from which the file is named.

    Raises
    ------
    ExportError
        If the file cannot be written.
    """
    name = Path(FOLDER) / f"{row.point}.log"
    if not row.stderr:
        (folder / name).unlink(missing_ok=True)
        return row
    (folder / FOLDER).mkdir(exist_ok=True)
    what = f"{row.series} on {row.topology}, {row.collective}, {row.time}"
    text = f"{what}\n{row.reason}\n\n{row.stderr}"
    write_whole(folder / name, lambda draft: draft.write_text(text, encoding="utf-8"))
    return replace(row, stderr=None, log=str(name))
