"""The command ``forestcoll run``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from experiments.results.grid import Format, show_table
from experiments.results.rows import Row, RowFile, Status, latest, read_rows
from experiments.results.selection import ROWS
from experiments.run.executors import Executor
from experiments.run.plan import Plan
from forestcoll.errors import InvalidExperimentError
from forestcoll.extras import missing
from forestcoll.problem.limits import MOST_THREADS

__all__ = ["run"]

_INTERRUPTED = 130


class _Where(StrEnum):
    LOCAL = "local"
    DASK = "dask"


def run(
    experiment: Annotated[Path, typer.Argument(help="The experiment's YAML file.")],
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", min=1, max=MOST_THREADS, help="Points to run side by side."),
    ] = 1,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Only points whose method, topology or cluster matches this shell pattern; "
            "repeatable, all patterns must match.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would run, and the estimated time.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start over: ignore the rows of earlier runs.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Rerun failed points.")
    ] = False,
    executor: Annotated[_Where, typer.Option(help="Where points run.")] = _Where.LOCAL,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler: tcp://HOST:PORT.")
    ] = None,
    results: Annotated[
        Path, typer.Option(help="Folder for results; each experiment gets a subfolder of its name.")
    ] = Path("results"),
    figures: Annotated[bool, typer.Option(help="Draw the figures.")] = True,
    form: Annotated[
        Format, typer.Option("--format", help="Table format; wide shows every column.")
    ] = Format.TABLE,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the rows and files as JSON.")
    ] = False,
) -> None:
    """Run an experiment: every point in a process of its own, then the table and the figures.

    Finished points are stored, so a stopped run resumes where it ended.
    """
    from experiments.config.experiment import read_experiment
    from experiments.run.plan import make_plan, select_points

    where = _executor(executor, scheduler, jobs)
    sys.path.append(str(experiment.absolute().parent))  # a user's own methods may be here
    parsed = read_experiment(experiment)
    points = select_points(parsed.points, only or [])
    folder = results / parsed.experiment.name
    title = parsed.experiment.title or parsed.experiment.name
    again = {"fresh": fresh, "retry_failed": retry_failed}
    if dry_run:
        rows = read_rows(folder / ROWS) if (folder / ROWS).exists() else []
        _preview(make_plan(points, rows, **again), rows, jobs, title, form, as_json=as_json)
        return
    # A fresh start of some points keeps the rows of the others.
    with RowFile(folder / ROWS, fresh=fresh and not only) as file:
        plan = make_plan(points, file.rows, **again)
        rows = _run(plan, file, where)
        known = latest(file.rows)
    every = [known[point.identity] for point in parsed.points if point.identity in known]
    kinds = parsed.experiment.figures if figures else []
    made = _write(every, folder, kinds, parsed.experiment.title)
    _show(rows, made, title, form, as_json=as_json)
    if plan.done:
        skipped = f"{len(plan.done)} of {len(points)} points had a row and were not run"
        typer.echo(f"{skipped}; --fresh runs them again", err=True)
    if any(row.status is Status.FAILED for row in rows):
        raise typer.Exit(1)


def _executor(executor: _Where, scheduler: str | None, jobs: int) -> Executor:
    if executor is _Where.LOCAL:
        if scheduler is not None:
            raise InvalidExperimentError("--scheduler is for --executor dask; add that")
        from experiments.run.executors import LocalExecutor

        return LocalExecutor(jobs)
    if scheduler is None or jobs != 1:
        hint = "leave --jobs out" if scheduler else "add --scheduler tcp://HOST:PORT"
        raise InvalidExperimentError(f"--executor dask runs what its workers can take; {hint}")
    try:
        from experiments.run.cluster import DaskExecutor
    except ModuleNotFoundError as error:
        raise missing(error, "--executor dask") or error from None
    return DaskExecutor(scheduler)


def _preview(
    plan: Plan, rows: list[Row], jobs: int, title: str, form: Format, *, as_json: bool
) -> None:
    from experiments.run.plan import make_preview

    preview = make_preview(plan, rows, jobs)
    if as_json:
        typer.echo(json.dumps(preview.as_json(), indent=2))
        return
    show_table(preview.table(title), form, preview.summary().splitlines())


def _run(plan: Plan, file: RowFile, executor: Executor) -> list[Row]:
    from rich.console import Console

    from experiments.run.progress import Display
    from experiments.run.runner import run_points

    notes = Console(stderr=True)
    with Display(notes, plan) as display:
        try:
            return run_points(plan, file, executor, display)
        except KeyboardInterrupt:
            kept = f"{display.done} of {display.total} points are kept"
            notes.print(f"interrupted; {kept}; run again without --fresh for the rest")
            raise typer.Exit(_INTERRUPTED) from None


def _write(rows: list[Row], folder: Path, kinds: Sequence[str], title: str) -> list[Path]:
    from experiments.results.tables import write_summary

    files = [folder / ROWS, write_summary(rows, folder / "summary.csv")]
    if kinds:
        from experiments.figures.plot import draw

        for kind in kinds:
            files += draw(kind, rows, folder / kind, title)
    return files


def _show(rows: list[Row], files: list[Path], title: str, form: Format, *, as_json: bool) -> None:
    from experiments.results.remarks import behind_in_steps, columns
    from experiments.results.tables import document, losses, notes, table
    from forestcoll.cli import facts as report

    if as_json:
        typer.echo(report.as_json({"rows": [document(row) for row in rows], "files": files}))
        return
    grid = table(rows, title)
    remarks = [*columns(grid.heads), *behind_in_steps(rows), *losses(rows, files[0].parent)]
    remarks += [*notes(rows), *(f"wrote {file}" for file in files)]
    show_table(grid, form, remarks)
