"""Functions of a user's own that are not there, or whose modules cannot be imported."""

import os
from pathlib import Path

import pytest

from experiments.config import own_functions
from experiments.config.own_functions import missing, search_path


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a module ``mine`` that can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "mine.py"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("mine:method", ""),
        ("mine:methd", "but the module 'mine' has no 'methd'; did you mean 'method'?"),
        ("mine:number", "which is int, no function; name a function"),
        ("nomod:fn", "but there is no module 'nomod'; put it beside the experiment, run from"),
        ("nomod.sub:fn", "but there is no module 'nomod'; put it beside"),
        ("baselines.nothing:fn", "but there is no 'baselines.nothing': 'baselines' is a package"),
        ("baselines.libraries.ring:generate", ""),
    ],
)
def test_missing_names_are_reported(module: Path, name: str, complaint: str) -> None:
    """In a line, whatever the module prints."""
    module.write_text("print('hello')\nnumber = 3\ndef method(topology): ...\n")
    found = missing(name)
    assert found.startswith(complaint)
    assert bool(found) == bool(complaint)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def method(:\n", "whose module cannot be imported: SyntaxError: "),
        ("import torch_of_ours\n", "cannot be imported: it needs 'torch_of_ours', which is not"),
        ("raise ValueError('one\\ntwo')\n", "cannot be imported: ValueError: one two"),
        ("import os; os._exit(3)\n", "it ends with exit code 3, no word"),
        ("import sys; sys.exit('no')\n", "it ends with exit code 1, no"),
    ],
)
def test_a_failed_import_takes_one_line(module: Path, text: str, complaint: str) -> None:
    """Even if it ends the process."""
    module.write_text(text)
    found = missing("mine:method")
    assert complaint in found
    assert "\n" not in found


def test_modules_are_found_and_hide_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After all other places: a json.py of one's own is not what others mean by it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import json\nmethod = json.dumps\n")
    (tmp_path / "json.py").write_text("")
    assert missing("mine:method") == ""
    assert search_path().rpartition(os.pathsep)[2] == str(tmp_path)


def test_a_hanging_module_is_stopped(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_functions, "IMPORT_S", 0.5)
    module.write_text("import time; time.sleep(60)\n")
    assert missing("mine:method") == "whose module takes over 0.5 s to import; let it do less"
