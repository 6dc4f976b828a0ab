"""A check that goes wrong on demand, to test the pool with; a module, so that workers find it."""

import ctypes
import os
import signal

from tests.fuzz.check import OnStage, Outcome


def hangs_or_dies(family: str, seed: int, on_stage: OnStage) -> Outcome:
    """Stand in for ``examine``: seed 1 never returns from native code, seed 2 kills its process."""
    on_stage("hanging", 5)
    if seed == 1:
        ctypes.PyDLL(None).sleep(60)  # holding the interpreter's lock
    if seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(family, seed, gpus=5)
