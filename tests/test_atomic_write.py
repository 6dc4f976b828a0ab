"""Files that appear when they are complete, or not at all."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from forestcoll import generate, load_topology
from forestcoll.atomic_write import reason, temporary_folder, write_text, write_whole
from forestcoll.errors import ExportError
from forestcoll.schedule import write_schedule
from tests.command_line import assert_refused


def halfway(interruption: BaseException, draft: Path) -> None:
    draft.write_text("half")
    raise interruption


def test_a_text_keeps_its_line_ends(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "one\r\nµ\n")
    assert (tmp_path / "file").read_bytes() == "one\r\nµ\n".encode()


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
def test_an_interruption_keeps_the_old_file(interruption: BaseException, tmp_path: Path) -> None:
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


def test_a_full_disk_is_reported_in_a_line(tmp_path: Path) -> None:
    """With the file that was asked for, not the draft."""
    full = OSError(28, "No space left on device", "draft")
    path = tmp_path / "file"
    with pytest.raises(ExportError) as caught:
        write_whole(path, lambda draft: halfway(full, draft))
    assert str(caught.value) == f"{path}: cannot be written: no space left on device"
    assert list(tmp_path.iterdir()) == []


def test_missing_directories_are_created(tmp_path: Path) -> None:
    """Those behind a link, too."""
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away" / "file")
    for path in (tmp_path / "gone" / "twice" / "file", tmp_path / "link"):
        write_text(path, "x")
        assert path.read_text() == "x"


def test_a_file_as_a_directory_is_reported_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    for below in ("file", "folder/file"):
        with pytest.raises(ExportError, match=r"cannot be written: (not a directory|file exists)"):
            write_whole(tmp_path / "taken" / below, lambda _: pytest.fail("was written"))


def test_a_reason_goes_without_the_name_of_a_file() -> None:
    assert reason(OSError(13, "Permission denied", "secret")) == "permission denied"
    assert reason(OSError("Odd")) == "odd"


KILLED = """
import os, signal, sys
from pathlib import Path
from forestcoll.atomic_write import write_whole

def write(draft):
    draft.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)

write_whole(Path(sys.argv[1]), write)
"""


def test_the_next_run_removes_drafts_of_a_killed_one(tmp_path: Path) -> None:
    """A draft of the same file, and of no other; one that is being written stays."""
    path, other = tmp_path / "file", tmp_path / "file.2"
    for each in (path, path, other):
        done = subprocess.run([sys.executable, "-c", KILLED, str(each)], check=False)
        assert done.returncode == -signal.SIGKILL
    left = sorted(one.name for one in tmp_path.iterdir())
    assert len(left) == 2  # the second has removed that of the first
    write_whole(path, lambda draft: draft.write_text("whole"))
    (kept,) = [name for name in left if name.startswith(".file.2.")]
    assert {one.name for one in tmp_path.iterdir()} == {"file", kept}
    write_whole(other, lambda draft: draft.write_text("whole"))
    assert {one.name for one in tmp_path.iterdir()} == {"file", "file.2"}


def test_a_draft_that_another_process_writes_stays(tmp_path: Path) -> None:
    """Its lock is held: the other writes on, and is the last to put its file there."""
    path = tmp_path / "file"
    waits = KILLED.replace("os.kill(os.getpid(), signal.SIGKILL)", "print(flush=True), input()")
    with subprocess.Popen(
        [sys.executable, "-c", waits, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as one:
        assert one.stdout is not None
        one.stdout.readline()
        write_whole(path, lambda draft: draft.write_text("ours"))
        assert path.read_text() == "ours"
        one.communicate("\n")
        assert one.returncode == 0
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


def test_threads_that_write_one_file_wait_for_each_other(tmp_path: Path) -> None:
    """They have one name for their drafts; every one is written whole."""
    path, written = tmp_path / "file", list[str]()

    def write(number: int) -> None:
        def fill(draft: Path) -> None:
            draft.write_text(str(number) * 1000)
            written.append(draft.read_text())

        write_whole(path, fill)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(written) == [str(number) * 1000 for number in range(8)]
    assert path.read_text() == written[-1]
    assert list(tmp_path.iterdir()) == [path]


def test_a_draft_that_another_thread_began_after_the_rename_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.replace

    def replace(draft: Path, target: Path) -> Path:
        found = rename(draft, target)
        draft.write_text("of another thread")
        return found

    monkeypatch.setattr(Path, "replace", replace)
    write_whole(tmp_path / "file", lambda draft: draft.write_text("own"))
    assert sorted(one.read_text() for one in tmp_path.iterdir()) == ["of another thread", "own"]


def test_foreign_files_with_similar_names_stay(tmp_path: Path) -> None:
    """A link of such a name, which is not followed, and names that are like it."""
    names = [".file.x.tmp", ".file.1.tmp.old", "file.1.tmp", ".other.1.tmp"]
    for name in names:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".file.7.tmp").symlink_to("file.1.tmp")
    write_whole(tmp_path / "file", lambda draft: draft.write_text("new"))
    assert {one.name for one in tmp_path.iterdir()} == {*names, ".file.7.tmp", "file"}


SHORT_FILES = """
import json, resource, signal, sys
from forestcoll import cli

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (999, 999))
for command in json.loads(sys.argv[1]):
    try:
        cli.app(command)
    except SystemExit as end:
        print(end.code)
"""


def test_every_writer_names_its_file_on_a_full_disk(tmp_path: Path) -> None:
    """A limit on the length of files fails as a full disk does, in the middle of a write.

    Without -B, Python would keep what it compiles cut off at the limit, and no later import works.
    """
    commands = [
        [*command, "-o", str(tmp_path / name)]
        for *command, name in (
            ("generate", "ring:nodes=16", "s.json"),
            ("generate", "ring:nodes=16", "s.npz"),
            ("topology", "export", "ring:nodes=64", "s.yaml"),
            ("topology", "draw", "ring:nodes=4", "s.png"),
            ("certificate", "ring:nodes=16", "s.cert.json"),
        )
    ]
    done = subprocess.run(
        [sys.executable, "-B", "-c", SHORT_FILES, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2"] * len(commands)
    assert done.stderr.splitlines() == [
        f"error: {command[-1]}: cannot be written: file too large" for command in commands
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_device_without_room_is_named() -> None:
    """/dev/full is written in place, and fails at once."""
    forest = generate(load_topology("ring:nodes=3")).schedule
    with pytest.raises(ExportError, match=r"^/dev/full: cannot be written: no space left on dev"):
        write_schedule(forest, "/dev/full")
    assert_refused(
        "/dev/full: cannot be written: no space left", "generate", "ring:nodes=3", "-o", "/dev/full"
    )


def test_temporary_folders_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is in use, or too young to have its lock, stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left, young = tmp_path / "p-left", tmp_path / "p-young"
    for folder in (left, young):
        folder.mkdir()
        (folder / "lock").touch()
    os.utime(left, (1, 1))
    with temporary_folder("p-") as used:
        os.utime(used, (1, 1))
        assert set(tmp_path.iterdir()) == {used, young}
        with temporary_folder("p-") as other:
            assert set(tmp_path.iterdir()) == {used, young, other}
    assert set(tmp_path.iterdir()) == {young}
