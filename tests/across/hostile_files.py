"""Files that no reader should fall for, and the process that gives them to the command line.

``python -m tests.across.hostile_files`` reads lists of commands on its standard input, each a line
of JSON. It runs the first list only to import what the others need. Every other list runs in a fork
with bounded time and memory, which prints a line: exit code, output, seconds of each command.
"""

import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from forestcoll import cli
from tests.command_line import build_commands_once

SECONDS = 10
"""Of CPU for a command, so that other work beside it makes nothing too slow."""

IDLE_CPU_SECONDS = 0.5
"""A command that used less in SECONDS of any clock waits for something, and is too slow too."""

DIGITS = "9" * 5000
SURROGATE = "\ud800"


class TooSlowError(BaseException):
    """No command takes it for an error of its own."""


def main() -> None:
    """Run the commands within the memory, in MB, that the first argument gives."""
    build_commands_once()
    runner = CliRunner()
    for command in json.loads(sys.stdin.readline()):
        runner.invoke(cli.app, command)
    gc.collect()
    gc.freeze()  # a collection after each command then looks at what that command made
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(runner, json.loads(line))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0:
            print(json.dumps(f"the process ended with status {status}"), flush=True)


def _run(runner: CliRunner, commands: list[list[str]]) -> None:
    mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = mapped * resource.getpagesize() + int(sys.argv[1]) * 10**6
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    signal.signal(signal.SIGPROF, _too_slow)
    found = []
    for command in commands:
        begin = time.perf_counter()
        _expect_work()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        code, output = _outcome(runner, command)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        found.append([code, output, time.perf_counter() - begin])
        gc.collect()  # of what an exception has kept
    print(json.dumps(found), flush=True)


def _outcome(runner: CliRunner, command: list[str]) -> tuple[int, str]:
    try:
        result = runner.invoke(cli.app, command)
    except TooSlowError:
        return -1, "too slow"
    output = result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        output += f"\n{type(result.exception).__name__}: {result.exception}"[:500]
    return result.exit_code, output


def _expect_work() -> None:
    """Look again after each ``SECONDS`` whether the command has used the processor since."""
    used = time.process_time()

    def look(*_: object) -> None:
        if time.process_time() - used < IDLE_CPU_SECONDS:
            raise TooSlowError
        _expect_work()

    signal.signal(signal.SIGALRM, look)
    signal.alarm(SECONDS)


def _too_slow(*_: object) -> None:
    raise TooSlowError


def no_files(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Yield what is not a regular file, or no file of any format, by what it is."""
    makers: dict[str, Callable[[Path], object]] = {
        "nothing": lambda _: None,
        "empty": lambda path: path.write_bytes(b""),
        "a terabyte": lambda path: _hole(path, 10**12),
        "pipe": os.mkfifo,
        "link to zeros": lambda path: path.symlink_to("/dev/zero"),
        "link to noise": lambda path: path.symlink_to("/dev/urandom"),
        "link to itself": lambda path: path.symlink_to(path),
        "directory": Path.mkdir,
        "NUL bytes": lambda path: path.write_bytes(b"\0" * 5000),
        "no UTF-8": lambda path: path.write_bytes(b'{"\xed\xa0\x80": 1}'),
    }
    for what, make in makers.items():
        path = _place(folder, what, name)
        make(path)
        yield what, path


LONG = ("zeros", "lists", "fields", "letters", "lines")
"""Texts of 14 to 20 MB, which take a second each."""


def texts(folder: Path, name: str, long: Collection[str] = LONG) -> Iterator[tuple[str, Path]]:
    """Yield texts that are JSON or YAML, and of no format; of the long ones, those named."""
    contents = {
        "brackets": "[" * 100_000,
        "objects": '{"a":' * 100_000,
        "a number": DIGITS,
        "a number with a point": f"1.{DIGITS}e{DIGITS}",
        "a field of digits": f'{{"a": {DIGITS}, "b": -{DIGITS}}}',
        "a surrogate": '{"\\ud800": "\\udfff"}',
        "zeros": "[" + "0," * 7_000_000 + "0]",
        "lists": "[" + "[]," * 5_000_000 + "0]",
        "fields": "[" + '{"a":0},' * 2_000_000 + "0]",
        "letters": "a" * 15_000_000,
        "lines": "\n" * 15_000_000,
        "indented": "".join(" " * depth + "a:\n" for depth in range(1500)),
        "aliases": _aliases(),
    }
    for what, content in contents.items():
        if what in LONG and what not in long:
            continue
        path = _place(folder, what, name)
        path.write_text(content, encoding="utf-8")
        yield what, path


def spoilt(folder: Path, name: str, document: Any) -> Iterator[tuple[str, Path]]:
    """Yield copies of a document, in each of which one value or key is hostile.

    Every value is a number of 5,000 digits once; text of as many, a lone surrogate and a key of
    both take turns.
    """
    values = {"digits": int("9" * 4000), "text of digits": DIGITS, "surrogate": SURROGATE}
    folder.mkdir(exist_ok=True)
    for number, place in enumerate(_leaves(document)):
        words = ".".join(map(str, place))
        for what in ("digits", ("text of digits", "surrogate", "key")[number % 3]):
            path = _place(folder, f"{what} at {words}", name)
            if what == "key":
                spoiled = _with(document, (*place[:-1], SURROGATE + DIGITS), 1)
            else:
                spoiled = _with(document, place, values[what])
            text = json.dumps(spoiled).replace("9" * 4000, DIGITS) if what == "digits" else ""
            path.write_text(text or json.dumps(spoiled), encoding="utf-8")
            yield what, path


def _place(folder: Path, what: str, name: str) -> Path:
    """Return where a file goes, in a folder of its own, as some names are given."""
    inside = folder / f"{len(os.listdir(folder))}-{what.replace(' ', '-')[:40]}"
    path = inside / name
    path.parent.mkdir(parents=True)
    return path


def _hole(path: Path, length: int) -> None:
    with path.open("wb") as file:
        file.truncate(length)


def _aliases() -> str:
    lines = ["a0: &a0 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 15)]
    return "\n".join(lines)


def _leaves(document: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the ways to all values; of a list, those of its first entry."""
    if place:
        yield place
    if isinstance(document, Mapping):
        for key, value in document.items():
            yield from _leaves(value, (*place, key))
    elif isinstance(document, list) and document:
        yield from _leaves(document[0], (*place, 0))


def _with(document: Any, place: tuple[str | int, ...], value: Any) -> Any:
    if not place:
        return value
    first, *rest = place
    if isinstance(first, str) and isinstance(document, list):  # a key for an item
        return [{first: value}, *document[1:]]
    if isinstance(document, Mapping):
        return {**document, str(first): _with(document.get(first), tuple(rest), value)}
    assert isinstance(first, int)
    return [*document[:first], _with(document[first], tuple(rest), value), *document[first + 1 :]]


if __name__ == "__main__":
    main()
