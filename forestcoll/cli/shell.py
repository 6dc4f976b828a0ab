"""Command group that loads commands on demand and prints errors as one line with an exit code.

A command is an entry point: a function that typer can register, or a ``typer.Typer`` of
subcommands. One named with two words, such as ``topology find``, is a subcommand of a group that is
there. The toolkit's own are listed here, so that they need no installed metadata. Plug-ins of other
packages are those of the group ``forestcoll.commands``.
"""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from forestcoll.errors import ForestCollError, did_you_mean
from forestcoll.extras import missing
from forestcoll.former_names import FormerNameWarning, current_arguments

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["ABOVE", "CORE", "EPILOG", "Commands", "OwnCommand", "summary"]

EPILOG = "TOPOLOGY is a family, such as dgx_a100:boxes=4 or torus:dims=4x4, or a file."

_GROUP = "forestcoll.commands"


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """A command of the toolkit, read like an entry point.

    ``importlib.metadata`` would load the modules of e-mail, for as long as our own start takes.
    """

    name: str
    value: str  # the module, a colon, the attribute

    @property
    def module(self) -> str:
        """The module's full name."""
        return self.value.partition(":")[0]

    @property
    def attr(self) -> str:
        """The name of the function or typer.Typer."""
        return self.value.partition(":")[2]

    def load(self) -> Any:
        """Import the module and return the function or typer.Typer."""
        return getattr(import_module(self.module), self.attr)


CORE = {
    name: OwnCommand(name, f"forestcoll.cli.{place}")
    for name, place in {
        "topology": "networks:app",
        "topology import": "importing:import_network",
        "topology rates": "importing:show_rates",
        "topology channels": "nccl_channels:show_channels",
        "optimum": "optima:show_optimum",
        "whatif": "what_if:what_if",
        "generate": "generation:generate_schedule",
        "depths": "depths:show_depths",
        "replan": "replan:replan_schedule",
        "certificate": "optima:certify_optimum",
        "verify": "inspection:verify_schedule",
        "diff": "inspection:compare_schedules",
        "simulate": "simulation:simulate_schedule",
        "draw": "inspection:draw_one_tree",
        "export": "runtime_files.exporting:export_schedule",
        "check-xml": "runtime_files.checking:check_xml",
        "score": "runtime_files.file_scoring:score_file",
        "check-plan": "runtime_files.checking:check_plan",
        "exec": "runtime_files.executing:execute_schedule",
        "schema": "schemas:show_schema",
    }.items()
}
"""The commands of this package, in the order of the help."""

# Names only: this package imports none of the packages above it.
ABOVE = {
    name: OwnCommand(name, place)
    for name, place in {
        "baselines": "baselines.cli:app",
        "allreduce-optimum": "lp.cli:allreduce_optimum",
        "groups": "lp.groups.cli:groups",
        "placement": "lp.placement.cli:placement",
        "bundle": "experiments.advice.bundle.cli:app",
        "expected": "experiments.advice.expected_cli:expected_rates",
        "reproduction": "experiments.reproduction.cli:app",
        "tune": "experiments.advice.tuning.cli:tune_sizes",
        "nccl-tuner": "experiments.advice.nccl_tuner.tuner_cli:write_tuner_file",
        "results": "experiments.results_cli:app",
        "run": "experiments.cli:run",
        "topology find": "experiments.advice.finding.find_cli:find_topology",
        "iteration": "experiments.advice.iterations.iteration_cli:show_iteration",
        "fit-times": "experiments.advice.iterations.fit_cli:fit_times",
    }.items()
}
"""The commands of the toolkit's other packages, which are installed beside this one."""

_OURS = CORE | ABOVE

# Very long words in messages are shortened; no file name is so long.
_LONG = re.compile(r"([^\s/]{100})[^\s/]{200,}([^\s/]{20})")

# A statement of a module goes on with lines that are indented or close a bracket.
_NEXT_STATEMENT = re.compile(r"^[^\s)\]}]", re.MULTILINE)

_LISTING = "forestcoll.listing"


class _LazyGroup(TyperGroup):
    """A group that loads a command only if it will run, not to list it or to complete its name.

    Some versions of typer bundle click, others use the installed one. So this class names none of
    click's classes.
    """

    added: Mapping[str, OwnCommand | EntryPoint] = MappingProxyType({})

    def entry(self, cmd_name: str) -> OwnCommand | EntryPoint | None:
        """Return where a command is that is not loaded yet; None if there is none."""
        return self.added.get(cmd_name)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Find a command; of one that is only listed, the help is read from its source."""
        command, entry = super().get_command(ctx, cmd_name), self.entry(cmd_name)
        if command is not None or entry is None:
            return command
        short = summary(entry) if ctx is not None and _LISTING in ctx.meta else None
        if short is not None:
            return _listed_whole(TyperCommand(cmd_name, help=short))
        return _listed_whole(_as_command(cmd_name, entry.load()))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help, without loading the commands that it lists."""
        ctx.meta[_LISTING] = True
        super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a command, without loading any."""
        ctx.meta[_LISTING] = True
        return super().shell_complete(ctx, incomplete)


class Commands(_LazyGroup):
    """The commands of the toolkit and of plug-ins; errors become one line and an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the core commands first, plug-ins last."""
        names = (name for name in [*_OURS, *_plugins()] if " " not in name)
        return [*super().list_commands(ctx), *dict.fromkeys(names)]

    def entry(self, cmd_name: str) -> OwnCommand | EntryPoint | None:
        """Return a command of the toolkit, or else of a plug-in."""
        return _OURS.get(cmd_name) or _plugins().get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command of the first word, or refuse with the nearest one that exists."""
        first = args[0] if args else ""
        if args and first not in _OURS and not ctx.resilient_parsing:
            self._expect_known(ctx, first)
        return super().resolve_command(ctx, args)

    def _expect_known(self, ctx: Any, first: str) -> None:
        known = self.list_commands(ctx)
        if first not in known:
            hint = did_you_mean(first, known, "forestcoll --help lists them", repr)
            ctx.fail(f"No such command {first!r}; {hint}")

    def make_context(
        self, info_name: Any, args: list[str], parent: Any = None, **extra: Any
    ) -> Any:
        """Read the options before the command; report Ctrl-C in one line here, too."""
        try:
            with _notes():
                return super().make_context(info_name, current_arguments(args), parent, **extra)
        except KeyboardInterrupt:
            raise _failed("interrupted", 130) from None

    def invoke(self, ctx: Any) -> Any:
        """Run a command; report any error in one line."""
        try:
            with _notes():
                return super().invoke(ctx)
        except ForestCollError as error:
            raise _failed(str(error), error.exit_code) from None
        except KeyboardInterrupt:
            raise _failed("interrupted", 130) from None
        except ModuleNotFoundError as error:
            command = getattr(ctx, "invoked_subcommand", None) or "this command"
            if (known := missing(error, command)) is None:
                raise
            raise _failed(str(known), known.exit_code) from None
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


