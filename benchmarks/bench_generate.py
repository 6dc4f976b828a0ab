"""Measure generation at large sizes, compared with the budget, the prototype and the paper.

    python -m benchmarks.bench_generate --only torus --runs 5 --limit 120 --json rows.json

Budgets apply to "native": from the topology object to the forest, without its physical paths, which
are found on first use. "With paths" adds that stage. For rows without a forest, both are the time
of the named work. Every row runs in its own process, with a time limit and its own peak memory.
Every run uses a new topology object. The forest is verified once, after the measurement. A row that
does not end is a row too.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine, maximum_resident_mb, peak_memory_mb, shown, timings
from benchmarks.rows import ROWS, VERIFY_BUDGET_S, Row
from forestcoll import FactoredForest, Forest, Topology, generate, optimum, verify
from forestcoll.core.assembly import tree_depths
from forestcoll.generation import STAGES, Options, usable_cores

Fields = dict[str, Any]

MEDIANS = ("native_s", "with_paths_s", "cpu_s")
"""Wall-clock without and with the routing, and with it of all processors together."""

_NOT_KEPT = "PYTHONDONTWRITEBYTECODE"

FAR = 3
"""Times the budget that no row may take."""


# --- inside a row's process --------------------------------------------------------------------


def measure(row: Row, runs: int, limit_s: float) -> None:
    """Repeat the work while time allows; print a JSON object after each run."""
    print(json.dumps({"gpus": row.make().num_compute}), flush=True)
    began = time.perf_counter()
    for number, (seconds, fields) in enumerate(timings(row.make, lambda made: work(row, made))):
        forest = fields.pop("forest", None)
        native = seconds - fields.get("stages", {}).get("routing", 0)
        report = {"native_s": native, "with_paths_s": seconds, **fields}
        print(json.dumps(report), flush=True)
        if number == 0:  # the peak of one run, before anything else is held
            peak = {} if row.work == "command" else {"peak_mb": peak_memory_mb()}
            print(json.dumps(peak | (described(forest) if forest else {})), flush=True)
        if number + 1 == runs or time.perf_counter() - began > limit_s / 2:
            break
        forest = None  # or the next run would be made beside it
    if forest is not None:
        start = time.perf_counter()
        if not verify(forest).optimal:
            raise AssertionError("not proved optimal")
        print(json.dumps({"verify_s": time.perf_counter() - start}), flush=True)


def work(row: Row, topology: Topology) -> Fields:
    """Do the work of a row; return its details."""
    if row.work == "command":
        with tempfile.TemporaryDirectory() as folder:
            return command(topology.name, Path(folder) / "schedule.json")
    start = time.process_time()
    fields: Fields
    if row.work == "optimum":
        fields = {"k": optimum(topology).k}
    else:
        asked = Options(
            factored=row.work == "factored", sparse_exchange=row.work == "few links", routed=True
        )
        made = generate(topology, asked)
        forest = made.schedule
        assert isinstance(forest, Forest | FactoredForest)
        fields = {"k": forest.k, "stages": made.seconds, "forest": forest}
    return fields | {"cpu_s": time.process_time() - start}


def command(spec: str, path: Path) -> Fields:
    """Run the command line on a topology's specification."""
    words = ["generate", spec, "--output", str(path)]
    # Python may keep what it compiles, as it does where nobody forbids it.
    around = {name: value for name, value in os.environ.items() if name != _NOT_KEPT}
    asked = [sys.executable, "-m", "forestcoll", *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(asked, check=True, capture_output=True, env=around)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_mb": maximum_resident_mb(after),
        "file_mb": path.stat().st_size / 1e6,
    }


def described(forest: Forest | FactoredForest) -> Fields:
    """Count the distinct trees and measure their depths, without writing out any tree."""
    if isinstance(forest, Forest):
        multiplicity, depth = forest.multiplicity, forest.tree_depths()
    else:
        multiplicity, depth = tree_depths(forest)
    average = float(np.average(depth, weights=multiplicity))
    return {"trees": len(depth), "depth": int(depth.max()), "average_depth": average}


# --- around it ---------------------------------------------------------------------------------


