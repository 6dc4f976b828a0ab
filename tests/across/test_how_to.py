"""The pages of docs/how-to show what the commands on them print."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import invoke

IN_ORDER = ("add-a-method", "add-more", "boxes-on-leaf-spine", "schedule-for-mscclpp", "sweep")
"""Pages whose blocks need what earlier ones wrote: tests/docs/test_docs.py runs them."""

PAGES = [
    page
    for page in sorted((Path(__file__).parents[2] / "docs" / "how-to").glob("*.md"))
    if page.stem not in IN_ORDER
]


def examples() -> list[tuple[str, str]]:
    blocks = (
        block
        for page in PAGES
        for block in re.findall(r"```console\n\$ (.*?)```", page.read_text(encoding="utf-8"), re.S)
    )
    return [tuple(block.split("\n", 1)) for block in blocks]  # type: ignore[misc]


@pytest.mark.parametrize(("command", "printed"), examples(), ids=lambda text: text.split("\n")[0])
def test_documented_commands_print_the_documented_output(command: str, printed: str) -> None:
    name, *arguments = shlex.split(command)
    assert name == "forestcoll"
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert result.stdout == printed


def programs() -> list[tuple[str, str]]:
    block = r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```"
    return [pair for page in PAGES for pair in re.findall(block, page.read_text("utf-8"), re.S)]


@pytest.mark.parametrize(("code", "printed"), programs(), ids=lambda text: text.split("\n")[0])
def test_documented_programs_print_the_documented_output(
    code: str, printed: str, tmp_path: Path
) -> None:
    """In a folder of its own, since some programs write files."""
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == printed


def test_there_are_examples() -> None:
    assert len(examples()) >= 5
