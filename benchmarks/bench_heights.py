"""Measure the throughput of depth-bounded trees: the fastest found at each depth, and a bound.

    python -m benchmarks.bench_heights --only MI250 --json rows.json

A row is a point of `rate_by_depth` of a cluster: a depth in hops from GPU to GPU, the algorithmic
bandwidth, its share of the optimum, and the share that no trees as low exceed. Seconds are of the
whole list, one run, on a topology object made anew. Every forest is verified after the measurement.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine, median_of
from forestcoll import latency, load_topology, rate_by_depth, verify
from forestcoll.generation import usable_cores
from forestcoll.schedule import Verdict

Fields = dict[str, Any]

SPECS = {
    "A100 16": "dgx_a100:boxes=2",
    "A100 128": "dgx_a100:boxes=16",
    "A100 1024": "dgx_a100:boxes=128",
    "H100 16": "dgx_h100:boxes=2",
    "H100 128": "dgx_h100:boxes=16",
    "MI250 32": "mi250:boxes=2",
    "MI250 64": "mi250:boxes=4",
    "MI250 256": "mi250:boxes=16",
    "torus 8x8": "torus:dims=8x8",
    "torus 32x32": "torus:dims=32x32",
    "torus 4x4x4": "torus:dims=4x4x4",
}


def measure(cluster: str) -> list[Fields]:
    """Measure all points of a cluster; verify their forests."""
    seconds, points = median_of(1, lambda: load_topology(SPECS[cluster]), rate_by_depth)
    fastest = points[-1].algbw_gb_s
    rows = []
    for point in points:
        verdict = verify(point.schedule)
        if latency(point.schedule, physical=False).depth != point.depth:
            raise AssertionError(f"{cluster}: the depth is not {point.depth}")
        assert isinstance(verdict, Verdict)
        assert point.at_most_gb_s is not None
        rows.append(
            {
                "cluster": cluster,
                "seconds": seconds,
                "depth": point.depth,
                "algbw_gb_s": float(point.algbw_gb_s),
                "of_optimum": float(point.algbw_gb_s / fastest),
                "at_most": float(point.at_most_gb_s / fastest),
                "proved": point.proved,
                "k": point.k,
                "trees": verdict.trees,
                "distinct_trees": verdict.batches,
            }
        )
    return rows


def table(rows: list[Fields]) -> Table:
    made = Table(title="What a depth costs: allgather; shares of the optimum")
    made.add_column("cluster", no_wrap=True)
    for name in ("depth", "algbw GB/s", "of optimum", "at most", "k", "distinct trees", "s"):
        made.add_column(name, justify="right")
    for before, row in zip([None, *rows], rows, strict=False):
        first = before is None or before["cluster"] != row["cluster"]
        made.add_row(
            *(row["cluster"] if first else "", str(row["depth"]), f"{row['algbw_gb_s']:.2f}"),
            *(f"{row['of_optimum']:.1%}", f"{row['at_most']:.1%}", str(row["k"])),
            *(str(row["distinct_trees"]), f"{row['seconds']:.1f}" if first else ""),
        )
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_heights", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="clusters whose name holds it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measurements there")
    given = parser.parse_args()
    console = Console(width=max(Console().width, 120))
    console.print(f"{machine()}; up to {usable_cores()} threads")
    rows = [row for cluster in SPECS if given.only in cluster for row in measure(cluster)]
    console.print(table(rows))
    if given.json:
        reported = {"machine": machine(), "threads": usable_cores(), "rows": rows}
        given.json.write_text(json.dumps(reported, indent=1) + "\n")


if __name__ == "__main__":
    main()
