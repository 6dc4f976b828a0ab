"""Redrawing of all figures, from stored or recomputed rows.

A figure takes 1 to 2 s from stored rows, in parallel; recomputation takes the rows' times.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from experiments.reproduction.coverage import Coverage
from experiments.results.rows import Row
from forestcoll.errors import ForestCollError, InvalidExperimentError

__all__ = ["Choice", "Drawn", "chosen", "recompute", "redraw"]


@dataclass(frozen=True, slots=True)
class Choice:
    """An experiment, and the total seconds of its rows."""

    name: str
    file: Path
    seconds: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """An experiment, its number of written files, and the reason for missing ones."""

    name: str
    files: int
    fault: str = ""


def redraw(coverage: Coverage, processes: int) -> Iterator[Drawn]:
    """Draw every figure of every experiment from its rows, and write its summary.

    Parameters
    ----------
    processes : int
        Number of parallel processes.

    Yields
    ------
    Drawn
        Each experiment when it is finished; one that cannot be drawn does not stop the others.
    """
    for name, fault in coverage.broken.items():
        yield Drawn(name, 0, fault)
    names = sorted(coverage.rows, key=lambda name: -len(coverage.rows[name]))
    with ProcessPoolExecutor(processes) as pool:
        for job in as_completed([pool.submit(_drawn, coverage.root, name) for name in names]):
            yield job.result()


def _drawn(root: Path, name: str) -> Drawn:
    try:
        return Drawn(name, _draw(root, name))
    except ForestCollError as error:
        return Drawn(name, 0, str(error))
    except OSError as error:
        return Drawn(name, 0, f"{error.filename}: {error.strerror}")


def _draw(root: Path, name: str) -> int:
    from experiments.figures.plot import draw
    from experiments.results.tables import write_summary

    coverage = Coverage(root)
    experiment = coverage.parsed(name)
    folder = root / "results" / name
    known = {row.point: row for row in coverage.rows_of(name)}
    rows: list[Row] = [known[p.identity] for p in experiment.points if p.identity in known]
    files = [write_summary(rows, folder / "summary.csv")]
    for kind in experiment.experiment.figures:
        files += draw(kind, rows, folder / kind, experiment.experiment.title)
    return len(files)


def chosen(coverage: Coverage, seconds: float) -> tuple[list[Choice], list[Choice]]:
    """Return the experiments that fit a time, estimated from their rows, and the others.

    The quickest come first. An experiment without rows is among the others; a broken one is in
    neither list.
    """
    all_of = sorted(
        (
            Choice(name, file, sum(row.wall_s or 0.0 for row in coverage.rows.get(name, ())))
            for name, file in coverage.experiments.items()
            if name not in coverage.broken
        ),
        key=lambda choice: (choice.seconds, choice.name),
    )
    fits: list[Choice] = []
    for choice in all_of:
        if choice.seconds and sum(one.seconds for one in fits) + choice.seconds <= seconds:
            fits.append(choice)
    return fits, [choice for choice in all_of if choice not in fits]


def recompute(choices: Sequence[Choice], results: Path) -> Iterator[tuple[Choice, int]]:
    """Run experiments one after the other, with results in another folder; finished points stay.

    Yields
    ------
    tuple
        An experiment and the exit code of ``forestcoll run``.

    Raises
    ------
    InvalidExperimentError
        If the folder is that of the stored rows.
    """
    for choice in choices:
        kept = [folder / "results" for folder in choice.file.resolve().parents[1:3]]
        if results.resolve() in kept:
            raise InvalidExperimentError(
                f"{results} holds the rows that are kept; choose another folder"
            )
        command = [sys.executable, "-m", "forestcoll", "run", str(choice.file)]
        yield choice, subprocess.run([*command, "--results", str(results)], check=False).returncode
