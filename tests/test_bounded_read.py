"""Size-limited reading: regular files within their limit, and one line for anything else."""

import ast
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from forestcoll.bounded_read import (
    MOST_OBJECT_BYTES,
    contains,
    expect_at_most,
    expect_few_objects,
    object_bytes,
    open_regular,
    read_at_most,
    read_start,
    read_text_at_most,
    read_whole,
)
from forestcoll.errors import InvalidScheduleError, InvalidTopologyError

ROOT = Path(__file__).parents[1]


def test_a_file_at_its_limit_is_read_and_one_byte_more_refused(tmp_path: Path) -> None:
    """Five bytes: of at most five they are read, of at most four they are not."""
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    assert read_at_most(file, 5, InvalidScheduleError) == b"12345"
    with pytest.raises(InvalidScheduleError, match=r"file: has over 0 MB, .* or pray$"):
        read_at_most(file, 4, InvalidScheduleError, "pray")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    """A hole of a terabyte; and of a file of any size only the start."""
    file = tmp_path / "file"
    with file.open("wb") as hole:
        hole.truncate(10**12)
    with pytest.raises(InvalidScheduleError, match="has over 1 MB"):
        read_at_most(file, 10**6, InvalidScheduleError)
    assert read_start(file, 3, InvalidScheduleError) == b"\0\0\0"


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """Two bytes when it is opened, six when it is read, of at most five."""
    file = tmp_path / "file"
    file.write_bytes(b"12")
    with open_regular(file, 5, InvalidScheduleError) as opened:
        file.write_bytes(b"123456")
        assert len(read_whole(opened, 5)) > 5


def test_a_file_without_a_known_size_is_read_to_its_end() -> None:
    """Those of /proc report no size."""
    file = Path("/proc/self/status")
    assert file.stat().st_size == 0
    assert read_at_most(file, 10**6, InvalidScheduleError).startswith(b"Name:")
    with pytest.raises(InvalidScheduleError, match="has over 0 MB"):
        read_at_most(file, 9, InvalidScheduleError)


def test_irregular_files_are_refused_without_blocking(tmp_path: Path) -> None:
    """A pipe without a writer would block whoever opens it; zeros have no end."""
    pipe, link, folder = tmp_path / "pipe", tmp_path / "link", tmp_path / "folder"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    folder.mkdir()
    for path, reason in (
        (pipe, "it is a pipe; write its content to a file first"),
        (link, "it is a device, not a file"),
        (folder, "is a directory"),
        (tmp_path / "none", "no such file or directory"),
    ):
        with pytest.raises(InvalidTopologyError) as caught:
            read_at_most(path, 9, InvalidTopologyError)
        assert str(caught.value) == f"{path}: cannot be read: {reason}"


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system does not open one; its name is relative, as that of a socket must be short."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("socket")
        with pytest.raises(InvalidTopologyError, match="socket: cannot be read: no such device"):
            read_at_most(Path("socket"), 9, InvalidTopologyError)


def test_a_name_with_a_nul_byte_is_refused() -> None:
    with pytest.raises(InvalidTopologyError, match=r"^'a\\x00b': cannot be read: embedded null"):
        read_at_most(Path("a\0b"), 9, InvalidTopologyError)


def test_read_errors_are_reported_with_the_file_name(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"1")
    with (
        pytest.raises(InvalidTopologyError, match=r"file: cannot be read: input/output error$"),
        open_regular(file, 9, InvalidTopologyError),
    ):
        raise OSError(5, "Input/output error")


