"""The commands ``forestcoll reproduction``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forestcoll.atomic_write import write_text
from forestcoll.bounded_read import read_text_at_most
from forestcoll.errors import ForestCollError, InvalidExperimentError
from forestcoll.problem.limits import MOST_THREADS

# The commands import what they work with: their help needs none of it.
if TYPE_CHECKING:
    from experiments.reproduction.coverage import Coverage, Shown
    from experiments.reproduction.difference import Difference

__all__ = ["app"]

app = typer.Typer(
    help="Report which of the papers' figures and tables are reproduced, and redraw them.",
    epilog="Needs a clone of the repository: the stored rows are not installed.",
    no_args_is_help=True,
)

Clone = Annotated[
    Path, typer.Option("--clone", metavar="FOLDER", help="A clone of the repository.")
]

_ENOUGH = 0.7
"""Least share of the software items with public inputs that must be fully reproduced."""


def _coverage(clone: Path) -> Coverage:
    for folder in ("experiments", "results", "tests"):
        if not (clone / folder).is_dir():
            raise InvalidExperimentError(
                f"{clone} has no folder {folder!r}; stand in a clone of the repository, or name "
                f"one by --clone"
            )
    from experiments.reproduction.coverage import Coverage

    return Coverage(clone)


def _text(file: Path) -> str:
    from experiments.reproduction.coverage import MOST_BYTES

    return read_text_at_most(file, MOST_BYTES, ForestCollError)


@app.command()
def coverage(clone: Clone = Path()) -> None:
    """Count the reproduced items, name the rest, and list printed numbers that differ.

    The exit code is 1 in four cases. An item of theory is missing that does not wait for a part of
    the toolkit. Less than 70 % of the software items with public inputs are reproduced as far as
    possible without the machine. An experiment or its rows are broken. A printed number of theory
    differs and is not a known difference.
    """
    from experiments.reproduction.reproduction_page import page_tables, verdict

    found = _coverage(clone)
    tables = page_tables(found)
    typer.echo("\n".join(tables["summary"]))
    typer.echo("\nnot reproduced:")
    for item in found.shown:
        if not item.counts:
            why = "; ".join(item.faults) or item.item.why
            typer.echo(f"  {item.item.item:5} {verdict(item):11} {item.item.of}: {why}")
    typer.echo("\nprinted numbers of theory that come out otherwise, the largest first:")
    for one in sorted(found.otherwise, key=lambda one: -abs(one.share)):
        typer.echo(f"  {one.item:5} {one.share:+7.2%}  {_beside(one)}: {one.what}")
    for one in found.unexplained:
        typer.echo(f"not known to come out otherwise: {one.item}, {one.what}", err=True)
    _tell_broken(found)
    if _missing(found) or not _enough(found) or found.unexplained or found.broken:
        raise typer.Exit(1)


def _tell_broken(found: Coverage) -> None:
    for fault in found.broken.values():
        typer.echo(f"broken: {fault}", err=True)


def _missing(found: Coverage) -> list[Shown]:
    return [
        one
        for one in found.shown
        if one.faults or (one.item.by_theory and not one.counts and one.item.status != "waiting")
    ]


def _enough(found: Coverage) -> bool:
    share = found.share(by_theory=False)
    return share.to_the_limit >= _ENOUGH * share.public


def _beside(one: Difference) -> str:
    unit = f" {one.unit}" if one.unit else ""
    return f"{one.printed}{unit} printed, {one.ours:.6g} here"


@app.command()
def show(
    item: Annotated[str, typer.Argument(help="Such as EF5; see docs/papers/reproduction.md.")],
    clone: Clone = Path(),
) -> None:
    """Print how to reproduce an item, and the results."""
    from experiments.config.document import nearest
    from experiments.reproduction.reproduction_page import verdict

    found = {one.item.item: one for one in _coverage(clone).shown}
    one = found.get(item.upper())
    if one is None:
        raise InvalidExperimentError(f"there is no item {item!r}; {nearest(item.upper(), found)}")
    typer.echo(f"{one.item.item}  {one.item.paper}, {one.item.of}: {one.item.what}")
    typer.echo(f"verdict  {verdict(one)}{f': {one.item.why}' if one.item.why else ''}")
    if one.item.note:
        typer.echo(f"note     {one.item.note}")
    for file in one.files:
        typer.echo(f"run      forestcoll run {file}")
    for test in one.item.tests:
        typer.echo(f"test     pytest {test}")
    for other in one.item.others:
        typer.echo(f"see      {other}")
    for fault in one.faults:
        typer.echo(f"missing  {fault}")
    for number in one.differences:
        compared = "as printed" if number.equal else f"{number.share:+.2%}"
        typer.echo(f"  {_beside(number)} ({compared}, {number.kind}): {number.what}")


@app.command()
def page(clone: Clone = Path()) -> None:
    """Rewrite the tables of docs/papers/reproduction.md and the pages beside it."""
    from experiments.reproduction.reproduction_page import page_tables, updated

    found = _coverage(clone)
    for fault in found.broken.values():
        raise InvalidExperimentError(fault)
    tables = page_tables(found)
    for file in sorted((found.root / "docs" / "papers").glob("reproduction*.md")):
        write_text(file, updated(_text(file), tables))
        typer.echo(f"wrote {file}")


@app.command()
def claims(clone: Clone = Path()) -> None:
    """Decide printed claims of other papers, and rewrite docs/papers/claims*.md."""
    from experiments.reproduction.claims import read_claims
    from experiments.reproduction.claims_page import claim_tables, updated

    tables = claim_tables(read_claims())
    typer.echo("\n".join(tables["summary"]))
    for file in sorted((clone / "docs" / "papers").glob("claims*.md")):
        write_text(file, updated(_text(file), tables))
        typer.echo(f"wrote {file}")


@app.command("posted-runs")
def posted_runs(clone: Clone = Path()) -> None:
    """Compare posted runs with their bounds, and rewrite docs/papers/posted-runs.md."""
    from experiments.reproduction.posted_runs import compared, read_runs, updated

    runs = [compared(run) for run in read_runs()]
    file = clone / "docs" / "papers" / "posted-runs.md"
    write_text(file, updated(_text(file), runs))
    above = sum(run.share > 1 for run in runs)
    typer.echo(f"{len(runs)} runs, {above} above the bound")
    typer.echo(f"wrote {file}")


@app.command()
def draw(
    clone: Clone = Path(),
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, max=MOST_THREADS, help="Experiments to draw side by side."
        ),
    ] = None,
) -> None:
    """Redraw all figures from the stored rows.

    The exit code is 1 if an experiment or its rows are broken; the other figures are still drawn.
    """
    from experiments.reproduction.redraw import redraw
    from forestcoll.generation import usable_cores

    done = []
    for one in redraw(_coverage(clone), jobs or usable_cores()):
        typer.echo(
            f"broken: {one.fault}" if one.fault else f"{one.name}: {one.files} files", err=True
        )
        done.append(one)
    typer.echo(f"wrote {sum(one.files for one in done)} files")
    if any(one.fault for one in done):
        raise typer.Exit(1)


@app.command()
def recompute(
    results: Annotated[
        Path, typer.Option(help="Folder for new rows; each experiment gets a subfolder.")
    ] = Path("recomputed"),
    hours: Annotated[
        float,
        typer.Option(min=0, max=10_000, help="Limit in hours, estimated from the stored rows."),
    ] = 2.0,
    clone: Clone = Path(),
) -> None:
    """Rerun the experiments that need at most some hours, and name the others.

    The new rows do not replace the stored ones: compare both by `forestcoll results compare`. The
    exit code is 1 if an experiment failed, or if an experiment or its stored rows are broken.
    """
    from experiments.measures.measure import duration
    from experiments.reproduction.redraw import chosen, recompute

    found = _coverage(clone)
    fits, others = chosen(found, 3600 * hours)
    typer.echo(f"{len(fits)} experiments, {duration(sum(c.seconds for c in fits))}", err=True)
    for choice in others:
        took = duration(choice.seconds) if choice.seconds else "unknown"
        typer.echo(f"left out: {choice.file} ({took})", err=True)
    _tell_broken(found)
    failed = []
    for choice, code in recompute(fits, results):
        kept, anew = (str(folder / choice.name) for folder in (clone / "results", results))
        typer.echo(shlex.join(["forestcoll", "results", "compare", kept, anew]))
        failed += [choice.name] if code else []
    if failed:
        typer.echo(f"failed: {', '.join(failed)}", err=True)
    if failed or found.broken:
        raise typer.Exit(1)
