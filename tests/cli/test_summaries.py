"""Help without imports: the same as with them."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer

from forestcoll.cli.shell import ABOVE, CORE
from forestcoll.cli.summaries import summary

ALL = [*CORE.values(), *ABOVE.values()]


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_the_source_tells_what_the_loaded_command_does(command: EntryPoint) -> None:
    """Each command of ours, the core's and the other packages'."""
    loaded = command.load()
    told = loaded.info.help if isinstance(loaded, typer.Typer) else loaded.__doc__
    short = summary(command)
    assert short is not None
    assert short.split() == told.split()


def test_unknown_values_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another assignment, help that is worked out, no help, a module that is not there."""
    (tmp_path / "silent_for_test.py").write_text(
        "import typer\ntext = 'x'\napp = typer.Typer(help=text)\nbare = typer.Typer()\nmade = app\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("app", "bare", "made", "gone"):
        assert summary(EntryPoint("x", f"silent_for_test:{name}", "group")) is None
    assert summary(EntryPoint("x", "nowhere_for_test:app", "group")) is None
    assert "silent_for_test" not in sys.modules
