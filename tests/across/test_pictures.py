"""Every picture of the documentation is drawn by the command beside it."""

import re
import shlex
from pathlib import Path

import pytest

from tests.command_line import invoke

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DRAWN = re.compile(r"<!-- drawn: forestcoll (.*) -o (\S+) -->\n!\[[^\]]+\]\(([^)]+)\)")


def drawn() -> list[tuple[Path, str, str, str]]:
    """Page, command, file and link of each picture that has a command."""
    return [(page, *found) for page in PAGES for found in DRAWN.findall(page.read_text())]


def test_every_picture_below_docs_has_its_command_and_its_page() -> None:
    files = {str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "images").iterdir()}
    assert {file for _, _, file, _ in drawn()} == files
    for page, _, file, link in drawn():
        assert (page.parent / link).resolve() == ROOT / file


@pytest.mark.parametrize(("command", "file"), [(c, f) for _, c, f, _ in drawn()])
def test_a_picture_is_what_its_command_draws(command: str, file: str, tmp_path: Path) -> None:
    """Byte for byte."""
    made = tmp_path / Path(file).name
    assert invoke(*shlex.split(command), "-o", made).exit_code == 0
    assert made.read_bytes() == (ROOT / file).read_bytes()
