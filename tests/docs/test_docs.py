"""Every code block and command of the docs runs, or is of a kind that names why it does not."""

import re
import sys
from pathlib import Path

import pytest

from tests.command_line import ROOT
from tests.docs.documentation import PAGES, blocks, commands, run_command, run_python, unknown_parts

MOST_LINES = 300

OTHERS = {"forestcoll --install-completion", "forestcoll optimise", "forestcoll heights"}
"""What the shell's completion adds, a mistake that a page shows, and a former name."""

RUN = [
    ROOT / "docs" / "start" / "ten-minutes.md",
    ROOT / "docs" / "start" / "generate.md",
    *sorted((ROOT / "docs" / "concepts").glob("*.md")),
    ROOT / "docs" / "how-to" / "add-more.md",
    ROOT / "docs" / "how-to" / "boxes-on-leaf-spine.md",
    ROOT / "docs" / "baselines" / "syccl.md",
    ROOT / "docs" / "baselines" / "all-to-all.md",
    ROOT / "docs" / "formats" / "topology.md",
    ROOT / "docs" / "networks" / "families.md",
    ROOT / "docs" / "latency.md",
    ROOT / "docs" / "mathematics" / "forests-over-time.md",
]
"""Pages whose blocks run in their order. tests/across/test_how_to.py runs other pages of how-to."""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


SLOW = [
    ROOT / "docs" / "how-to" / f"{name}.md"
    for name in ("add-a-method", "schedule-for-mscclpp", "sweep")
]


@pytest.mark.parametrize(
    "page", [*RUN, *(pytest.param(page, marks=pytest.mark.slow) for page in SLOW)], ids=name
)
def test_the_blocks_of_a_page_run_in_their_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of their own; files that the page tells to save are saved there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    known = set(sys.modules)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.file is not None and block.language:
            (tmp_path / block.file).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            run_python(block)
        else:
            for command, shown in commands(block):
                run_command(command, shown)
    for module in set(sys.modules) - known:
        if (tmp_path / f"{module}.py").exists():
            del sys.modules[module]


def shown_commands() -> list[tuple[str, str]]:
    """Return every command line of every page, with the page: in blocks and in backticks."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        plain = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        found += [(name(page), line) for line in re.findall(r"`(forestcoll [^`]+)`", plain)]
        for block in blocks(text):
            found += [(name(page), line) for line, _ in commands(block)]
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
def test_python_blocks_are_python(page: Path) -> None:
    """Those of every page compile; YAML and JSON are read by the tests of their formats."""
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python":
            compile(block.code, name(page), "exec")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_is_too_long(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_a_wrong_output_and_an_unknown_option_are_noticed() -> None:
    """The runner itself can fail."""
    with pytest.raises(AssertionError):
        run_command("forestcoll optimum ring:nodes=4", "algbw 1 GB/s\n")
    assert unknown_parts("forestcoll optimum ring:nodes=4 --speed") == ["--speed"]
    assert unknown_parts("forestcoll optimun X") == ["optimun"]
