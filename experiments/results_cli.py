"""The commands below ``forestcoll results``: show, compare, plot, html, migrate and bounds."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.results.grid import Format, show_table
from experiments.results.rows import Status
from experiments.results.selection import load_results, select
from forestcoll.cli.options import Json

__all__ = ["app"]

app = typer.Typer(
    help="Show, compare and plot results, or write them as an HTML page.",
    epilog="RESULTS is a folder that `forestcoll run` wrote, or a rows file (.jsonl, .parquet).",
    no_args_is_help=True,
)

Results = Annotated[Path, typer.Argument(metavar="RESULTS", help="A results folder or rows file.")]
Methods = Annotated[
    list[str] | None,
    typer.Option("--method", help="Only this method; * matches anything; repeatable."),
]
Topologies = Annotated[
    list[str] | None,
    typer.Option(
        "--topology", help="Only this topology or cluster; * matches anything; repeatable."
    ),
]
Statuses = Annotated[
    list[Status] | None, typer.Option("--status", help="Only points with this status; repeatable.")
]
Form = Annotated[Format, typer.Option("--format", help="Table format; wide shows every column.")]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="Output file: .png, .pdf or .svg.")
]


@app.command()
def show(
    results: Results,
    method: Methods = None,
    topology: Topologies = None,
    status: Statuses = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a table for reading to FILE.")
    ] = None,
    parquet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write all columns, typed, to FILE.")
    ] = None,
    form: Form = Format.TABLE,
    as_json: Json = False,
) -> None:
    """Print results as a table, or write them to files."""
    from experiments.results.remarks import behind_in_steps, columns
    from experiments.results.tables import document, losses, notes, table, write_summary

    rows = select(load_results(results), method or (), topology or (), status or ())
    files = []
    if csv is not None:
        files.append(write_summary(rows, csv))
    if parquet is not None:
        from experiments.results.frames import write_parquet

        files.append(write_parquet(rows, parquet))
    if as_json:
        _print_json({"rows": [document(row) for row in rows], "files": files})
        return
    grid = table(rows, str(results))
    remarks = [
        *columns(grid.heads),
        *behind_in_steps(rows),
        *losses(rows, results if results.is_dir() else results.parent),
        *notes(rows),
        *(f"wrote {file}" for file in files),
    ]
    show_table(grid, form, remarks)


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="The baseline results.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The new results.")],
    method: Methods = None,
    topology: Topologies = None,
    form: Form = Format.TABLE,
    as_json: Json = False,
) -> None:
    """Compare two sets of results of one experiment, such as those of two commits."""
    from experiments.results.comparison import compare as compared
    from experiments.results.comparison import document, remarks, table

    found = compared(load_results(a), load_results(b))
    keep = {
        (row.topology, row.series)
        for row in select(
            [row for pair in found.pairs for row in (*pair.a, *pair.b)],
            method or (),
            topology or (),
        )
    }
    pairs = tuple(pair for pair in found.pairs if (pair.topology, pair.method) in keep)
    found = dataclasses.replace(found, pairs=pairs)
    if as_json:
        _print_json(document(found))
        return
    show_table(table(found, f"{a} (A) and {b} (B)"), form, remarks(found))


@app.command()
def plot(
    results: Results,
    output: Output,
    kind: Annotated[
        str,
        typer.Option(
            help="Kind of figure: generation-time, pareto:y=depth, ..., or module:function; see "
            "docs/experiments/figures.md."
        ),
    ],
    method: Methods = None,
    topology: Topologies = None,
    title: Annotated[
        str | None,
        typer.Option(
            help="Title of the figure; default: the experiment's title if it is the toolkit's, "
            "otherwise its name."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw a figure from results."""
    from experiments.config.document import title_of
    from experiments.figures.plot import check_values
    from experiments.figures.plot import plot as drawn

    sys.path.append(os.getcwd())  # a user's own kinds of figures may be here
    rows = select(load_results(results), method or (), topology or ())
    check_values(kind, rows)
    above = title_of(rows[0].experiment) or rows[0].experiment if title is None and rows else title
    (file,) = drawn(kind, rows, [output], above or "")
    if as_json:
        _print_json({"kind": kind, "points": len(rows), "file": file})
    else:
        typer.echo(f"wrote {file}")


@app.command()
def migrate(
    results: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Results of one experiment or of several.")
    ],
    as_json: Json = False,
) -> None:
    """Rename former columns and parameters in stored results."""
    from experiments.results.migration import migrate as migrated

    files = migrated(results)
    if as_json:
        _print_json({"files": [{"file": str(one.path), "rows": one.rows} for one in files]})
        return
    for one in files:
        typer.echo(f"renamed in {one.path}: {one.rows}")
    typer.echo(f"{len(files)} files changed")


@app.command()
def bounds(
    results: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Results of one experiment or of several.")
    ],
    as_json: Json = False,
) -> None:
    """Recompute the bounds of simulations in stored rows; no method runs."""
    from experiments.results.simulation_bounds import rebound

    files = [one for one in rebound(results) if one.rows or one.left]
    if as_json:
        found = [{"file": str(one.path), "rows": one.rows, "left": one.left} for one in files]
        _print_json({"files": found})
        return
    for one in files:
        left = f", {one.left} left as they were" if one.left else ""
        typer.echo(f"bounds in {one.path}: {one.rows} rows changed{left}")
    typer.echo(f"{sum(one.rows for one in files)} rows changed")


@app.command()
def html(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...", help="Results folders of one experiment or of several."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Output file: .html.")
    ],
    method: Methods = None,
    topology: Topologies = None,
    status: Statuses = None,
    title: Annotated[
        str | None, typer.Option(help="Title of the page; default: the experiment's.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write results as one HTML page: interactive figures and a searchable table.

    The page is a single file that loads no other.
    """
    from experiments.report.page import check_ending, write_report
    from experiments.report.sources import narrowed, read_sources

    check_ending(output)
    sources, passed = read_sources(results)
    sources = narrowed(sources, method or (), topology or (), status or ())
    file = write_report(sources, output, title or "", [f"Left out: {text}." for text in passed])
    rows = sum(len(source.rows) for source in sources)
    if as_json:
        _print_json({"experiments": len(sources), "rows": rows, "file": file})
        return
    for text in passed:
        typer.echo(f"left out: {text}", err=True)
    typer.echo(f"wrote {file}")


def _print_json(document: dict[str, Any]) -> None:
    from forestcoll.cli.facts import as_json

    typer.echo(as_json(document))
