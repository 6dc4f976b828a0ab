"""The command that carries a schedule file out."""

import json
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


FOUND = Execution(2**20, "int64", 7, "MPICH 9.9", time_s=0.00125, library_time_s=0.5)


def test_a_file_is_executed_from_end_to_end(schedule: Path) -> None:
    """As a user does it."""
    done = process("exec", str(schedule), "--ranks", "3", "--size", "3KB", "--repetitions", "1")
    assert (done.returncode, done.stderr) == (0, "")
    first, second, _, label, *times = done.stdout.splitlines()
    assert first == "allgather on ring:nodes=3 by forestcoll, verified"
    assert "3 processes over MPICH" in second
    assert second.endswith("3KB of int64: equal to the library's own, bit for bit")
    assert "on the CPUs of this machine, not between GPUs" in label
    assert [line.split()[-1] for line in times] == ["ms", "ms"]


def test_times_are_labelled_milliseconds(schedule: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "execute", lambda *_, **__: FOUND)
    lines = invoke("exec", schedule).stdout.splitlines()
    assert lines[3].endswith("cores); median of 7")
    assert lines[4:] == [
        "this schedule                    1.250 ms",
        "the allgather of MPICH 9.9     500.000 ms",
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
    report = document("exec", schedule, *options, "--repetitions", "9", "--seconds", "30")
    assert asked.pop("transfers") > 6
    assert asked == {
        "backend": "torch",
        "size_bytes": 2048,
        "dtype": "float32",
        "repetitions": 9,
        "seconds": 30,
    }
    assert (report["equal_to_the_librarys_own"], report["ranks"]) == (True, 3)
    assert (report["time_s"], report["library_time_s"]) == (0.00125, 0.5)
    assert "not between GPUs" in report["times_are"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
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
