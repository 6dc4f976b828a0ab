"""Measure fixed numbers of trees per GPU: the search, the whole generation, the scan of k.

    python -m benchmarks.bench_fixed_k --runs 5 --only MI250 --json rows.json

A row is a cluster and a k; "search" is from the topology object to U*(k) with its cut and the
capacities, "native" to the forest, whose physical paths are found when they are asked for. Both are
medians, each run on a topology object made anew. Every forest is verified after the measurement.
Below the rows, the seconds of `best_k`, which searches and packs for each k up to the paper's 9.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine, median_of
from benchmarks.topologies import dead_nics, jittered_nics
from forestcoll import Forest, Topology, best_k, fixed_k, generate, load_topology, verify
from forestcoll.generation import usable_cores

Fields = dict[str, Any]

SPECS = {
    "A100 128": "dgx_a100:boxes=16",
    "H100 128": "dgx_h100:boxes=16",
    "MI250 128": "mi250:boxes=8",
    "A100 1024": "dgx_a100:boxes=128",
    "H100 1024": "dgx_h100:boxes=128",
    "MI250 1024": "mi250:boxes=64",
}
CLUSTERS = {name: partial(load_topology, spec) for name, spec in SPECS.items()} | {
    "dead NICs 1024 (40 of them)": partial(dead_nics, 128, 40, seed=0),
    "random link speeds 1024": partial(jittered_nics, 128, 20, 25, seed=0),
}
TREES = (1, 3, 9)
SCANNED = ("A100 128", "MI250 128", "MI250 1024")
MOST = 9


@dataclass(frozen=True, slots=True)
class Row:
    """A cluster by its name in CLUSTERS, and a number of trees per GPU."""

    cluster: str
    k: int

    def make(self) -> Topology:
        """Return the network, made anew."""
        return CLUSTERS[self.cluster]()


ROWS = tuple(Row(cluster, k) for cluster in CLUSTERS for k in TREES)


def measure(row: Row, runs: int) -> Fields:
    """Measure a row; verify its forest."""
    threads = usable_cores()
    search_s, found = median_of(runs, row.make, lambda made: fixed_k(made, row.k, threads=threads))
    native_s, forest = median_of(runs, row.make, lambda made: generate(made, k=row.k).forest)
    verdict = verify(forest)
    if verdict.congestion != found.congestion or verdict.optimal != found.optimal:
        raise AssertionError(f"{row}: the forest does not attain what was found")
    return {
        "cluster": row.cluster,
        "gpus": forest.topology.num_compute,
        "k": row.k,
        "optimal_k": found.optimum.k,
        "search_s": search_s,
        "native_s": native_s,
        "exact": found.exact,
        "algbw_gb_s": float(found.algbw_gb_s),
        "of_optimum": float(found.algbw_gb_s / found.optimum.algbw_gb_s),
        **shape(forest),
    }


def shape(forest: Forest) -> Fields:
    """Count the distinct trees and measure their tree_depths."""
    depth = forest.tree_depths()
    average = float(np.average(depth, weights=forest.multiplicity))
    return {"trees": len(depth), "depth": int(depth.max()), "average_depth": average}


def scan(cluster: str) -> Fields:
    """Measure the scan of k once."""
    seconds, tried = median_of(1, CLUSTERS[cluster], lambda made: best_k(made, MOST))
    return {
        "cluster": cluster,
        "scan_s": seconds,
        "fastest_k": tried.fastest.k,
        "pareto": [choice.k for choice in tried.pareto],
    }


def rows_table(measured: list[Fields]) -> Table:
    table = Table(title="Fixed k: milliseconds, medians; rate beside the optimum's")
    table.add_column("cluster", no_wrap=True)
    for name in ("GPUs", "k", "optimal k", "search", "native", "algbw GB/s", "of optimum"):
        table.add_column(name, justify="right")
    for name in ("exact", "trees", "depth", "(average)"):
        table.add_column(name, justify="right")
    for fields in measured:
        table.add_row(
            *(fields["cluster"], str(fields["gpus"]), str(fields["k"]), str(fields["optimal_k"])),
            *(f"{1000 * fields['search_s']:.1f}", f"{1000 * fields['native_s']:.1f}"),
            *(f"{fields['algbw_gb_s']:.3f}", f"{fields['of_optimum']:.2%}"),
            *("yes" if fields["exact"] else "no", str(fields["trees"]), str(fields["depth"])),
            f"{fields['average_depth']:.1f}",
        )
    return table


def scans_table(measured: list[Fields]) -> Table:
    table = Table(title=f"best_k up to {MOST}: seconds, one run")
    for name in ("cluster", "seconds", "fastest k", "not dominated"):
        table.add_column(name, justify="left" if name == "cluster" else "right")
    for fields in measured:
        kept = ", ".join(map(str, fields["pareto"]))
        table.add_row(fields["cluster"], f"{fields['scan_s']:.2f}", str(fields["fastest_k"]), kept)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bench_fixed_k", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--runs", type=int, default=5, help="of which the median is shown")
    parser.add_argument("--only", default="", metavar="TEXT", help="clusters whose name holds it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measurements there")
    given = parser.parse_args()
    console = Console(width=max(Console().width, 140))
    console.print(f"{machine()}; up to {usable_cores()} threads")
    rows = [measure(row, given.runs) for row in ROWS if given.only in row.cluster]
    scans = [scan(cluster) for cluster in SCANNED if given.only in cluster]
    console.print(rows_table(rows))
    console.print(scans_table(scans))
    if given.json:
        report = {"machine": machine(), "threads": usable_cores(), "rows": rows, "scans": scans}
        given.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
