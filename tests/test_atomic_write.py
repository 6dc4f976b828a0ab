"""Files that appear when they are complete, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from forestcoll.atomic_write import reason, write_whole
from forestcoll.errors import ExportError


def halfway(interruption: BaseException, draft: Path) -> None:
    draft.write_text("half")
    raise interruption


def test_a_file_is_there_when_it_is_complete(tmp_path: Path) -> None:
    """Until then what was there stays; nothing else is left in the directory."""
    path = tmp_path / "file"
    path.write_text("old")

    def write(draft: Path) -> None:
        draft.write_text("new")
        assert path.read_text() == "old"
        assert draft.parent == tmp_path

    write_whole(path, write)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), ValueError("no")])
def test_an_interruption_leaves_what_was_there(interruption: BaseException, tmp_path: Path) -> None:
    """And goes on to whoever called."""
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(type(interruption)):
        write_whole(path, lambda draft: halfway(interruption, draft))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(type(interruption)):
        write_whole(tmp_path / "new", lambda draft: halfway(interruption, draft))
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_told_in_a_line(tmp_path: Path) -> None:
    """With the file that was asked for, not the draft."""
    full = OSError(28, "No space left on device", "draft")
    path = tmp_path / "file"
    with pytest.raises(ExportError) as caught:
        write_whole(path, lambda draft: halfway(full, draft))
    assert str(caught.value) == f"{path}: cannot be written: no space left on device"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_directory_is_told_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"there is no directory .*gone; create it first"):
        write_whole(tmp_path / "gone" / "file", lambda _: pytest.fail("was written"))


def test_a_reason_goes_without_the_name_of_a_file() -> None:
    assert reason(OSError(13, "Permission denied", "secret")) == "permission denied"
    assert reason(OSError("Odd")) == "odd"