def run(row: Row, runs: int, limit_s: float, folder: Path | None = None) -> Fields:
    """Measure a row in a process of its own; return its fields, ``status`` among them.

    With a folder, that of another checkout, by its own code and interpreter.
    """
    python = str(folder / ".venv" / "bin" / "python") if folder else sys.executable
    arguments = ["--row", row.name, "--runs", str(runs), "--limit", str(limit_s)]
    words = [python, "-m", "benchmarks.bench_generate", *arguments]
    status, complaint = "ok", ""
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=limit_s, check=False)
        printed = done.stdout
        if done.returncode:
            status, complaint = "failed", done.stderr.decode().strip().rpartition("\n")[2]
    except subprocess.TimeoutExpired as stopped:
        status, printed = "timeout", stopped.stdout or b""
    whole = printed[: printed.rfind(b"\n") + 1]
    return collected(row, [json.loads(line) for line in whole.splitlines()]) | {
        "status": status,
        "complaint": complaint,
    }


def collected(row: Row, report: list[Fields]) -> Fields:
    """Combine the reports of a row's process: medians, and the first run's details."""
    fields: Fields = {"name": row.name}
    for one in reversed(report):
        fields |= one
    runs = [one for one in report if "native_s" in one]
    stages = [one["stages"] for one in runs if "stages" in one]
    fields |= {"runs": len(runs), "native_s": None}
    if runs:
        fields |= {name: statistics.median(one[name] for one in runs) for name in MEDIANS}
        fields["least_s"] = min(one["native_s"] for one in runs)
    if stages:
        fields["stages"] = {
            name: statistics.median(one[name] for one in stages) for name in stages[0]
        }
    return fields


def with_before(row: Row, runs: int, limit_s: float, folder: Path | None, rounds: int) -> Fields:
    """Measure a row; if there is another checkout, both in turn, a few rounds.

    The least times of all rounds are compared: other processes make a run slower, never faster.
    """
    if folder is None:
        return run(row, runs, limit_s)
    pairs = [(run(row, runs, limit_s, folder), run(row, runs, limit_s)) for _ in range(rounds)]
    before, after = (
        min((one["least_s"] for one in each if "least_s" in one), default=None)
        for each in zip(*pairs, strict=True)
    )
    return pairs[-1][1] | {"before_s": before, "after_s": after}


def exponents(measured: list[tuple[Row, Fields]]) -> dict[str, float]:
    """Fit log seconds to log GPUs, by least squares, for every series of three sizes or more."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row, fields in measured:
        if row.series and fields["native_s"]:
            logs = math.log(fields["gpus"]), math.log(fields["native_s"])
            points.setdefault(row.series, []).append(logs)
    fitted = {name: tuple(zip(*its, strict=True)) for name, its in points.items() if len(its) > 2}
    return {name: statistics.linear_regression(*its).slope for name, its in fitted.items()}


def verify_budget(row: Row, fields: Fields) -> float | None:
    explicit = row.work == "explicit" and fields.get("gpus", math.inf) <= 1024
    return VERIFY_BUDGET_S if explicit else None


def multiples(row: Row, fields: Fields) -> dict[str, float]:
    """Divide each measurement by its budget, if it has one."""
    found_and_budget = {
        "time": (fields["native_s"], row.budget_s),
        "depth": (fields.get("depth"), row.budget_height),
        "memory": (fields.get("peak_mb"), row.budget_mb),
        "verify": (fields.get("verify_s"), verify_budget(row, fields)),
    }
    return {
        name: found / budget
        for name, (found, budget) in found_and_budget.items()
        if found is not None and budget is not None
    }


def verdict(row: Row, fields: Fields) -> str:
    """Describe a row's time as a multiple of its budget, and other exceeded budgets."""
    found = multiples(row, fields)
    words = []
    if "time" in found:
        words.append(f"{found.pop('time'):.2f} x {'target' if row.target else 'budget'}")
    words += [f"{name} {times:.2f} x" for name, times in found.items() if times > 1]
    if fields["status"] != "ok":
        words.append(fields["status"])
    return ", ".join(words)


def worst(row: Row, fields: Fields) -> float:
    return max(multiples(row, fields).values(), default=0)


def closing(measured: list[tuple[Row, Fields]]) -> str:
    """Name the rows over a budget, over three times one, and those that did not end."""

    def named(least: float) -> str:
        over = [row for row, fields in measured if worst(row, fields) > least]
        return "; ".join(row.name + " (target)" * row.target for row in over) or "none"

    ended = f"rows over budget: {named(1)}. Over three times: {named(FAR)}."
    not_ended = "; ".join(row.name for row, fields in measured if fields["status"] != "ok")
    return f"{ended} Not ended: {not_ended}." if not_ended else ended


