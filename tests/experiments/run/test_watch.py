"""The watch of a worker: how it ends becomes the columns of its row."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.command_line import ROOT

WATCH = """
import os, signal, sys, time
from experiments.run.watch import Watch
events, to_watch = os.pipe()
complaints, errors = os.pipe()
worker = os.fork()
if worker == 0:
    tell = lambda event: os.write(to_watch, event.encode() + b"\\n")
    exec(sys.argv[1])
    os._exit(3)
os.close(to_watch)
os.close(errors)
try:
    Watch({"job": {}, "seconds": 0.3, "memory_gb": 0.2}, worker, events, complaints).keep()
finally:
    os.kill(worker, signal.SIGKILL)
"""

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "a row": (
        'tell(\'{"fields": {"status": "ok", "k": 2}}\'); time.sleep(60)',
        {"status": "ok", "k": 2},
    ),
    "too late": (
        'tell(\'{"phase": "generate", "stage": "packing"}\'); time.sleep(60)',
        {"status": "timeout", "reason": "over 0.3 s in packing"},
    ),
    "too large": (
        "hoard = bytearray(b'x') * 400_000_000; time.sleep(60)",
        {"status": "out-of-memory", "reason": "over 0.2 GB in phase 'start'"},
    ),
    "killed": (
        "os.kill(os.getpid(), signal.SIGKILL)",
        {"status": "failed", "reason": "killed by signal 9", "killed": True, "stderr": ""},
    ),
    "a crash": (
        "os.write(errors, b'what\\nhappened\\n')",
        {"status": "failed", "reason": "happened (exit code 3)", "stderr": "what\nhappened\n"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_end_becomes_columns(case: str) -> None:
    """0.3 s and 0.2 GB are allowed; a signal from outside is no fault of the worker."""
    deed, expected = CASES[case]
    command = [sys.executable, "-c", WATCH, deed]
    pipe = subprocess.PIPE  # an input that stays open: its end would end the watch
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        *stages, row = map(json.loads, process.stdout.read().splitlines())
    columns = {key: value for key, value in row["columns"].items() if key != "peak_memory_mb"}
    assert columns == expected
    assert stages == ([{"stage": "packing"}] if case == "too late" else [])


def test_the_end_of_the_input_ends_the_watch() -> None:
    """The supervisor is gone: no row, and nobody to read it."""
    command = [sys.executable, "-c", WATCH, "time.sleep(60)"]
    done = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60
    )
    assert done.stdout == b""
