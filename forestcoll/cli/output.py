"""Output of commands: facts on stdout, progress bars on stderr, checks of output paths."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from forestcoll.cli.facts import as_json, as_text
from forestcoll.errors import ExportError

if TYPE_CHECKING:
    from rich.progress import TaskID

    from forestcoll.core.stopwatch import Progress as StageProgress

__all__ = ["SCHEDULES", "expect_drawable", "expect_writable", "progress_bars", "report"]

SCHEDULES = (".json", ".npz")
"""Endings of schedule files."""

_FORCED = {"FORCE_COLOR", "TTY_COMPATIBLE"}  # rich then takes any stream for a terminal


def report(facts: dict[str, Any], json_: bool) -> None:
    """Print facts for people or for machines."""
    typer.echo(as_json(facts) if json_ else as_text(facts))


def expect_writable(output: Path, endings: Sequence[str] = ()) -> None:
    """Refuse an unwritable path before the long work, not after it.

    Missing directories are no fault: whatever writes the file creates them. With ``endings``, also
    refuse a path that ends in none of them, unless it is a device.
    """
    new_or_replaced = output.is_file() or not output.exists()  # a device is written in place
    if endings and new_or_replaced and output.suffix.lower() not in endings:
        raise ExportError(f"{output}: the file name must end in {' or '.join(endings)}")
    if output.is_dir():
        raise ExportError(f"{output}: is a directory; name a file in it")
    directory = _nearest_existing(Path(os.path.realpath(output)).parent)
    if not directory.is_dir():
        raise ExportError(f"{output}: {directory} is a file; name a folder")
    if new_or_replaced and not os.access(directory, os.W_OK | os.X_OK):
        raise ExportError(f"{output}: no permission to write in {directory}; choose another")


def _nearest_existing(directory: Path) -> Path:
    """Return the directory itself, or the lowest above it that exists."""
    return next(one for one in (directory, *directory.parents) if one.exists())


def expect_drawable(picture: Path | None) -> None:
    """Refuse a picture of an unknown format, or an unwritable path, before the long work."""
    if picture is not None:
        from forestcoll.draw import check_format  # loads matplotlib

        check_format(picture)
        expect_writable(picture)


@contextmanager
def progress_bars() -> Iterator[StageProgress]:
    """Show a progress bar for each stage on stderr, if that is a terminal."""
    if not sys.stderr.isatty() and not _FORCED & set(os.environ):
        yield lambda stage, done, total: None
        return  # without loading rich
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:>15}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bars:
        tasks: dict[str, TaskID] = {}

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage)
            bars.update(tasks[stage], completed=done, total=total)

        yield advance
