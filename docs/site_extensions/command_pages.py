"""Pages of the command line, from the program: each command with all arguments and options."""

import re
from typing import Any

import typer

from forestcoll.cli import app

__all__ = ["command_pages"]


def command_pages() -> dict[str, str]:
    """Return a page of Markdown for each command, by file name."""
    root = typer.main.get_command(app)
    context = _context(root, None, "forestcoll")
    pages = {}
    for name in root.list_commands(context):  # type: ignore[attr-defined]
        command = root.get_command(context, name)  # type: ignore[attr-defined]
        pages[f"{name}.md"] = _page(command, context, f"forestcoll {name}", "#")
    return pages


def _context(command: Any, parent: Any, name: str) -> Any:
    return command.context_class(command, info_name=name, parent=parent)


def _page(command: Any, parent: Any, title: str, heading: str) -> str:
    """Return the section of a command, with those of its subcommands."""
    context = _context(command, parent, title.rpartition(" ")[2])
    parts = [f"{heading} {title}", _prose(command.help or "")]
    subcommands = command.list_commands(context) if hasattr(command, "list_commands") else []
    if not subcommands:
        parts += [f"```text\n{_usage(command, context, title)}\n```", *_tables(command, context)]
    for name in subcommands:
        parts.append(_page(command.get_command(context, name), context, f"{title} {name}", "##"))
    return "\n\n".join(parts) + "\n"


def _joined(text: str) -> str:
    return " ".join(text.split())


def _prose(text: str) -> str:
    """Return a help text as paragraphs in which names with stars or brackets stay as they are."""
    paragraphs = re.split(r"\n\s*\n", text.replace("\b", "").strip())
    return "\n\n".join(_plain(paragraph) for paragraph in paragraphs)


def _plain(text: str) -> str:
    return re.sub(r"([\\*_|<>$\[\]])", r"\\\1", _joined(text))


def _tables(command: Any, context: Any) -> list[str]:
    """Return the tables of arguments and of options."""
    shown = [one for one in command.get_params(context) if not getattr(one, "hidden", False)]
    tables = []
    for title, kind in (("argument", "argument"), ("option", "option")):
        rows = [_row(one) for one in shown if one.param_type_name == kind]
        if rows:
            tables.append("\n".join([f"| {title} | meaning |", "|---|---|", *rows]))
    return tables


def _usage(command: Any, context: Any, title: str) -> str:
    """Return the line of usage: arguments, required options, the rest."""
    needed = [
        _value(one) if one.param_type_name == "argument" else f"{one.opts[-1]} {_value(one)}"
        for one in command.get_params(context)
        if one.required
    ]
    return " ".join([title, *needed, "[OPTIONS]"])


def _value(one: Any) -> str:
    """Return how the help calls the value of an argument or option."""
    return str(one.metavar or (one.name.upper() if one.param_type_name == "argument" else "VALUE"))


def _row(one: Any) -> str:
    value = "" if getattr(one, "is_flag", False) else _value(one)
    if one.param_type_name == "argument":
        names = [value]
    else:
        names = [f"{option} {value}".strip() for option in (*one.opts, *one.secondary_opts)]
    name = ", ".join(f"`{name}`" for name in names).replace("|", r"\|")
    texts = [_plain(one.help or "")]
    if one.required:
        texts.append("Required.")
    elif one.show_default and type(one.default) in (str, int, float) and one.default != "":
        texts.append(f"Default: `{one.default}`.")
    return f"| {name} | {' '.join(texts)} |"
