"""Methods that misbehave, each in one way; experiments name them as ``zoo:name``."""

import ctypes
import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from baselines.registry import METHODS
from forestcoll.errors import TimeLimitError, UnsupportedError
from forestcoll.schedule import Forest
from forestcoll.topology import Topology, load_topology


def good(topology: Topology, note: str = "") -> Forest:
    return METHODS["ring"].generate(topology)


def refuses(topology: Topology) -> Forest:
    raise UnsupportedError(f"{topology.name} has too much charm")


def gives_up(topology: Topology) -> Forest:
    raise TimeLimitError("the solver's own limit was reached")


def sleeps(topology: Topology) -> Forest:
    time.sleep(60)
    return good(topology)


def sleeps_with_child(topology: Topology, note: str) -> Forest:
    """Leave the child's process id where the test finds it."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    Path(note).write_text(str(child.pid))
    return sleeps(topology)


def allocates(topology: Topology) -> Forest:
    hoard = [np.ones(5_000_000) for _ in range(50)]  # 40 MB each, 2 GB in all
    return good(topology, str(len(hoard)))


def asks_too_much(topology: Topology) -> Forest:
    raise MemoryError("Unable to allocate 1 EiB")


def aborts(topology: Topology) -> Forest:
    os.abort()


def raises(topology: Topology) -> Forest:
    raise KeyError("a bug")


def prints(topology: Topology) -> Forest:
    print('{"fields": {"status": "failed"}}\n' * 1000, flush=True)
    print("warning: nothing\n" * 1000, file=sys.stderr, flush=True)
    return good(topology)


def lies(topology: Topology) -> Forest:
    """Say that the first tree counts twice, which nobody has routed."""
    forest = good(topology)
    multiplicity = forest.multiplicity.copy()
    multiplicity[0] += 1
    return dataclasses.replace(forest, multiplicity=multiplicity)


def answers_for_another(topology: Topology) -> Forest:
    return good(load_topology("ring:nodes=3"))


def leaves_children(topology: Topology, note: str) -> Forest:
    """Answer soon, and leave a child in a session of its own, and its orphan, behind."""
    script = "import os, time; os.setsid(); os.fork(); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-S", "-c", script])
    Path(note).write_text(str(child.pid))
    time.sleep(0.5)
    return good(topology)


def escapes(topology: Topology, note: str) -> Forest:
    """Sleep for long, and so does an orphan in a session of its own, its environment empty."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        script = f"import os, time; open({note!r}, 'w').write(str(os.getpid())); time.sleep(60)"
        os.execve(sys.executable, [sys.executable, "-S", "-c", script], {})
    return sleeps(topology)


def forks_and_goes_on(topology: Topology) -> Forest:
    """Return twice: as itself, and as a fork that takes itself for the worker."""
    os.fork()
    return good(topology)


def shares(topology: Topology) -> Forest:
    """Hold 300 MB in common with two forks: three times as much only to the naive eye."""
    hoard = np.ones(37_500_000)
    for _ in range(2):
        if os.fork() == 0:
            time.sleep(60)
    time.sleep(1)
    return good(topology, str(len(hoard)))


def allocates_in_child(topology: Topology) -> Forest:
    script = "import time; hoard = bytearray(b'x') * 600_000_000; time.sleep(60)"
    subprocess.run([sys.executable, "-S", "-c", script], check=True, start_new_session=True)
    return good(topology)


def hangs(topology: Topology) -> Forest:
    """Sleep in C with the interpreter's lock held and SIGTERM blocked, as a stuck solver would."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    ctypes.PyDLL(None).sleep(60)
    return good(topology)


def computes(topology: Topology) -> Forest:
    """Spin in native code, the lock held: one call of many minutes."""
    (1 << 2**31) // (3 ** (2**29))
    return good(topology)


def floods(topology: Topology) -> Forest:
    """Complain without end."""
    while True:
        os.write(2, b"\xff\0garbage" * 5000)


def shuts_everything(topology: Topology) -> Forest:
    """Close all files that it did not open, as daemons do."""
    os.closerange(3, 100)
    return good(topology)


def leaves(topology: Topology) -> Forest:
    os._exit(0)


def segfaults(topology: Topology) -> Forest:
    ctypes.string_at(0)
    return good(topology)


def is_killed(topology: Topology) -> Forest:
    os.kill(os.getpid(), signal.SIGKILL)
    return good(topology)


def kills_its_watchdog(topology: Topology, note: str) -> Forest:
    child = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(60)"], start_new_session=True
    )
    Path(note).write_text(str(child.pid))
    os.kill(os.getppid(), signal.SIGKILL)
    return sleeps(topology)


def naps(topology: Topology, seconds: str = "0.3") -> Forest:
    """Sleep for a decimal, which experiments give as text."""
    time.sleep(float(seconds))
    return good(topology)


def naps_first(topology: Topology, note: str) -> Forest:
    """Sleep for long the first time, and leave a note; answer at once the second time."""
    if Path(note).exists():
        return good(topology)
    Path(note).write_text(str(os.getpid()))
    return sleeps(topology)


def meets(topology: Topology, folder: str, name: str) -> Forest:
    """Wait until a second process is here too."""
    (Path(folder) / name).touch()
    while len(list(Path(folder).iterdir())) < 2:
        time.sleep(0.02)
    return good(topology)
