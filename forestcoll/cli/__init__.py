"""The ``forestcoll`` command line: each command parses, makes one library call and writes.

To read: this and ``shell`` (commands, loaded when called; errors as one line and an exit code).
Then what commands share: ``options``, ``changed``, ``demands`` (input), ``output``, ``facts``.
Then the commands: ``networks``, ``importing``, ``nccl_channels``, ``optima``, ``sized_optima``,
``what_if``, ``generation`` with ``written_trees``, ``depths``, ``replan``, ``inspection``,
``simulation``, ``schemas``, and ``runtime_files/``.

Exit codes: 0 done, 1 a check failed, 2 bad input or an unwritable file, 3 a limit was reached or
the problem is infeasible, 130 interrupted.
"""

from __future__ import annotations

from typing import Annotated

import typer

from forestcoll.cli.shell import EPILOG, Commands

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Commands,
    help="Throughput-optimal collective communication on GPU networks, with the proof.",
    epilog=EPILOG,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: rich takes longer to load than all else
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version  # loads much of the library

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
