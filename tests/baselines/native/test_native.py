"""The border to the baselines' native code: errors, progress and Ctrl-C come across."""

import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from baselines.native import _methods

ERRORS = """
import importlib.util, sys
import numpy as np

def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

def name_of(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        print(type(error).__module__, type(error).__name__)

loaded = {path.split("/")[-1].split(".")[0]: path for path in sys.argv[1:]}
loaded = {name: load(name, path) for name, path in loaded.items()}
ints = lambda *numbers: np.array(numbers, dtype=np.int32)
longs = lambda *numbers: np.array(numbers, dtype=np.int64)
if "_methods" in loaded:
    alike = ints(0, 1), ints()
    times = loaded["_methods"].broadcast_times
    name_of(times, 2, ints(0), ints(1), longs(1), longs(0), 1, *alike)
    name_of(times, 2, ints(0, 1), ints(1, 0), longs(2**62, 2**62), longs(0, 0), 1, *alike)
    name_of(times, 2, ints(0), ints(1, 0), longs(1), longs(0), 1, *alike)
if "_core" in loaded:
    whole = longs(1, 1), np.ones(2, np.uint8)
    name_of(loaded["_core"].bottleneck, 2, ints(0), ints(1), longs(1), *whole)
"""

TRANSLATED = [
    "forestcoll.errors DisconnectedError",
    "forestcoll.errors CapacityOverflowError",
    "builtins ValueError",
]


@pytest.mark.parametrize(
    "order",
    [
        *(("_methods", "_core"), ("_core", "_methods")),
        *(pytest.param((one,), marks=pytest.mark.slow) for one in ("_methods", "_core")),
    ],
)
def test_each_native_module_translates_its_own_errors(order: tuple[str, ...]) -> None:
    """Each module has its own copy of the core, and translates by itself what it throws."""
    from forestcoll.native import _core

    files = {"_methods": _methods.__file__, "_core": _core.__file__}
    command = [sys.executable, "-W", "error", "-c", ERRORS, *(files[name] for name in order)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    expected = TRANSLATED * ("_methods" in order) + TRANSLATED[:1] * ("_core" in order)
    assert (done.stderr, done.stdout.splitlines()) == ("", expected)


RING = """
import random, sys
import numpy as np
from baselines.native import _methods

gpu = np.arange(3000, dtype=np.int32)
words = np.array(random.Random(1).getstate()[1][:-1], dtype=np.uint32)
print("started", flush=True)
_methods.match_chunks(3000, gpu, np.roll(gpu, -1), np.ones(3000, np.int64), 8, True, words)
"""


@pytest.mark.slow
def test_ctrl_c_stops_native_work() -> None:
    """SIGINT during a long trial ends the process as KeyboardInterrupt, not at its end."""
    with subprocess.Popen(
        [sys.executable, "-c", RING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    assert process.returncode != 0


class _StopError(Exception):
    pass


def _stop(done: int, total: int) -> None:
    raise _StopError


RANK = np.arange(4, dtype=np.int32)
NEXT = np.roll(RANK, -1)
ONE = np.ones(4, dtype=np.int64)


def test_progress_may_stop_a_broadcast() -> None:
    """What the callback raises comes out, as it does of the core."""
    with pytest.raises(_StopError):
        _methods.broadcast(4, RANK, NEXT, ONE, 0 * ONE, 1, RANK, RANK[:0], 1, 1, _stop)


def test_progress_may_stop_trees() -> None:
    with pytest.raises(_StopError):
        _methods.grow(4, RANK, NEXT, ONE, 0 * RANK, RANK, 1, 1, True, _stop)


def test_progress_may_stop_a_trial() -> None:
    words = np.array(random.Random(1).getstate()[1][:-1], dtype=np.uint32)
    with pytest.raises(_StopError):
        _methods.match_chunks(4, RANK, NEXT, ONE, 1, True, words, _stop)
