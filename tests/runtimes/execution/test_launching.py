"""Processes that end together."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forestcoll.errors import ExecutionError, TimeLimitError
from forestcoll.runtimes.execution import launching
from forestcoll.runtimes.execution.launching import Command, run_together


def python(code: str, **environment: str) -> Command:
    return Command([sys.executable, "-I", "-c", code], environment)


def sleeper(mark: Path) -> Command:
    """Writes its number, then sleeps for longer than any test."""
    return python(
        f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(90)"
    )


def is_gone(mark: Path) -> bool:
    try:
        os.kill(int(mark.read_text()), 0)
    except ProcessLookupError:
        return True
    return False


def test_all_are_waited_for_and_have_their_environment(tmp_path: Path) -> None:
    code = "import os; print('I am', os.environ['NUMBER'])"
    run_together([python(code, NUMBER=str(n)) for n in range(2)], 60, tmp_path / "log")
    assert sorted((tmp_path / "log").read_text().split("\n")) == ["", "I am 0", "I am 1"]


def test_one_that_fails_ends_the_others(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    waits = f"import os, time\nwhile not os.path.exists({str(mark)!r}): time.sleep(.01)\n"
    waits += "time.sleep(.1); raise SystemExit(7)"
    with pytest.raises(ExecutionError, match="ended with 7"):
        run_together([sleeper(mark), python(waits)], 60, tmp_path / "log")
    assert is_gone(mark)


def test_time_that_is_up_ends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that does not listen to being asked."""
    monkeypatch.setattr(launching, "_GRACE_S", 0.2)
    mark = tmp_path / "mark"
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    deaf += f"import os; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(90)"
    begin = time.monotonic()
    with pytest.raises(TimeLimitError, match=r"not done after 1\.5 s and were stopped"):
        run_together([python(deaf)], 1.5, tmp_path / "log")
    assert is_gone(mark)
    assert time.monotonic() - begin < 30


def test_ctrl_c_ends_all(tmp_path: Path) -> None:
    """In a process of its own: whoever runs the tests is not to be interrupted."""
    mark = tmp_path / "mark"
    code = "from tests.runtimes.execution.test_launching import *\n"
    code += f"run_together([sleeper(Path({str(mark)!r}))], 60, Path({str(tmp_path / 'log')!r}))"
    run = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    while not (mark.exists() and mark.read_text()):
        assert run.poll() is None
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in run.communicate(timeout=30)[1]
    assert is_gone(mark)


def test_one_that_cannot_start_ends_those_that_have(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        run_together(
            [sleeper(tmp_path / "mark"), Command(["/nowhere/to/be/found"])], 60, tmp_path / "log"
        )
    assert not (tmp_path / "mark").exists() or is_gone(tmp_path / "mark")
