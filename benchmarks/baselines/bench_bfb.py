"""Compare ForestColl with BFB on the same graphs: steps, both measures of time, message sizes.

An allgather of M bytes takes T_L + T_B, in the model of Zhao et al. (NSDI 2025): alpha for every
step (10 us), and the time of a GPU's links (100 Gb/s together). In synchronous steps both are
exact. Pipelined, all pipeline chunks of ForestColl's trees are in flight; large M come near that.
One table and one figure::

    python -m benchmarks.baselines.bench_bfb results/bfb

Every schedule is verified.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from baselines.direct_connect.bfb.bfb import generate as breadth_first
from experiments.figures.figure import Axis, Figure, Panel, Point, Series
from experiments.figures.matplotlib_renderer import save
from experiments.figures.styles import STYLES
from forestcoll import generate, load_topology, verify
from forestcoll.schedule import cost, synchronous

GRAPHS = (
    "generalized_kautz:degree=4,nodes=64", "line_graph:of=(modified_de_bruijn:degree=4,length=2)",
    "circulant:nodes=64,offsets=5+6", "torus:dims=8x8", "hypercube:dimension=6",
    "cartesian_power:of=(diamond),exponent=2", "random_regular:nodes=64,degree=4,seed=1",
    "distance_regular:graph=gq-3-3",
)  # fmt: skip
ALPHA_US = 10
BANDWIDTH_GB_S = 12.5
SIZES = tuple(2**power for power in range(10, 31, 2))
_STYLES = tuple(
    replace(STYLES[method], line=line, size=3.5)
    for method in ("bfb", "forestcoll")
    for line in ("-", ":")
)
"""Of the schedules in a graph's rows: synchronous steps solid, pipelined dotted."""


def rows_of(spec: str) -> list[dict[str, Any]]:
    """BFB, and ForestColl in steps and pipelined: T_L in steps, T_B times M / B."""
    topology = load_topology(spec)
    degree = max(topology.egress_gb_s)
    broadcast, forest = breadth_first(topology), generate(topology).forest
    verify(broadcast)
    verify(forest)
    diameter, depth = broadcast.num_steps, int(forest.tree_depths().max())
    found: list[tuple[str, int, Fraction]] = [
        ("BFB, synchronous steps", diameter, synchronous(broadcast).time_s_per_gb),
        ("BFB, pipelined", diameter, cost(broadcast).time_s_per_gb),
        ("ForestColl, synchronous steps", depth, synchronous(forest).time_s_per_gb),
        ("ForestColl, pipelined", depth, cost(forest).time_s_per_gb),
    ]
    return [
        {"graph": spec, "gpus": topology.num_compute, "schedule": name, "steps": steps}
        | {"bandwidth_runtime": float(time * degree)}
        | {f"us_{size}": round(time_us(steps, float(time * degree), size), 2) for size in SIZES}
        for name, steps, time in found
    ]


def time_us(steps: int, runtime: float, size: int) -> float:
    """T_L + T_B."""
    return steps * ALPHA_US + runtime * size / (BANDWIDTH_GB_S * 1e9) * 1e6


def drawn(rows: list[dict[str, Any]], file: Path) -> None:
    """A panel for each graph: how much longer than the bound, by the size of the data."""
    panels = []
    for graph in GRAPHS:
        mine = [row for row in rows if row["graph"] == graph]
        least = (mine[0]["steps"], (mine[0]["gpus"] - 1) / mine[0]["gpus"])
        series = tuple(
            Series(row["schedule"], style, tuple(_points(row, least)))
            for row, style in zip(mine, _STYLES, strict=True)
        )
        along = Axis("size of the data", "bytes", tuple(SIZES))
        up = Axis("time over the bound", ends=(0.95, 2.0))
        panels.append(Panel(graph, along, up, series))
    save(Figure(tuple(panels), columns=4, size=(1.7, 1.9)), file)


def _points(row: dict[str, Any], least: tuple[int, float]) -> Iterator[Point]:
    for size in SIZES:
        yield Point(size, float(row[f"us_{size}"]) / time_us(*least, size))


def main() -> None:
    """Write the table and the figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    rows = [row for spec in GRAPHS for row in rows_of(spec)]
    with (folder / "forestcoll-and-bfb.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    drawn(rows, folder / "forestcoll-and-bfb.png")
    for row in rows:
        print(*(row[key] for key in ("graph", "schedule", "steps", "bandwidth_runtime")))


if __name__ == "__main__":
    main()
