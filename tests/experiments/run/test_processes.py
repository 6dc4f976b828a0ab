"""Ending processes: when it is said to be done, it is."""

import os
import subprocess
import sys

import psutil

from experiments.run.processes import descendants, end_all, marked, resident_bytes, runs

HOARD = "x = bytearray(b'x') * 400_000_000; print(flush=True); import time; time.sleep(60)"


def test_ending_waits_until_the_memory_is_given_back() -> None:
    """That takes the kernel tens of milliseconds, with the environment gone at their beginning."""
    environment = {**os.environ, "FORESTCOLL_TEST": "hoard"}
    command = [sys.executable, "-S", "-c", HOARD]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        process = psutil.Process(child.pid)
        assert runs(process)
        assert 400e6 < resident_bytes([process]) < 500e6
        assert marked("FORESTCOLL_TEST", "hoard") == [process]
        assert marked("FORESTCOLL_TEST", "other") == []
        end_all(lambda: marked("FORESTCOLL_TEST", "hoard"))
        assert not runs(process)
        assert resident_bytes([process]) == 0


def test_a_zombie_is_no_running_descendant() -> None:
    """It remains a child until it is reaped; a sleeping one is found before."""
    with subprocess.Popen(["sleep", "60"]) as child:
        process = psutil.Process(child.pid)
        assert process in descendants()
        process.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert process.is_running()
        assert process not in descendants()


def test_a_process_with_a_running_thread_has_not_ended() -> None:
    """Its main thread has ended and is a zombie; the other one sleeps."""
    code = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "print(flush=True)\n"
        "ctypes.CDLL(None).pthread_exit(None)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        process = psutil.Process(child.pid)
        while process.status() != psutil.STATUS_ZOMBIE:
            pass
        assert runs(process)
        end_all(lambda: [process])
        assert not runs(process)
