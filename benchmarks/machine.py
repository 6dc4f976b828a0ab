"""Measurement helpers: name of the machine, median times, peak memory.

Shared by the benchmarks.
"""

from __future__ import annotations

import itertools
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

__all__ = ["machine", "maximum_resident_mb", "median_of", "peak_memory_mb", "shown", "timings"]

T = TypeVar("T")
RunResult = TypeVar("RunResult")


def machine() -> str:
    """Name the processor, the system and Python."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = f"{len(models)} x {models[0].partition(': ')[2]}" if models else cpu
    return f"{cpu}, {platform.system()}, Python {platform.python_version()}"


def timings(
    make: Callable[[], RunResult], work: Callable[[RunResult], T]
) -> Iterator[tuple[float, T]]:
    """Do the work on what is made anew each time (nothing is cached in it yet); yield seconds."""
    while True:
        yield _timed(make(), work)


def _timed(made: RunResult, work: Callable[[RunResult], T]) -> tuple[float, T]:
    """Work once; were this in the loop, it would hold a result while it makes the next."""
    start = time.perf_counter()
    result = work(made)
    return time.perf_counter() - start, result


def median_of(
    runs: int, make: Callable[[], RunResult], work: Callable[[RunResult], T]
) -> tuple[float, T]:
    """Return the median seconds of a number of runs, and the last result."""
    measured = list(itertools.islice(timings(make, work), runs))
    return statistics.median(seconds for seconds, _ in measured), measured[-1][1]


def peak_memory_mb() -> float:
    """Return the most memory this process has held, in MB (1e6 bytes).

    Linux keeps a peak for the program that runs now; the portable one includes the program that
    started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024 / 1e6
    return maximum_resident_mb(resource.getrusage(resource.RUSAGE_SELF))


def maximum_resident_mb(usage: resource.struct_rusage) -> float:
    """Return the peak of memory that getrusage reports, in MB."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def shown(value: float | None) -> str:
    """Write a number, or nothing where there is none."""
    return "" if value is None else f"{value:g}"
