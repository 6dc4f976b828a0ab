"""Time of all-to-alls over their optimum by skew, and matchings against time.

    python -m benchmarks.lp.bench_alltoall_skew results/all_to_all

Writes ``skew.csv`` with ``skew.png``, and ``matchings.csv`` with ``matchings.png``.

Skew is the exponent of Zipf's law: each GPU sends 64 MB, in an order of its own
(``zipf:exponent=...,size=64MB,seed=...``). Times are means over the seeds of time over the bound,
which our paths meet exactly. Pipelined, all chunks are in flight, and link loads alone count.
Synchronous, each step waits for its slowest link. No latencies count in ``skew.csv``; flows have no
steps. ``verify`` proves every schedule.

In ``matchings.csv`` the boxes of one demand exchange by matchings one after another, each with 10
us. It has all choices: some exact matchings with the largest bottleneck, then as few as cover the
rest.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from baselines import METHODS
from baselines.networks.box_nics import BoxNics
from benchmarks.machine import machine
from forestcoll.all_to_all.best_flow import AllToAllPlanner
from forestcoll.all_to_all.birkhoff import shortened, time_of
from forestcoll.problem.demand import Demand
from forestcoll.problem.named_demands import named_demand
from forestcoll.schedule import StepSchedule, cost, synchronous, verify
from forestcoll.topology import Topology, load_topology

BOXES = (2, 4, 8)
EXPONENTS = tuple(f"{number / 4:g}" for number in range(9))
SEEDS = range(5)
SIZE = "64MB"

VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "direct": ("direct", {}),
    "direct, in rotation": ("direct", {"order": "rotation"}),
    "hierarchical": ("hierarchical", {}),
    "FAST-like": ("fast-reading", {}),
}
"""Baselines with their parameters."""

OURS = "ours"

STYLES: Mapping[str, Mapping[str, Any]] = {
    "direct": {"color": "#8c2d04", "marker": "s", "linestyle": "--"},
    "direct, in rotation": {"color": "#e0a458", "marker": "D", "linestyle": ":"},
    "hierarchical": {"color": "#2b7bba", "marker": "^", "linestyle": "-."},
    "FAST-like": {
        "color": "#555555", "marker": "s", "linestyle": "-", "markersize": 7, "fillstyle": "none",
    },
    OURS: {"color": "#000000", "marker": "o", "linestyle": "-"},
}  # fmt: skip
"""Colours of different lightness, markers and dashes, so that grey prints distinguish them.

