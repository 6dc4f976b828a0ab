"""The command that exports a schedule file."""

from pathlib import Path

import pytest

import forestcoll
from forestcoll.schedule.msccl import read_algorithm
from tests.command_line import assert_one_line, document, invoke


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schedules") / "ring.json"
    forestcoll.write_schedule(forestcoll.generate("ring:nodes=5"), path)
    return path


def test_what_is_exported_has_been_verified_and_executed(schedule: Path, tmp_path: Path) -> None:
    """Options go where they belong; sizes are written as those of other commands."""
    out = tmp_path / "ring.xml"
    options = ("--protocol", "LL", "--instances", "2", "--channels", "1", "--in-place")
    sizes = ("--min-size", "1KB", "--max-size", "1MB")
    found = document("export", schedule, "-o", out, *options, *sizes)
    assert (found["format"], found["verified"], found["protocol"]) == ("msccl", True, "LL")
    assert found["executed"]
    algorithm = read_algorithm(out)
    assert (algorithm.min_bytes, algorithm.max_bytes) == (2**10, 2**20)
    assert (algorithm.in_place, algorithm.out_of_place, algorithm.channels) == (True, False, 2)


def test_it_can_be_written_unexecuted(schedule: Path, tmp_path: Path) -> None:
    found = document("export", schedule, "-o", tmp_path / "a.xml", "--no-check")
    assert found["executed"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "pdf"), "there is no format 'pdf'; formats are msccl"),
        (("--protocol", "UD"), "the protocol is 'UD'"),
        (("--channels", "33"), "more than the 32 channels"),
        (("--max-size", "large"), "--max-size"),
    ],
)
def test_bad_options_are_told_in_a_line(
    schedule: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    result = invoke("export", schedule, "-o", tmp_path / "a.xml", *options)
    assert result.exit_code == 2
    assert_one_line(result.stderr, message)
    assert not (tmp_path / "a.xml").exists()
