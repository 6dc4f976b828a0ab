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
from fractions import Fraction
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from baselines.direct_connect.bfb.bfb import generate as breadth_first
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


def rows_of(spec: str) -> list[dict[str, object]]:
    """BFB, and ForestColl in steps and pipelined: T_L in steps, T_B times M / B."""
    topology = load_topology(spec)
    degree = max(topology.egress_gb_s)
    broadcast, forest = breadth_first(topology), generate(topology).forest
    verify(broadcast)
    verify(forest)
    diameter, depth = broadcast.num_steps, int(forest.tree_depths().max())
    found: list[tuple[str, int, Fraction]] = [
        ("BFB, in steps", diameter, synchronous(broadcast).time_s_per_gb),
        ("BFB, pipelined", diameter, cost(broadcast).time_s_per_gb),
        ("ForestColl, in steps", depth, synchronous(forest).time_s_per_gb),
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


def drawn(rows: list[dict[str, object]], file: Path) -> None:
    """A panel for each graph: how much longer than the bound, by the size of the data."""
    mpl.rcParams["svg.hashsalt"] = "bfb"
    figure = Figure(figsize=(13, 6), layout="constrained")
    axes = figure.subplots(2, 4, sharex=True, sharey=True)
    styles = {"BFB, in steps": "C0-", "BFB, pipelined": "C0:"}
    styles |= {"ForestColl, in steps": "C1-", "ForestColl, pipelined": "C1:"}
    for axis, graph in zip(axes.flat, GRAPHS, strict=True):
        mine = [row for row in rows if row["graph"] == graph]
        least = (mine[0]["steps"], (mine[0]["gpus"] - 1) / mine[0]["gpus"])  # type: ignore[operator]
        for row in mine:
            shares = [float(row[f"us_{s}"]) / time_us(*least, s) for s in SIZES]  # type: ignore[arg-type]
            label = f"{row['schedule']}: {row['steps']} steps, T_B {row['bandwidth_runtime']:.3f}"
            axis.plot(SIZES, shares, styles[str(row["schedule"])], label=label)
        axis.set(xscale="log", ylim=(0.95, 2.2), title=graph.replace(":of=", "\nof="))
        axis.title.set_fontsize(8)
        axis.legend(fontsize=6, loc="upper left")
    for axis in axes[1]:
        axis.set_xlabel("M (bytes)")
    for axis in axes[:, 0]:
        axis.set_ylabel("time / (diameter alpha + (N-1)/N M/B)")
    figure.savefig(file, dpi=150, metadata={"Software": None})


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
