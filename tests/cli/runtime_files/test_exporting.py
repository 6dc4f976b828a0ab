"""The command that exports a schedule file."""

from pathlib import Path

import pytest

import forestcoll
from forestcoll.runtimes.msccl import read_algorithm
from forestcoll.runtimes.mscclpp import read_plan
from tests.command_line import assert_refused, document, invoke


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schedules") / "ring.json"
    forestcoll.write_schedule(forestcoll.generate("ring:nodes=5").schedule, path)
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


def test_a_plan_is_executed_in_all_the_ways_it_may_be_called(tmp_path: Path) -> None:
    """An allreduce in place and out of place; a gather as it is meant."""
    path, out = tmp_path / "s.json", tmp_path / "plan.json"
    forestcoll.write_schedule(
        forestcoll.generate("ring:nodes=4", collective="allreduce").schedule, path
    )
    found = document("export", path, "-o", out, "--format", "mscclpp", "--threadblocks", "3")
    assert found["executed"] == ["a launch out of place", "a launch in place"]
    assert max(len(gpu.threadblocks) for gpu in read_plan(out).plan.gpus) == found["threadblocks"]
    assert found["threadblocks"] <= 3
    assert invoke("check-plan", out, "--threadblocks", "3").exit_code == 0


def test_a_plan_of_a_gather_is_for_one_kind_of_call(schedule: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.json"
    options = ("--format", "mscclpp", "--in-place", "--instances", "2", "--min-size", "1KB")
    found = document("export", schedule, "-o", out, *options)
    assert (found["executed"], found["in_place"]) == (["a launch in place"], True)
    assert read_plan(out).plan.min_bytes == 2**10


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
        (("--threadblocks", "3"), "msccl has no option threadblocks"),
        (("--format", "mscclpp", "--protocol", "LL"), "mscclpp has no option protocol"),
    ],
)
def test_bad_options_are_reported_in_a_line(
    schedule: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    assert_refused(message, "export", schedule, "-o", tmp_path / "a.xml", *options)
    assert not (tmp_path / "a.xml").exists()
