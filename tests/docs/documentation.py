"""Runs the code blocks and commands of a page, in their order, in a folder of its own."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import typer

from forestcoll import cli
from tests.command_line import ROOT, invoke

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "generated" not in path.parts),
]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_FILE = re.compile(r"`([\w./-]+\.\w+)`[^`\n]*:\n*$")
_PRINTS = re.compile(r"\s*prints[^\n]*:?\n+```\n(.*?)^```$", re.M | re.S)
_HEAD = re.compile(r" \| head -(\d+)$")
_TIME = re.compile(r"\b\d+(?:\.\d+)? (?:us|ms|s)\b")


@dataclass(frozen=True)
class Block:
    """One block of code, the file that the line before it names, and what it prints."""

    language: str
    code: str
    file: str | None
    printed: str | None


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a page; the output of a Python block belongs to it."""
    end = 0
    for found in _BLOCK.finditer(text):
        if found.start() < end:
            continue
        before = text[: found.start()].rstrip("\n").rpartition("\n")[2] + "\n"
        named = _FILE.search(before)
        prints = _PRINTS.match(text, found.end())
        end = prints.end() if prints else found.end()
        yield Block(found[1], found[2], named and named[1], prints and prints[1])


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Yield the commands of a block, with what each prints."""
    if block.language == "console":
        for part in re.split(r"^\$ ", block.code, flags=re.M)[1:]:
            command, _, printed = part.partition("\n")
            while command.endswith("\\"):
                more, _, printed = printed.partition("\n")
                command = command[:-1] + more
            yield command, printed
    elif block.language == "sh":
        joined = block.code.replace("\\\n", " ")
        yield from ((line, "") for line in joined.splitlines() if line.strip()[:1] not in ("", "#"))


def synopses(block: Block) -> Iterator[str]:
    """Yield the commands of a block that shows their options."""
    if block.language == "text":
        lines = re.sub(r"\n +", " ", block.code).splitlines()
        yield from (line for line in lines if line.startswith("forestcoll "))


def same(printed: str, shown: str) -> bool:
    """Whether an output is as shown: ``...`` is anything, times of the machine are any times."""
    parts = _plain(shown).split("...")
    return re.fullmatch("(?s:.*)".join(map(re.escape, parts)), _plain(printed)) is not None


def _plain(text: str) -> str:
    """Return a text without times, and with columns as wide as their content."""
    lines = (_TIME.sub("TIME", line) for line in text.splitlines())
    return "\n".join(re.sub("─+", "─", re.sub(" +", " ", line)).strip() for line in lines)


def run_python(block: Block) -> None:
    """Execute a program in this process, and compare what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.code, "page", "exec"), {"__name__": "page"})
    if block.printed is not None:
        assert same(out.getvalue(), block.printed), out.getvalue()


def run_command(command: str, shown: str) -> None:
    """Run a command of ours, and compare what it prints."""
    head = _HEAD.search(command)
    name, *arguments = shlex.split(_HEAD.sub("", command), comments=True)
    if name in ("python", "python3"):
        _run_script(arguments, shown)
        return
    assert name == "forestcoll", command
    done = invoke(*arguments)
    differ = arguments[0] == "diff" and done.exit_code == 1
    fails = re.search(r"^[eE]rror: ", shown, re.M)
    assert done.exit_code == 0 or differ or fails, f"{command}\n{done.output}"
    printed = done.output if done.exit_code else done.stdout
    if head:
        printed = "".join(printed.splitlines(keepends=True)[: int(head[1])])
    if shown.strip():
        assert same(printed, shown), done.output


def _run_script(arguments: list[str], shown: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    assert not shown.strip() or same(done.stdout, shown), done.stdout


@cache
def command_options() -> dict[str, frozenset[str]]:
    """Return all options of each command, by its words."""
    root: Any = typer.main.get_command(cli.app)
    found: dict[str, frozenset[str]] = {}

    def visit(command: Any, words: str, parent: Any = None) -> None:
        # With the settings that it runs with: click keeps the names of the help for later runs.
        context = command.context_class(
            command, info_name=words, parent=parent, **command.context_settings
        )
        names = command.list_commands(context) if hasattr(command, "list_commands") else []
        for name in names:
            visit(command.get_command(context, name), f"{words} {name}".strip(), context)
        options = (one for one in command.get_params(context) if one.param_type_name == "option")
        found[words] = frozenset(
            name for one in options for name in (*one.opts, *one.secondary_opts)
        )

    visit(root, "")
    return found


def unknown_parts(command: str) -> list[str]:
    """Return the words and options of a command line that the program does not have."""
    words = re.sub(r"['\"\[\]]", " ", command).split()[1:]
    known = command_options()
    name = ""
    for depth in (2, 1):
        if " ".join(words[:depth]) in known:
            name = " ".join(words[:depth])
            break
    options = [word.partition("=")[0].rstrip(",.;") for word in words if word.startswith("--")]
    unknown = [option for option in options if option not in known[name]]
    plain = re.fullmatch(r"[a-z-]+", words[0]) if words else None
    return unknown + ([words[0]] if plain and not name else [])