class _Extended(_LazyGroup):
    """A group with more commands than its typer.Typer has."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the commands of the group first."""
        return list(dict.fromkeys([*super().list_commands(ctx), *self.added]))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command of the first word; the nearest of all is named if there is none."""
        if args and args[0] not in self.list_commands(ctx):
            for name in self.added:
                self.add_command(self.get_command(ctx, name), name)
        return super().resolve_command(ctx, args)


@contextmanager
def _notes() -> Iterator[None]:
    """Show each use of a former name as a note of one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", FormerNameWarning)
        plain = warnings.showwarning

        def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, FormerNameWarning):
                typer.echo(f"note: {message}", err=True)
            else:
                plain(message, category, *place, **more)

        warnings.showwarning = show
        yield


def _discard_output() -> None:
    """Discard what stdout still buffers, so that Python reports no broken pipe at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:
        return


@cache
def _plugins() -> dict[str, EntryPoint]:
    """Return the commands of other distributions; one of the name of ours is never asked for."""
    from importlib.metadata import entry_points  # slow, see OwnCommand

    return {entry.name: entry for entry in entry_points(group=_GROUP)}


@cache
def _as_command(name: str, plugin: Any) -> Any:
    """Turn a function into a command, or a typer.Typer into a group of commands."""
    holder = typer.Typer(add_completion=False, rich_markup_mode=None)
    if isinstance(plugin, typer.Typer):
        entries: dict[str, OwnCommand | EntryPoint] = {**_plugins(), **_OURS}
        added = {
            words.partition(" ")[2]: entry
            for words, entry in entries.items()
            if words.startswith(f"{name} ")
        }
        kind: dict[str, Any] = {"cls": _Extended} if added else {}
        holder.add_typer(plugin, name=name, **kind)
        group: Any = typer.main.get_group(holder).commands[name]
        for command in group.commands.values():
            _listed_whole(command)
        if added:
            group.added = added
        return group
    holder.command(name=name)(plugin)
    return typer.main.get_command(holder)


def _listed_whole(command: Any) -> Any:
    """Make lists of commands show the whole first paragraph of the help, not its first words."""
    paragraph, _, _ = (command.help or "").partition("\n\n")
    command.short_help = " ".join(paragraph.split())
    return command


def _failed(message: str, exit_code: int) -> typer.Exit:
    line = _LONG.sub(r"\1...\2", " ".join(message.split()))
    typer.echo(f"error: {line}", err=True)
    return typer.Exit(exit_code)


def summary(command: OwnCommand | EntryPoint) -> str | None:
    """Return the help of a command without loading it; None if its source has none.

    For a function this is the docstring, for a ``typer.Typer`` the text given as ``help``.
    """
    file = _file(command.module)
    text = file.read_text(encoding="utf-8") if file is not None else ""
    for statement in _definition(text, command.attr):
        match statement:
            case ast.FunctionDef(name=name) if name == command.attr:
                return ast.get_docstring(statement)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(keywords=given)):
                if name == command.attr:
                    return _help(given)
    return None


def _definition(text: str, name: str) -> list[ast.stmt]:
    """Parse the statement that defines a name; a list of commands would parse 30 whole modules."""
    start = re.search(rf"^(def {name}\(|{name} = )", text, re.MULTILINE)
    if start is None:
        return []
    end = _NEXT_STATEMENT.search(text, start.end())
    try:
        return ast.parse(text[start.start() : end.start() if end else None]).body
    except SyntaxError:  # a line of its docstring begins at the left, too
        return ast.parse(text).body


def _file(module: str) -> Path | None:
    """Return the file of a module; importlib would import its parent packages to find it."""
    top, *inner = module.split(".")
    spec = find_spec(top)
    if spec is None:
        return None
    places = spec.submodule_search_locations or []
    files = [Path(place, *inner).with_suffix(".py") for place in places if inner]
    files += [Path(spec.origin)] if spec.origin is not None and not inner else []
    return next((file for file in files if file.is_file() and file.suffix == ".py"), None)


def _help(given: list[ast.keyword]) -> str | None:
    for one in given:
        if one.arg == "help" and isinstance(one.value, ast.Constant):
            return str(one.value.value)
    return None