def test_text_has_no_byte_order_mark_and_ends_its_lines_as_on_unix(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes("\ufeffa\r\nb\rc\n".encode())
    assert read_text_at_most(file, 99, InvalidTopologyError) == "a\nb\nc\n"
    file.write_bytes(b"\xe9")
    with pytest.raises(InvalidTopologyError, match="not text in UTF-8; save it as such"):
        read_text_at_most(file, 99, InvalidTopologyError)


def test_a_mark_is_found_across_blocks_and_up_to_the_limit(tmp_path: Path) -> None:
    """At the border of the first megabyte; a byte too late it is not."""
    file = tmp_path / "file"
    file.write_bytes(b"." * (2**20 - 2) + b"mark" + b"." * 9)
    with open_regular(file, 2**30, InvalidTopologyError) as opened:
        assert contains(opened, re.compile(b"mark"), 2**20 + 2)
        assert opened.tell() == 0
        assert not contains(opened, re.compile(b"mark"), 2**20 + 1)
        assert not contains(opened, re.compile(b"none"), 2**30)


def test_oversized_content_is_refused_with_advice() -> None:
    expect_at_most(b"12", 2, "it", InvalidScheduleError)
    with pytest.raises(InvalidScheduleError, match=r"^it: has over 0 MB.*the right file, or pray$"):
        expect_at_most(b"123", 2, "it", InvalidScheduleError, "pray")
    with pytest.raises(InvalidScheduleError, match=r"the right file$"):
        expect_at_most(b"123", 2, "it", InvalidScheduleError)


def test_lists_objects_and_values_are_counted() -> None:
    """Two lists of 72 bytes, one object of 200, two commas of 40: 424, as text and as bytes."""
    text = '[[1, 2], {"a": 1}]'
    assert object_bytes(text) == object_bytes(text.encode()) == 2 * 72 + 200 + 2 * 40


def test_the_limit_is_the_most_that_is_allowed() -> None:
    """Three lists take 216 bytes."""
    expect_few_objects("[[], []", "it", InvalidScheduleError, 3 * 72 + 40)
    with pytest.raises(InvalidScheduleError, match=r"^it: holds so many values .* at most 0 MB"):
        expect_few_objects("[[], []", "it", InvalidScheduleError, 3 * 72 + 39)
    with pytest.raises(InvalidScheduleError, match=r"^holds so many values"):
        expect_few_objects("[[], []", "", InvalidScheduleError, 0)


def test_lists_of_nothing_are_refused_before_they_fill_memory() -> None:
    """Four million of 72 + 40 bytes are 448 MB, in 12 MB of text; half as many are not too many."""
    expect_few_objects("[]," * 2_000_000, "it", InvalidScheduleError)
    with pytest.raises(InvalidScheduleError, match="448 MB"):
        expect_few_objects("[]," * 4_000_000, "it", InvalidScheduleError)
    assert MOST_OBJECT_BYTES == 400 * 10**6


OWN = {
    "experiments/config/document.py": "the toolkit's experiments",
    "baselines/topology_finder/base_table.py": "the toolkit's table",
    "baselines/topology_finder/one_way_circulants.py": "the toolkit's table",
    "experiments/machines/machine_rates.py": "the toolkit's table",
    "experiments/machines/machines_page.py": "the toolkit's page",
    "experiments/measures/docs.py": "the toolkit's page",
    "experiments/own/times_over_bound.py": "the toolkit's table",
    "experiments/published/__init__.py": "the toolkit's tables",
    "experiments/report/page.py": "the toolkit's scripts and styles",
    "experiments/reproduction/inventory.py": "the toolkit's list of items",
    "experiments/reproduction/claims.py": "the toolkit's list of claims",
    "experiments/run/worker.py": "/proc, and a pipe of its own",
    "experiments/simulation_fit/simulation_page.py": "the toolkit's page",
    "experiments/speedups.py": "the toolkit's page",
    "forestcoll/cli/schemas.py": "the toolkit's schemas",
    "forestcoll/cli/shell.py": "the source of installed modules",
    "forestcoll/runtimes/execution/execution.py": "what its own processes wrote",
    "forestcoll/runtimes/execution/one_rank.py": "what the process that started it wrote",
    "forestcoll/lazy_loading.py": "the stub of a package",
}
"""Modules that read files otherwise: not those of a user."""


def test_every_reader_of_a_user_s_file_goes_through_here() -> None:
    """No other module calls read_text, read_bytes, open for reading, or a parser of files."""
    found = {
        str(path.relative_to(ROOT))
        for package in ("forestcoll", "lp", "baselines", "experiments")
        for path in (ROOT / package).rglob("*.py")
        if any(_reads(path.read_text(encoding="utf-8")))
    }
    assert found == set(OWN)


NAMES = ("read_text", "read_bytes", "loadtxt", "fromfile", "read_csv", "read_json")


def _reads(source: str) -> Iterator[bool]:
    if not any(name in source for name in (*NAMES, "open")):
        return  # most modules, whose parsing takes time
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name in NAMES:
            yield True
        elif name == "open" and not any(
            isinstance(mode, ast.Constant) and mode.value in ("w", "wb", "a")
            for mode in (*node.args, *(word.value for word in node.keywords))
        ):
            yield not _is_of_system(node)


def _is_of_system(node: ast.Call) -> bool:
    """Whether it is ``os.open`` or the member of an archive that is open."""
    text = ast.unparse(node)
    return text.startswith(("os.open(", "archive.open("))
