"""The command that carries a schedule file out."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import forestcoll
from forestcoll.cli.runtime_files import executing as cli
from forestcoll.errors import ExecutionError
from forestcoll.runtimes.execution.execution import Execution
from tests.command_line import assert_refused, document, invoke, process


@pytest.fixture(scope="module")
def schedule(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("schedules") / "ring.json"
    forestcoll.write_schedule(forestcoll.generate("ring:nodes=3").schedule, path)
    return path


FOUND = Execution(
    2**20, "int64", 3, "MPICH 9.9", time_s=0.00125, library_time_s=0.5,
    runs_s=(0.002, 0.001, 0.00125), library_runs_s=(0.5, 0.25, 0.75),
)  # fmt: skip


def test_a_file_is_executed_from_end_to_end(schedule: Path) -> None:
    """As a user does it."""
    done = process("exec", str(schedule), "--ranks", "3", "--size", "3KB", "--repetitions", "1")
    assert (done.returncode, done.stderr) == (0, "")
    first, second, _, label, runs, heads, *times = done.stdout.splitlines()
    assert first == "allgather on ring:nodes=3 by forestcoll, verified"
    assert "3 processes over MPICH" in second
    assert second.endswith("3KB of int64: equal to the library's own, bit for bit")
    assert "on the CPUs of this machine, not between GPUs" in label
    assert runs == "ms, 1 run after 1 of warm-up"
    assert heads.split() == ["median", "least", "most", "to", "the", "library"]
    assert times[0].startswith("this schedule ")
    assert times[1].split()[-1] == "1"


def test_times_are_labelled_milliseconds(schedule: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "execute", lambda *_, **__: FOUND)
    lines = invoke("exec", schedule).stdout.splitlines()
    assert lines[3].endswith("cores)")
    assert lines[4:] == [
        "ms, 3 runs after 1 of warm-up",
        "                                median      least       most  to the library",
        "this schedule                    1.250      1.000      2.000          0.0025",
        "the allgather of MPICH 9.9     500.000    250.000    750.000               1",
    ]


def test_options_reach_the_library(schedule: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def found(program: object, **options: object) -> Execution:
        asked.update(options, transfers=program.num_transfers)  # type: ignore[attr-defined]
        return FOUND

    monkeypatch.setattr(cli, "execute", found)
    options = (
        "--backend",
        "torch",
        "--size",
        "2KB",
        "--dtype",
        "float32",
        "--pipeline-chunks",
        "2",
    )
    more = ("--repetitions", "9", "--seconds", "30", "--warm-up", "4")
    report = document("exec", schedule, *options, *more)
    assert asked.pop("transfers") > 6
    assert asked == {
        "backend": "torch",
        "size_bytes": 2048,
        "dtype": "float32",
        "repetitions": 9,
        "seconds": 30,
        "warm_up": 4,
    }
    assert (report["warm_up"], report["runs_s"]) == (4, [0.002, 0.001, 0.00125])
    assert (report["equal_to_the_librarys_own"], report["ranks"]) == (True, 3)
    assert (report["time_s"], report["library_time_s"]) == (0.00125, 0.5)
    assert "not between GPUs" in report["times_are"]


def test_schedules_stand_side_by_side(
    schedule: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its line and its bar, and the runs of the library's own are put together."""
    other = tmp_path / "slow.json"
    other.write_text(schedule.read_text())
    slow = replace(FOUND, time_s=1, runs_s=(1.0,), library_runs_s=(1.5,))
    found = iter([FOUND, slow, FOUND, slow])
    monkeypatch.setattr(cli, "execute", lambda *_, **__: next(found))
    picture = tmp_path / "bars.svg"
    lines = invoke("exec", schedule, other, "--figure", picture).stdout.splitlines()
    assert [line.split()[:4] for line in lines[-3:-1]] == [
        ["ring.json", "1.250", "1.000", "2.000"],
        ["slow.json", "1000.000", "1000.000", "1000.000"],
    ]
    assert lines[-1].split()[4:] == ["9.9", "625.000", "250.000", "1500.000", "1"]
    assert "slow.json" in picture.read_text()
    report = document("exec", schedule, other)
    assert [one["time_s"] for one in report["schedules"]] == [0.00125, 1]


def test_unlike_schedules_are_not_compared(schedule: Path, tmp_path: Path) -> None:
    other = tmp_path / "larger.json"
    forestcoll.write_schedule(forestcoll.generate("ring:nodes=4").schedule, other)
    message = "is an allgather of 4 GPUs, and"
    assert_refused(message, "exec", schedule, other)
    assert_refused(
        "file name ends in .png, .pdf or .svg", "exec", schedule, "--figure", tmp_path / "bars.txt"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--warm-up", "0"), "the number of warm-up runs is 0; it must be 1 or more"),
        (("--ranks", "4"), "is for 3 GPUs; give --ranks 3"),
        (("--size", "1KB,2KB"), "--size is '1KB,2KB'; it must be one size"),
        (("--size", "1QB"), "--size has '1QB'; write bytes, or a size"),
        (("--dtype", "int8"), "dtype is 'int8'; it must be int32 or"),
        (("--pipeline-chunks", "0"), "cannot be cut into 0 pipeline chunks"),
    ],
)
def test_mistakes_are_one_line(schedule: Path, options: tuple[str, ...], message: str) -> None:
    assert_refused(message, "exec", schedule, *options)


def test_a_wrong_schedule_is_not_executed(schedule: Path, tmp_path: Path) -> None:
    content = json.loads(schedule.read_text())
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(content | {"congestion": "1/9", "congestion_decimal": 1 / 9}))
    assert_refused("overloaded", "exec", forged, code=1)


def test_a_rank_that_fails_is_one_line(schedule: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(*_: object, **__: object) -> None:
        raise ExecutionError("rank 2 failed: MemoryError: no room")

    monkeypatch.setattr(cli, "execute", failed)
    assert_refused("rank 2 failed: MemoryError: no room", "exec", schedule, code=3)
