"""The commands ``forestcoll bundle export`` and ``forestcoll bundle check``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.options import MOST, Json
from forestcoll.problem.limits import MOST_SECONDS
from forestcoll.runtimes.formats import FORMATS, options_of
from forestcoll.topology.describe import counted

if TYPE_CHECKING:
    from experiments.advice.bundle.bundle_index import Bundle, BundledRange
    from experiments.advice.bundle.checkpoint import Checkpoint

__all__ = ["app"]

app = typer.Typer(help="Runtime files for all sizes, from `tune` results.", no_args_is_help=True)


@app.command("export")
def export_bundle(
    tuned: Annotated[Path, typer.Argument(metavar="TUNED", help="A folder written by `tune -o`.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write the bundle.")
    ],
    name: Annotated[str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")] = "msccl",
    protocol: Annotated[
        str | None, typer.Option("--protocol", help="As in `export`, for all files.")
    ] = None,
    channels: Annotated[
        int | None, typer.Option("--channels", max=MOST, help="As in `export`.")
    ] = None,
    instances: Annotated[
        int | None, typer.Option("--instances", max=MOST, help="As in `export`.")
    ] = None,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="As in `export`: for calls in place.")
    ] = False,
    multiple: Annotated[
        int | None,
        typer.Option(
            "--multiple-of",
            max=10**18,
            metavar="ELEMENTS",
            help="Use only files that accept every multiple of this size, such as 4096.",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            max=MOST_SECONDS,
            help="Seconds for each method, where the best schedule cannot be exported.",
        ),
    ] = 30.0,
    json_: Json = False,
) -> None:
    """Export the schedule of each range of sizes, checked by execution, with an index of sizes."""
    from experiments.advice.bundle.bundling import Bundling
    from forestcoll.cli.facts import as_json
    from forestcoll.cli.output import progress_bars

    given = {
        "protocol": protocol,
        "channels": channels,
        "instances": instances,
        "in_place": in_place or None,
    }
    bundling = Bundling(tuned, output, options_of(name, given), seconds, multiple)
    with _kept(bundling.checkpoint), progress_bars() as progress:
        found = bundling.run(progress)
    typer.echo(as_json(found.model_dump()) if json_ else "\n".join(_lines(found, output)))


@contextmanager
def _kept(checkpoint: Checkpoint) -> Iterator[None]:
    """Report the stored files if the export ends early."""
    try:
        yield
    finally:
        if checkpoint.done:  # empty once the bundle is in its final place
            files = counted(checkpoint.done, "file")
            rest = f"kept in {checkpoint.path}; the same command goes on there"
            typer.echo(f"note: {files} done, {rest}", err=True)


@app.command("check")
def check_bundle(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A bundle.")], json_: Json = False
) -> None:
    """Read a bundle back, execute its files, and report what is wrong or missing."""
    from experiments.advice.bundle.bundle_check import faults_in
    from experiments.advice.bundle.bundle_index import read_bundle
    from forestcoll.cli.output import progress_bars, report

    bundle = read_bundle(folder)
    with progress_bars() as progress:
        faults = list(faults_in(folder, tick=lambda done, total: progress("files", done, total)))
    facts: dict[str, Any] = {
        "folder": folder,
        "runtime": bundle.runtime,
        "collective": bundle.collective,
        "topology": bundle.topology,
        "sizes": f"{bundle.first_bytes} to {bundle.last_bytes} bytes",
        "files": sum(one.file is not None for one in bundle.ranges),
        "open": [_sizes(one) for one in bundle.ranges if one.file is None] or None,
        "wrong": faults or None,
        "right": not faults,
    }
    report(facts, json_)
    if faults:
        raise typer.Exit(1)


def _lines(found: Bundle, output: Path) -> list[str]:
    from forestcoll.problem.sizes import size_text

    rows = [("from", "to", "calls of", "file")]
    for one in found.ranges:
        ends = (size_text(one.first_bytes), size_text(one.last_bytes))
        calls = "" if one.chunks is None else f"x {one.chunks}"
        rows.append((*ends, calls, f"{one.file or 'open'}  {one.use}{_lost(one)}"))
    reasons = [f"{one.instead_of or one.use}: {one.why}" for one in found.ranges if one.why]
    unused = ["", "not used", *(f"  {one}" for one in dict.fromkeys(reasons))] if reasons else []
    files = [one for one in found.ranges if one.file is not None]
    executed = ", each executed" if all(one.executed for one in files) else ""
    return [
        f"{found.topology}, {found.collective} of {found.gpus} GPUs, for {found.runtime}",
        "",
        *("{:>12} {:>12} {:>9}  {}".format(*row) for row in rows),
        *unused,
        "",
        f"{output}: index.json and {counted(len(files), 'file')}{executed}",
    ]


def _lost(one: BundledRange) -> str:
    share = one.slower_than_the_best_by
    return f", up to {100 * share:.1f} % slower than the best" if share >= 0.0005 else ""


def _sizes(one: BundledRange) -> str:
    return f"{one.first_bytes} to {one.last_bytes} bytes: {one.why}"
