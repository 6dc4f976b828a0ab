"""Measure writing and reading of schedule files, JSON and npz.

    python -m benchmarks.bench_files --runs 5 --only a100

What was read must equal what was written. A file is read as a new process would read it: nothing of
an earlier run is kept. Writing goes to the disk's cache, in a folder that is removed.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import cast

from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine, median_of
from forestcoll import FactoredForest, Topology, generate, load_topology
from forestcoll.schedule import read_schedule, write_schedule
from forestcoll.schedule.allreduce import AnySchedule

NETWORKS = (
    "dgx_a100:boxes=16", "dgx_a100:boxes=128", "dgx_h100:boxes=128", "mi250:boxes=64",
    "torus:dims=16x16",
)  # fmt: skip
FORMS = ("json", "npz", "factored npz")
READ_BUDGET_S = 1.0
"""For a JSON file of 25 MB."""


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description="Seconds to write and to read schedule files.")
    parser.add_argument("--runs", type=int, default=5, help="of which the median is shown")
    parser.add_argument("--only", default="", help="networks whose name holds this")
    args = parser.parse_args()
    table = Table("network", "file", "MB", "write s", "read s", title=machine())
    for name in NETWORKS:
        if args.only in name:
            for row in rows(load_topology(name), args.runs):
                table.add_row(*row)
    Console().print(table)


def rows(topology: Topology, runs: int) -> list[tuple[str, ...]]:
    """Return a row of the table for each form of file."""
    explicit = generate(topology).forest
    factored = cast("FactoredForest", generate(topology, factored=True).schedule)
    for forest in (explicit, factored):
        len(forest.routes.tail)  # found before the clock starts
    with tempfile.TemporaryDirectory() as folder:
        return [
            measured(
                topology.name,
                form,
                factored if form == "factored npz" else explicit,
                Path(folder) / f"schedule.{form.split()[-1]}",
                runs,
            )
            for form in FORMS
        ]


def measured(name: str, form: str, schedule: AnySchedule, path: Path, runs: int) -> tuple[str, ...]:
    """Write and read one file.

    Raises
    ------
    AssertionError
        If what was read is not what was written.
    """
    write_s, _ = median_of(runs, lambda: schedule, lambda made: write_schedule(made, path))
    read_s, again = median_of(runs, lambda: path, read_schedule)
    if again != schedule:
        raise AssertionError(f"{name}: {form} does not give back what was written")
    size_mb = path.stat().st_size / 1e6
    over = " (over budget)" if size_mb < 26 and read_s > READ_BUDGET_S else ""
    return name, form, f"{size_mb:.1f}", f"{write_s:.3f}", f"{read_s:.3f}{over}"


if __name__ == "__main__":
    main()
