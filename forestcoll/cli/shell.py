"""What surrounds the commands: those of other packages, and errors as one line and a code."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from forestcoll.errors import ForestCollError

__all__ = ["Commands"]


class Commands(TyperGroup):
    """The core commands and those of the entry points; errors become one line and a code.

    typer carries its own click or shares the installed one, depending on its version, so click's
    classes are not named here.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """List the core commands first."""
        return [*super().list_commands(ctx), *_plugins()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Find a command, loading the package that it comes from."""
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in _plugins():
            command = _as_command(cmd_name, _plugins()[cmd_name].load())
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run a command; whatever goes wrong is told in a line."""
        try:
            return super().invoke(ctx)
        except ForestCollError as error:
            raise _failed(str(error), error.exit_code) from None
        except KeyboardInterrupt:
            raise _failed("interrupted", 130) from None
        except MemoryError:
            raise _failed(
                "out of memory; it takes a smaller network or a larger machine", 3
            ) from None
        except BrokenPipeError:
            _discard_output()
            raise typer.Exit(0) from None
        except OSError as error:
            if error.filename is None:
                _discard_output()
            where = f"{error.filename}: " if error.filename else ""
            raise _failed(f"{where}{error.strerror or error}", 2) from None


def _discard_output() -> None:
    """Send what stdout still buffers nowhere, lest Python complain at its exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        return


@cache
def _plugins() -> dict[str, EntryPoint]:
    """Return the commands of other packages, loaded only when they are asked for."""
    return {entry.name: entry for entry in entry_points(group="forestcoll.commands")}


def _as_command(name: str, plugin: Any) -> Any:
    """Turn a function into a command, or a typer.Typer into a group of commands."""
    holder = typer.Typer(add_completion=False)
    if isinstance(plugin, typer.Typer):
        holder.add_typer(plugin, name=name)
        return typer.main.get_group(holder).commands[name]
    holder.command(name=name)(plugin)
    return typer.main.get_command(holder)


def _failed(message: str, exit_code: int) -> typer.Exit:
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    return typer.Exit(exit_code)
