"""What ``export`` says and does where a schedule breaks a limit."""

from pathlib import Path

import pytest

import forestcoll
from forestcoll.runtimes.msccl import read_algorithm
from forestcoll.runtimes.msccl.exporter import executor_limits
from tests.command_line import assert_one_line, document, invoke


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4 x 8209 chunks, which no buffer holds; two trees a GPU are as fast as any."""
    path = tmp_path_factory.mktemp("schedules") / "large.json"
    forestcoll.write_schedule(forestcoll.generate("ring:nodes=4", k=8209).schedule, path)
    return path


def test_the_limit_is_reported_with_what_fits(large: Path, tmp_path: Path) -> None:
    """Which limit, what is needed, the smallest k that fits and what it costs."""
    result = invoke("export", large, "-o", tmp_path / "a.xml")
    assert result.exit_code == 3
    message = (
        "it needs 32836 chunks in a buffer, and 32768 are the most, whatever the channels; k = 1 "
        "is the smallest that fits, with 2 GB/s instead of 2.66656; "
        "--satisfy-limits exports the fastest"
    )
    assert_one_line(result.stderr, message)
    assert not list(tmp_path.iterdir())


def test_the_fastest_that_fits_is_exported(large: Path, tmp_path: Path) -> None:
    """Verified and executed as everything is, with what it costs."""
    out = tmp_path / "a.xml"
    found = document("export", large, "-o", out, "--satisfy-limits")
    assert (found["k"], found["lost"], found["verified"]) == (2, "0 %", True)
    assert found["algbw_gb_s"]["exact"] == "8/3"
    assert found["executed"]
    assert "32836 chunks" in found["given"]
    assert read_algorithm(out).chunks_per_loop == 8


def test_what_fits_is_exported_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    forestcoll.write_schedule(forestcoll.generate("ring:nodes=4").schedule, path)
    found = document("export", path, "-o", tmp_path / "a.xml", "--satisfy-limits")
    assert "given" not in found


def test_misfits_leave_none(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_limits, "GPU_THREADBLOCKS", 2)
    result = invoke(
        "export", large, "-o", tmp_path / "a.xml", "--satisfy-limits", "--satisfy-time", "0"
    )
    assert result.exit_code == 3
    assert_one_line(result.stderr, "no forest of k = 1 fits, and no more of the 8209 were tried")
    assert not list(tmp_path.iterdir())


def test_the_time_is_checked(large: Path, tmp_path: Path) -> None:
    result = invoke("export", large, "-o", tmp_path / "a.xml", "--satisfy-time", "-1")
    assert result.exit_code == 2
    assert_one_line(result.stderr, "the time to find what fits is -1.0")
