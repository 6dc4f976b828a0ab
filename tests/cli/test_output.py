"""What commands write: refused before the work where it cannot be written."""

import json
import os
import sys
from pathlib import Path

import pytest

from forestcoll.cli import networks, written_trees
from forestcoll.cli.output import expect_writable, progress_bars, report
from forestcoll.errors import ExportError
from tests.command_line import assert_refused, document


def never(*_: object, **__: object) -> None:
    raise AssertionError


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("file/x.json", "file is a file; name a folder"),
        ("locked/new/x.json", "no permission to write in"),
        ("taken.json", "is a directory; name a file in it"),
        ("locked/x.json", "no permission to write in"),
        ("x.yaml", "x.yaml: the file name must end in .json or .npz"),
        ("x", "x: the file name must end in .json or .npz"),
    ],
)
def test_generate_looks_at_the_output_before_it_works(
    output: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is generated for a file that cannot be written."""
    for name in ("taken.json", "locked"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setattr(written_trees, "generate", never)
    monkeypatch.setattr(os, "access", lambda path, _: Path(path).name != "locked")
    assert_refused(message, "generate", "ring:nodes=4", "-o", tmp_path / output)


def test_generate_may_write_into_a_device() -> None:
    """/dev/null is written in place, whoever may create files in /dev."""
    assert document("generate", "ring:nodes=4", "-o", os.devnull)["file"] == os.devnull


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("x.doc", "ends in .png, .pdf or .svg"),
        ("file/x.png", "file is a file; name a folder"),
        ("taken.png", "is a directory"),
    ],
)
@pytest.mark.parametrize("command", ["topology draw", "draw"])
def test_drawings_look_at_the_output_before_they_work(
    command: str, output: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither read nor drawn for a file that cannot be written."""
    (tmp_path / "taken.png").mkdir()
    (tmp_path / "file").touch()
    monkeypatch.setattr(networks, "changed_network", never)
    monkeypatch.setattr("forestcoll.schedule.read_schedule", never)
    assert_refused(message, *command.split(), "ring:nodes=4", "-o", tmp_path / output)


def test_facts_go_to_stdout_for_people_or_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    report({"k": 3}, json_=False)
    assert capsys.readouterr().out == "k  3\n"
    report({"k": 3}, json_=True)
    assert json.loads(capsys.readouterr().out) == {"k": 3}


def test_new_files_and_those_to_replace_may_be_written(tmp_path: Path) -> None:
    """Nothing is made or changed by asking."""
    path = tmp_path / "new.json"
    expect_writable(path)
    assert not path.exists()
    path.write_text("old")
    expect_writable(path)
    assert path.read_text() == "old"
    (tmp_path / "link.json").symlink_to(tmp_path / "gone" / "x.json")
    expect_writable(tmp_path / "link.json")
    assert not (tmp_path / "gone").exists()
    (tmp_path / "gone").touch()
    with pytest.raises(ExportError, match="gone is a file; name a folder"):
        expect_writable(tmp_path / "link.json")


@pytest.mark.parametrize(
    "command",
    [
        ("generate", "ring:nodes=4", "-o", "x.json"),
        ("certificate", "ring:nodes=4", "-o", "x.json"),
        ("topology", "export", "ring:nodes=4", "-o", "x.yaml"),
        ("baselines", "run", "ring", "ring:nodes=4", "-o", "x.npz"),
        ("groups", "dgx_a100:boxes=2", "--by", "box", "-o", "x"),
    ],
    ids=lambda command: command[0],
)
def test_commands_create_the_folders_of_their_output(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "new" / "folder" / command[-1]
    assert document(*command[:-1], path)
    assert path.exists()


def test_bars_are_for_people_only(capsys: pytest.CaptureFixture[str]) -> None:
    """Where stderr is no terminal nothing is shown, and stages may be reported all the same."""
    with progress_bars() as advance:
        for done in range(3):
            advance("packing", done, 2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_rich_is_loaded_only_for_bars_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading it takes as long as the stages for hundreds of GPUs."""
    monkeypatch.setitem(sys.modules, "rich.progress", None)  # its import fails
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    with progress_bars():
        pass
    monkeypatch.setenv("FORCE_COLOR", "1")
    with pytest.raises(ImportError, match=r"rich\.progress"), progress_bars():
        pass
