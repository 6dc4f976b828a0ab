"""Measure whole commands: CPU and wall-clock seconds, peak memory and the size of the file.

    python -m benchmarks.bench_commands --only A100 --against ../before --json commands.json

Each command runs in a process of its own, from the start of Python to the written file. With
--against it also runs by the code and interpreter of another checkout, in turn. The least times of
all rounds are shown: other processes make a run slower, never faster.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine, maximum_resident_mb

__all__ = ["ROWS", "Measured", "Row", "exponents", "least", "run", "table"]

_NOT_KEPT = "PYTHONDONTWRITEBYTECODE"


@dataclass(frozen=True, slots=True)
class Row:
    """A command, with "{file}" for the file that it writes, or that the row before it wrote.

    Rows of one series have growing sizes, for which the bench fits an exponent. Large rows are
    left out unless asked for.
    """

    name: str
    words: tuple[str, ...]
    series: str = ""
    size: int = 0
    large: bool = False


@dataclass(frozen=True, slots=True)
class Measured:
    """One run of a command: seconds, the peak of memory, and the file's size, in MB."""

    cpu_s: float
    wall_s: float
    peak_mb: float
    file_mb: float | None = None
    complaint: str = ""


def _generated(name: str, spec: str, gpus: int, *options: str, large: bool = False) -> Row:
    words = ("generate", spec, "-o", "{file}", *options)
    return Row(f"{name} {gpus}", words, name, gpus, large)


def _rows() -> Iterator[Row]:
    """Yield the rows; a file is verified by the row behind the one that writes it."""
    yield Row("help", ("--help",))
    yield Row("help of generate", ("generate", "--help"))
    yield Row("optimum of a ring of 4", ("optimum", "ring:nodes=4"))
    for gpus in (1024, 4096, 16384):
        yield _generated("A100 explicit", f"dgx_a100:boxes={gpus // 8}", gpus, large=gpus > 4096)
    for gpus in (1024, 4096, 16384, 65536, 131072):
        large = gpus > 16384
        spec = f"dgx_a100:boxes={gpus // 8}"
        yield _generated("A100 factored", spec, gpus, "--factored", large=large)
        verified = "A100 factored, file verified"
        yield Row(f"{verified} {gpus}", ("verify", "{file}"), verified, gpus, large)
    for gpus in (1024, 4096, 16384):
        spec = f"mi250:boxes={gpus // 16}"
        yield _generated("MI250 factored", spec, gpus, "--factored", large=gpus > 4096)
    for racks in (1, 2, 4, 8, 14):
        yield _generated("NVL72", f"gb200_nvl72:racks={racks}", 72 * racks, large=racks > 4)
    for gpus in (64, 128, 256, 512, 1024):
        words = ("--collective", "all-to-all")
        spec = f"dgx_h100:boxes={gpus // 8}"
        yield _generated("H100 all-to-all", spec, gpus, *words, large=gpus > 256)
    yield Row("expected, 2 boxes of A100", ("expected", "dgx_a100:boxes=2"))
    yield Row("expected, 2 boxes of H100", ("expected", "dgx_h100:boxes=2"))
    yield Row("expected, 2 boxes of MI250", ("expected", "mi250:boxes=2"))
    yield Row("expected, NVL72", ("expected", "gb200_nvl72"))
    yield Row("expected, 2 racks of NVL72", ("expected", "gb200_nvl72:racks=2"), large=True)


ROWS = tuple(_rows())
"""Names are unique; ``--only`` looks for its text in them."""


# --- measuring ---------------------------------------------------------------------------------


def run(words: Sequence[str], folder: Path | None = None, limit_s: float = 600) -> Measured:
    """Run a command to its end; with a folder, that of another checkout, by its interpreter."""
    python = str(folder / ".venv" / "bin" / "python") if folder else sys.executable
    # Python may keep what it compiles, as it does where nobody forbids it.
    around = {name: value for name, value in os.environ.items() if name != _NOT_KEPT}
    start = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [python, "-m", "forestcoll", *words],
            cwd=folder, env=around, stdout=subprocess.DEVNULL, stderr=errors,
        )  # fmt: skip
        timer = threading.Timer(limit_s, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)  # the usage of this process alone
        timer.cancel()
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
    complaint = (said or f"ended with {process.returncode}") if process.returncode else ""
    return Measured(_cpu(usage), wall, maximum_resident_mb(usage), None, complaint)


