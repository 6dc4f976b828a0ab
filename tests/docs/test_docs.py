"""Every code block and command of the docs runs, or is of a kind that names why it does not."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import ROOT
from tests.docs.documentation import (
    PAGES,
    blocks,
    commands,
    run_command,
    run_python,
    synopses,
    unknown_parts,
)
from tests.docs.given_files import NOT_RUN, is_run, lay_out

MOST_LINES = 300

OTHERS = {"forestcoll --install-completion", "forestcoll optimise", "forestcoll heights"}
"""What the shell's completion adds, a mistake that a page shows, and a former name."""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


SLOW = {
    "docs/all-to-all.md",
    "docs/formats/runtime-files.md",
    "docs/how-to/add-a-method.md",
    "docs/how-to/best-at-each-size.md",
    "docs/how-to/from-dumps-to-schedule.md",
    "docs/how-to/run-on-cpus.md",
    "docs/how-to/schedule-for-mscclpp.md",
    "docs/how-to/sweep.md",
    "docs/simulation.md",
    "docs/start/features.md",
}
"""Pages that take over three seconds of CPU. Their commands have tests of their own, on less data.

tests/across/test_dumps_to_schedule.py runs the commands of how-to/from-dumps-to-schedule.md.
"""


def pages_with_code() -> list[Any]:
    found = []
    for page in PAGES:
        if any(one.language in ("console", "python", "sh") for one in blocks(_text(page))):
            marks = pytest.mark.slow if name(page) in SLOW else ()
            found.append(pytest.param(page, marks=marks, id=name(page)))
    return found


@pytest.mark.parametrize("page", pages_with_code())
def test_the_blocks_of_a_page_run_in_their_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of their own; files that the page tells to save are saved there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    lay_out(name(page), tmp_path)
    for block in blocks(_text(page)):
        if block.file is not None and block.language:
            (tmp_path / block.file).write_text(block.code, encoding="utf-8")
        elif block.language == "python" and is_run(block.code):
            run_python(block)
        else:
            for command, shown in commands(block):
                if is_run(command):
                    run_command(command, shown)
    for module in set(sys.modules) - known:
        if (tmp_path / f"{module}.py").exists():
            del sys.modules[module]


def test_what_is_not_run_is_on_a_page() -> None:
    """A reason whose command is gone would excuse another one."""
    text = "".join(map(_text, PAGES))
    assert [start for start in NOT_RUN if start not in text] == []


def shown_commands() -> list[tuple[str, str]]:
    """Return every command line of every page, with the page: in blocks and in backticks."""
    found = []
    for page in PAGES:
        text = _text(page)
        plain = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        found += [(name(page), line) for line in re.findall(r"`(forestcoll [^`]+)`", plain)]
        for block in blocks(text):
            found += [(name(page), line) for line, _ in commands(block)]
            found += [(name(page), line) for line in synopses(block)]
    return [
        (page, line)
        for page, line in found
        if line.startswith("forestcoll ") and line not in OTHERS
    ]


def test_every_command_and_option_of_the_docs_exists() -> None:
    """In synopses and tables, too: no word and no option that the program does not have."""
    shown = shown_commands()
    assert len(shown) > 300
    unknown = {(page, line): unknown_parts(line) for page, line in shown}
    assert {key: parts for key, parts in unknown.items() if parts} == {}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_is_too_long(page: Path) -> None:
    assert len(_text(page).splitlines()) <= MOST_LINES


def test_a_wrong_output_and_an_unknown_option_are_noticed() -> None:
    """The runner itself can fail."""
    with pytest.raises(AssertionError):
        run_command("forestcoll optimum ring:nodes=4", "algbw 1 GB/s\n")
    assert unknown_parts("forestcoll optimum ring:nodes=4 --speed") == ["--speed"]
    assert unknown_parts("forestcoll optimun X") == ["optimun"]
