"""Whether a process of a test has ended."""

import psutil

from experiments.run.processes import runs


def ended(process: int) -> bool:
    """Return whether no such process runs; the number is not used again so soon."""
    try:
        return not runs(psutil.Process(process))
    except psutil.NoSuchProcess:
        return True