def times_table(measured: list[tuple[Row, Fields]]) -> Table:
    table = Table(title="Seconds, medians; stages in milliseconds; CPU: of all threads, with paths")
    table.add_column("row", no_wrap=True)
    for name in ("GPUs", "k", "runs", "native", "with paths", "CPU", "budget", "prototype"):
        table.add_column(name, justify="right")
    for name in ("paper", "ratio", "before", "ratio"):
        table.add_column(name, justify="right")
    for name in STAGES:
        table.add_column(name, justify="right")
    table.add_column("verdict", no_wrap=True)
    for row, fields in measured:
        seconds, stages = fields["native_s"], fields.get("stages", {})
        ratio = f"{row.paper_s / seconds:,.0f} x" if row.paper_s and seconds else ""
        before, after = fields.get("before_s"), fields.get("after_s")
        gain = f"{before / after:.2f} x" if before and after else ""
        table.add_row(
            *(row.name, shown(fields.get("gpus")), shown(fields.get("k")), str(fields["runs"])),
            *(digits(fields[name]) if fields.get(name) else "" for name in MEDIANS),
            *(shown(row.budget_s), shown(row.prototype_s), shown(row.paper_s), ratio),
            *(digits(before) if before else "", gain),
            *(digits(1000 * stages[name]) if name in stages else "" for name in STAGES),
            verdict(row, fields),
        )
    return table


def forests_table(measured: list[tuple[Row, Fields]]) -> Table:
    table = Table(title="Forests, memory of the whole process, verification")
    table.add_column("row")
    for name in ("trees", "prototype", "depth", "(average)", "budget", "prototype"):
        table.add_column(name, justify="right")
    for name in ("peak MB", "budget", "verify s", "budget", "file MB"):
        table.add_column(name, justify="right")
    for row, fields in measured:
        average = fields.get("average_depth")
        table.add_row(
            *(row.name, shown(fields.get("trees")), shown(row.prototype_trees)),
            *(shown(fields.get("depth")), "" if average is None else f"{average:.1f}"),
            *(shown(row.budget_height), shown(row.prototype_height)),
            *(rounded(fields.get("peak_mb"), 0), shown(row.budget_mb)),
            *(rounded(fields.get("verify_s"), 3), shown(verify_budget(row, fields))),
            rounded(fields.get("file_mb"), 1),
        )
    return table


def held_against(row: Row) -> Fields:
    """Return the reference figures of a row, for the file."""
    return {
        field.name: getattr(row, field.name)
        for field in dataclasses.fields(row)
        if field.name.startswith(("budget", "prototype", "paper", "target"))
    }


def digits(value: float) -> str:
    """Write a time with three significant digits."""
    if value == 0:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def rounded(value: float | None, places: int) -> str:
    return "" if value is None else f"{value:.{places}f}"


def main() -> None:
    given = arguments()
    if given.row:
        measure(next(row for row in ROWS if row.name == given.row), given.runs, given.limit)
        return
    console = Console(width=max(Console().width, 232))
    console.print(f"{machine()}; up to {usable_cores()} threads, as `generate` takes by default")
    measured = []
    before = given.against.resolve() if given.against else None  # rows run inside it
    for row in itertools.filterfalse(lambda row: row.large and not given.large, ROWS):
        if given.only in row.name:
            with console.status(row.name):
                fields = with_before(row, given.runs, given.limit, before, given.rounds)
            measured.append((row, fields))
    console.print(times_table(measured))
    console.print(forests_table(measured))
    for row, fields in measured:
        if fields["complaint"]:
            console.print(f"{row.name}: {fields['complaint']}", markup=False)
    console.print(closing(measured), soft_wrap=True, highlight=False)
    for name, exponent in exponents(measured).items():
        console.print(f"{name}: seconds grow as N^{exponent:.2f}", highlight=False)
    if given.json:
        rows = [
            fields | held_against(row) | {"multiples": multiples(row, fields)}
            for row, fields in measured
        ]
        report = {"machine": machine(), "threads": usable_cores(), "rows": rows}
        report["exponents"] = exponents(measured)
        given.json.write_text(json.dumps(report, indent=1) + "\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_generate", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--runs", type=int, default=5, help="of which the median is shown")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    parser.add_argument("--large", action="store_true", help="forests of 8192 to 131072 GPUs too")
    parser.add_argument("--limit", type=float, default=240, help="seconds for all runs of a row")
    parser.add_argument(
        "--against", type=Path, metavar="FOLDER", help="a checkout set up; its least times beside"
    )
    parser.add_argument("--rounds", type=int, default=5, help="of both checkouts in turn")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measurements there")
    parser.add_argument("--row", help=argparse.SUPPRESS)  # a row's own process
    return parser.parse_args()


if __name__ == "__main__":
    main()
