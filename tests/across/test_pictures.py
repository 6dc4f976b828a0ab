"""Pictures of the README and of docs are what their commands draw."""

import re
import shlex
from pathlib import Path

import pytest

from tests.command_line import invoke

FOLDER = Path(__file__).parents[2]
PAGES = [FOLDER / "README.md", *sorted((FOLDER / "docs").rglob("*.md"))]
PICTURE = re.compile(
    r"<!-- drawn: forestcoll (.* (?:-o|--draw|--timeline)) (\S+) -->\n!\[[^\]]+\]\(([^)]+)\)"
)
DRAWN = [(page, *found) for page in PAGES for found in PICTURE.findall(page.read_text("utf-8"))]
"""Page, command, file and link of each picture that has a command."""


def test_every_picture_below_docs_has_its_command_and_its_page():
    files = {str(path.relative_to(FOLDER)) for path in (FOLDER / "docs" / "images").iterdir()}
    assert {file for _, _, file, _ in DRAWN} == files
    for page, _, file, link in DRAWN:
        assert (page.parent / link).resolve() == FOLDER / file


@pytest.mark.first_rows(5)
@pytest.mark.parametrize(("command", "file"), [(command, file) for _, command, file, _ in DRAWN])
def test_pictures_equal_the_output_of_their_commands(command, file, tmp_path, monkeypatch):
    """Byte for byte. Commands before the last one make its schedule."""
    monkeypatch.chdir(tmp_path)
    made = Path(file).name
    *before, last = command.split(" && forestcoll ")
    for one in before:
        assert invoke(*shlex.split(one)).exit_code == 0
    assert invoke(*shlex.split(last), made).exit_code == 0
    assert Path(made).read_bytes() == (FOLDER / file).read_bytes()
