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
    """Write the standard error of a failed point to a file; return the row with its name.

    A point without output has no file; one of an earlier failure is deleted.

    Parameters
    ----------
    folder : Path
        Folder of the rows; the name of the file is relative to it.

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