The hollow squares show around our marks where both are equal.
"""

MEASURES = {
    "pipelined_us": "pipelined time\n/ optimum",
    "synchronous_us": "time in synchronous\nsteps / optimum",
}

_TICKS = (1, 2, 5, 10, 20)

ALPHA_US = 10
MATCHED = ("1MB", "8MB", "64MB")
"""What each GPU sends in the second figure, on 8 boxes with exponent 1."""

Row = dict[str, Any]


def skew_rows() -> Iterator[Row]:
    """Measure every method on every demand."""
    for boxes in BOXES:
        topology = load_topology(f"dgx_h100:boxes={boxes}")
        planner = AllToAllPlanner(topology)
        list(compared(topology, planner, named_demand("zipf", topology)))  # imports, not timed
        for exponent in EXPONENTS:
            for seed in SEEDS:
                spec = f"zipf:exponent={exponent},size={SIZE},seed={seed}"
                demand = named_demand(spec, topology)
                for row in compared(topology, planner, demand):
                    assert row["method"] != OURS or row["pipelined_us"] == row["bound_us"]
                    yield {"boxes": boxes, "exponent": exponent, "seed": seed, **row}


def compared(topology: Topology, planner: AllToAllPlanner, demand: Demand) -> Iterator[Row]:
    """Plan a demand by every method, and verify all schedules."""
    began = time.perf_counter()
    best = planner.plan(demand)
    seconds = time.perf_counter() - began
    bound = planner.least_us(demand)
    verify(best)
    yield _row(OURS, bound, cost(best).time_s_per_gb * demand.bytes / 1000, None, None, seconds)
    for name, (method, parameters) in VARIANTS.items():
        began = time.perf_counter()
        made = METHODS[method].run(topology, None, {**parameters, "demand": demand})
        seconds = time.perf_counter() - began
        assert isinstance(made, StepSchedule)
        verify(made)
        pipelined = cost(made).time_s_per_gb * demand.bytes / 1000
        stepwise = synchronous(made)
        waited = stepwise.time_s_per_gb * demand.bytes / 1000
        yield _row(name, bound, pipelined, waited, stepwise.steps, seconds)


def _row(
    method: str,
    bound: Fraction,
    pipelined: Fraction,
    waited: Fraction | None,
    steps: int | None,
    seconds: float,
) -> Row:
    return {
        "method": method,
        "bound_us": f"{float(bound):.3f}",
        "pipelined_us": f"{float(pipelined):.3f}",
        "synchronous_us": "" if waited is None else f"{float(waited):.3f}",
        "steps": "" if steps is None else steps,
        "generation_ms": f"{seconds * 1000:.1f}",
    }


def matching_rows() -> Iterator[Row]:
    """All choices of how many matchings, by what each GPU sends."""
    topology = load_topology("dgx_h100:boxes=8")
    nics = BoxNics.of(topology)
    width = nics.bandwidth_gb_s * 1000  # bytes in a microsecond
    for size in MATCHED:
        demand = named_demand(f"zipf:exponent=1,size={size}", topology)
        between = demand.matrix.reshape(8, 8, 8, 8).sum(axis=(1, 3))
        for exact, found in enumerate(shortened(between)):
            yield {
                "size": size,
                "exact": exact,
                "matchings": len(found),
                "transfer_us": f"{float(time_of(found, 0) / width):.3f}",
                "time_us": f"{float(time_of(found, ALPHA_US * width) / width):.3f}",
            }


def draw_skew(rows: list[Row], file: Path) -> None:
    """Columns by boxes; pipelined above, in steps below."""
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    grid = figure.subplots(len(MEASURES), len(BOXES), sharex=True, sharey="row")
    for column, boxes in enumerate(BOXES):
        mine = [row for row in rows if int(row["boxes"]) == boxes]
        for axes, measure in zip(grid[:, column], MEASURES, strict=True):
            for method in STYLES:
                _curve(axes, [row for row in mine if row["method"] == method], method, measure)
        grid[0][column].set_title(f"{boxes} boxes, {8 * boxes} GPUs")
        grid[1][column].set_xlabel("exponent of Zipf's law")
    for axes, label in zip(grid[:, 0], MEASURES.values(), strict=True):
        axes.set_ylabel(label)
    grid[1][0].set_yscale("log")
    grid[1][0].set_yticks(_TICKS, [*map(str, _TICKS)], minor=False)
    grid[1][0].minorticks_off()
    lines = {label: line for axes in grid[:, 0] for line, label in _labelled(axes)}
    shown = [method for method in STYLES if method in lines]
    handles = [lines[method] for method in shown]
    figure.legend(handles, shown, loc="outside upper center", ncols=len(shown))
    _save(figure, file)


def _labelled(axes: Axes) -> Iterator[tuple[Any, str]]:
    return zip(*axes.get_legend_handles_labels(), strict=True)


def _curve(axes: Axes, rows: list[Row], method: str, measure: str) -> None:
    """Draw a method; a rotation is as fast as at once where all is pipelined."""
    if not any(row[measure] for row in rows) or (measure, method) == _SAME:
        return
    ratios = [
        fmean(float(row[measure]) / float(row["bound_us"]) for row in rows if row["exponent"] == x)
        for x in EXPONENTS
    ]
    axes.plot([*map(float, EXPONENTS)], ratios, label=method, **STYLES[method])


_SAME = ("pipelined_us", "direct, in rotation")


def draw_matchings(rows: list[Row], file: Path) -> None:
    """A panel for each size: time by number of matchings, and the best number."""
    figure = Figure(figsize=(7.2, 2.6), layout="constrained")
    grid = figure.subplots(1, len(MATCHED))
    for axes, size in zip(grid, MATCHED, strict=True):
        mine = [row for row in rows if row["size"] == size]
        count = [int(row["matchings"]) for row in mine]
        for measure, label, dashes, shade in (
            ("time_us", f"with {ALPHA_US} us each", "-", "#000000"),
            ("transfer_us", "transfers alone", "--", "#8c8c8c"),
        ):
            axes.plot(
                count, [float(row[measure]) for row in mine], dashes, color=shade, label=label
            )
        best = min(mine, key=lambda row: float(row["time_us"]))
        axes.plot(int(best["matchings"]), float(best["time_us"]), "ko", label="least time")
        axes.set(xlabel="matchings", title=f"{size[:-2]} MB a GPU", ylim=(0, None))
    grid[0].set_ylabel("time (us)")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    _save(figure, file)


def _save(figure: Figure, file: Path) -> None:
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e0e0e0")
        axes.set_axisbelow(True)
    figure.savefig(file, dpi=200, metadata={"Software": None})


def write(rows: Iterable[Row], file: Path) -> list[Row]:
    """Write a table, and return its rows."""
    made = list(rows)
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.DictWriter(stream, made[0], lineterminator="\n")
        table.writeheader()
        table.writerows(made)
    return made


def read(file: Path) -> list[Row]:
    """Read a table."""
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def main() -> None:
    """Measure, unless only the pictures are asked for, and draw."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lp.bench_alltoall_skew")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draw", action="store_true", help="draw from the tables that are there")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    skew, matchings = given.folder / "skew.csv", given.folder / "matchings.csv"
    if not given.draw:
        print(machine())
        write(skew_rows(), skew)
        write(matching_rows(), matchings)
    mpl.rcParams.update({"font.size": 8, "axes.titlesize": 8, "lines.markersize": 4})
    draw_skew(read(skew), skew.with_suffix(".png"))
    draw_matchings(read(matchings), matchings.with_suffix(".png"))


if __name__ == "__main__":
    main()
