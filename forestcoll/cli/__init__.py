"""The command line: parse, one library call, write.

To read: this, ``shell`` (commands of other packages, errors as a line and a code), ``options``,
``changed``, ``output`` and ``facts`` (what commands take and print), then the commands:
``networks``, ``optima``, ``what_if``, ``generation``, ``replan``, ``inspection``.

Exit codes: 0 done, 1 a check failed, 2 bad input or an unwritable file, 3 a limit was reached or
the problem is infeasible, 130 interrupted. Plug-ins are entry points of the group
``forestcoll.commands``: a function that typer can register, or a ``typer.Typer`` of subcommands.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from forestcoll.cli import generation, inspection, networks, optima, replan, what_if
from forestcoll.cli.options import EPILOG
from forestcoll.cli.shell import Commands

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Commands,
    help="Throughput-optimal collective communication on GPU networks, with the proof.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(networks.app, name="topology")
app.command("optimum")(optima.show_optimum)
app.command("whatif")(what_if.what_if)
app.command("generate")(generation.generate_schedule)
app.command("replan")(replan.replan_schedule)
app.command("certificate")(optima.certify_optimum)
app.command("verify")(inspection.verify_schedule)
app.command("draw")(inspection.draw_one_tree)


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            typer.echo(f"forestcoll {version('forestcoll')}")
        except PackageNotFoundError:
            typer.echo("forestcoll, run from its sources without installation")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Provably throughput-optimal collective communication on any GPU network."""


def main() -> None:
    """Run the command line and exit with its code."""
    app(prog_name="forestcoll")
