"""Ending processes: when it is said to be done, it is."""

import os
import subprocess
import sys

from experiments.run.processes import end_all, marked, reap, runs

HOARD = "x = bytearray(b'x') * 400_000_000; print(flush=True); import time; time.sleep(60)"


def test_ending_waits_until_the_memory_is_given_back() -> None:
    """That takes the kernel tens of milliseconds, with the environment gone at their beginning."""
    environment = {**os.environ, "FORESTCOLL_TEST": "hoard"}
    command = [sys.executable, "-S", "-c", HOARD]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert runs(child.pid)
        assert marked("FORESTCOLL_TEST=hoard") == [child.pid]
        end_all(lambda: marked("FORESTCOLL_TEST=hoard"))
        assert not runs(child.pid)


def test_leave_is_taken_of_who_ends_soon() -> None:
    """A child that has not ended yet: not there at once, its exit code when it was waited for."""
    child = os.posix_spawn("/bin/sleep", ["sleep", "0.3"], os.environ)
    assert child not in reap()
    assert reap(10)[child] == 0
    assert reap(10) == {}
