"""Measure the generation of small clusters, compared with the public implementation.

Run with ``make bench``; `bench_generate` measures large ones. Every figure is the median of five
runs on all cores, each on a topology object made anew; the public implementation's figures are
quoted (see experiments/published/), its A100 boxes have even and odd NICs on two InfiniBand
switches.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine, median_of, shown
from forestcoll import generate, load_topology, verify

RUNS = 5

# spec, budget in seconds, public Python implementation: seconds, batches, depth
GENERATION = [
    ("dgx_a100:boxes=2,ib_switches=2", None, 3.1, 43, 11),
    ("dgx_a100:boxes=4,ib_switches=2", 0.1, 24.4, 32, 19),
    ("dgx_a100:boxes=8,ib_switches=2", None, 396.0, 64, 36),
    ("dgx_a100:boxes=16", 5.0, None, None, None),
    ("mi250:boxes=1", None, 0.42, 30, 14),
    ("mi250:boxes=2", 2.0, 19.6, 143, 20),
    ("torus:dims=8x8", None, None, None, None),
]


def generation() -> Table:
    table = Table(title="Generation: topology object in, forest out; the public code beside it")
    for name in ("topology", "GPUs", "k", "seconds", "budget", "public s", "ratio"):
        table.add_column(name, justify="left" if name == "topology" else "right")
    for name in ("batches", "public", "depth", "avg", "public"):
        table.add_column(name, justify="right")
    for spec, budget, public_seconds, public_batches, public_height in GENERATION:
        seconds, made = median_of(RUNS, partial(load_topology, spec), generate)
        forest = made.forest
        if not verify(forest).optimal:
            raise AssertionError(f"{spec}: not proved optimal")
        tree_depths = forest.tree_depths()
        ratio = f"{public_seconds / seconds:,.0f} x" if public_seconds else ""
        table.add_row(
            *(spec, str(forest.topology.num_compute), str(forest.k), f"{seconds:.4f}"),
            *(shown(budget), shown(public_seconds), ratio),
            *(str(forest.num_batches), shown(public_batches)),
            str(tree_depths.max()),
            f"{np.average(tree_depths, weights=forest.multiplicity):.1f}",
            shown(public_height),
        )
    return table


def main() -> None:
    console = Console(width=max(Console().width, 140))
    console.print(machine())
    console.print(generation())


if __name__ == "__main__":
    main()