def _cpu(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


def measured(row: Row, file: Path, folder: Path | None, limit_s: float) -> Measured:
    """Run a row's command once, and weigh its file."""
    found = run([word.replace("{file}", str(file)) for word in row.words], folder, limit_s)
    size = file.stat().st_size / 1e6 if "-o" in row.words and file.exists() else None
    return Measured(found.cpu_s, found.wall_s, found.peak_mb, size, found.complaint)


def least(runs: Iterable[Measured]) -> Measured | None:
    """Return the least of each figure of the runs that ended well; None if none did."""
    good = [one for one in runs if not one.complaint]
    if not good:
        return None
    return Measured(
        min(one.cpu_s for one in good),
        min(one.wall_s for one in good),
        min(one.peak_mb for one in good),
        good[0].file_mb,
    )


Pair = tuple[Row, list[Measured], list[Measured]]
"""A row with its runs here, and those of another checkout."""


def pairs(rows: Iterable[Row], before: Path | None, rounds: int, limit_s: float) -> Iterator[Pair]:
    """Measure rows in turn with another checkout, if there is one."""
    with tempfile.TemporaryDirectory() as here, tempfile.TemporaryDirectory() as there:
        for row in rows:
            after_runs, before_runs = [], []
            for _ in range(rounds):
                if before is not None:
                    file = Path(there) / "schedule.npz"
                    before_runs.append(measured(row, file, before, limit_s))
                after_runs.append(measured(row, Path(here) / "schedule.npz", None, limit_s))
            yield row, after_runs, before_runs


# --- showing -----------------------------------------------------------------------------------


def exponents(found: Iterable[tuple[Row, Measured | None]]) -> dict[str, float]:
    """Fit log CPU seconds to log sizes, by least squares, for every series of three or more."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row, one in found:
        if row.series and one is not None:
            points.setdefault(row.series, []).append((math.log(row.size), math.log(one.cpu_s)))
    fitted = {name: tuple(zip(*its, strict=True)) for name, its in points.items() if len(its) > 2}
    return {name: statistics.linear_regression(*its).slope for name, its in fitted.items()}


def table(found: Iterable[Pair]) -> Table:
    """Show the least figures of each row, those of the other checkout first."""
    shown = Table(title="Whole commands: seconds, MB; the least of all rounds, before -> after")
    shown.add_column("row")
    for name in ("CPU s", "ratio", "wall s", "peak MB", "file MB"):
        shown.add_column(name, justify="right")
    shown.add_column("complaint")
    for row, after_runs, before_runs in found:
        before, after = least(before_runs), least(after_runs)
        ratio = f"{before.cpu_s / after.cpu_s:.2f} x" if before and after else ""
        complaint = next((one.complaint for one in after_runs if one.complaint), "")
        shown.add_row(
            *(row.name, _both(before, after, "cpu_s"), ratio, _both(before, after, "wall_s")),
            *(_both(before, after, "peak_mb"), _both(before, after, "file_mb"), complaint),
        )
    return shown


def _both(before: Measured | None, after: Measured | None, figure: str) -> str:
    values = [getattr(one, figure) for one in (before, after) if one is not None]
    return " -> ".join(f"{value:.3g}" for value in values if value is not None)


def as_document(found: Iterable[Pair]) -> list[dict[str, Any]]:
    """Return the least figures of all rows as plain data."""
    rows = []
    for row, after_runs, before_runs in found:
        figures = {"after": least(after_runs), "before": least(before_runs)}
        rows.append(
            {"name": row.name, "command": " ".join(row.words)}
            | {when: _fields(one) for when, one in figures.items()}
        )
    return rows


def _fields(one: Measured | None) -> dict[str, float | None] | None:
    if one is None:
        return None
    return {name: getattr(one, name) for name in ("cpu_s", "wall_s", "peak_mb", "file_mb")}


def main() -> None:
    """Measure the rows asked for, and print them."""
    given = _arguments()
    console = Console(width=max(Console().width, 150))
    console.print(machine(), highlight=False)
    rows = [row for row in ROWS if given.only in row.name and (given.large or not row.large)]
    before = given.against.resolve() if given.against else None  # commands run inside it
    found: list[Pair] = []
    for pair in pairs(rows, before, given.rounds, given.limit):
        found.append(pair)
        console.print(f"{pair[0].name}: {least(pair[1])}", highlight=False)
    console.print(table(found))
    fitted = {
        "after": exponents((row, least(its)) for row, its, _ in found),
        "before": exponents((row, least(its)) for row, _, its in found),
    }
    for when, its in fitted.items():
        for name, exponent in its.items():
            console.print(f"{name}, {when}: CPU seconds grow as N^{exponent:.2f}", highlight=False)
    if given.json:
        report = {"machine": machine(), "rows": as_document(found), "exponents": fitted}
        given.json.write_text(json.dumps(report, indent=1) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_commands", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    parser.add_argument("--large", action="store_true", help="the rows that take minutes, too")
    parser.add_argument("--rounds", type=int, default=3, help="of both checkouts in turn")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a command")
    parser.add_argument(
        "--against", type=Path, metavar="FOLDER", help="a checkout set up; its figures first"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
