"""Measure the core: generation of small clusters, and the optimum alone of 1024 GPUs.

Run with ``make bench``. Every figure is the median of five runs, each on a topology object made
anew; the public implementation's figures are quoted (see experiments/published/), its A100 boxes
have even and odd NICs on two InfiniBand switches.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.table import Table

from forestcoll import Topology, generate, load_topology, optimum, verify

RUNS = 5
T = TypeVar("T")

# spec, budget in seconds, public Python implementation: seconds, batches, height
GENERATION = [
    ("dgx_a100:boxes=2,ib_switches=2", None, 3.1, 43, 11),
    ("dgx_a100:boxes=4,ib_switches=2", 0.1, 24.4, 32, 19),
    ("dgx_a100:boxes=8,ib_switches=2", None, 396.0, 64, 36),
    ("dgx_a100:boxes=16", 5.0, None, None, None),
    ("mi250:boxes=1", None, 0.42, 30, 14),
    ("mi250:boxes=2", 2.0, 19.6, 143, 20),
    ("torus:dims=8x8", None, None, None, None),
    ("dgx_a100:boxes=128", None, None, None, None),
    ("dgx_h100:boxes=128", None, None, None, None),
    ("mi250:boxes=64", None, None, None, None),
    ("torus:dims=32x32", None, None, None, None),
    ("hypercube:dimension=10", None, None, None, None),
]
OPTIMALITY = [("dgx_a100:boxes=128", 0.05), ("dgx_h100:boxes=128", 0.05), ("mi250:boxes=64", 0.05)]


def median_of(spec: str, work: Callable[[Topology], T]) -> tuple[float, T]:
    """Time the work on a fresh topology each time: nothing is cached in it yet."""
    seconds = []
    for _ in range(RUNS):
        topology = load_topology(spec)
        start = time.perf_counter()
        result = work(topology)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), result


def generation() -> Table:
    table = Table(title="Generation: topology object in, forest out; the public code beside it")
    for name in ("topology", "GPUs", "k", "seconds", "budget", "public s", "ratio"):
        table.add_column(name, justify="left" if name == "topology" else "right")
    for name in ("batches", "public", "height", "avg", "public"):
        table.add_column(name, justify="right")
    for spec, budget, public_seconds, public_batches, public_height in GENERATION:
        seconds, forest = median_of(spec, generate)
        if not verify(forest).optimal:
            raise AssertionError(f"{spec}: not proved optimal")
        heights = forest.heights()
        ratio = f"{public_seconds / seconds:,.0f} x" if public_seconds else ""
        table.add_row(
            *(spec, str(forest.topology.num_compute), str(forest.k), f"{seconds:.4f}"),
            *(shown(budget), shown(public_seconds), ratio),
            *(str(forest.num_batches), shown(public_batches)),
            str(heights.max()),
            f"{np.average(heights, weights=forest.multiplicity):.1f}",
            shown(public_height),
        )
    return table


def optimality() -> Table:
    table = Table(title="The optimum and its bottleneck cut alone")
    for name in ("topology", "GPUs", "1/x*", "seconds", "budget"):
        table.add_column(name, justify="left" if name == "topology" else "right")
    for spec, budget in OPTIMALITY:
        seconds, best = median_of(spec, optimum)
        table.add_row(
            *(spec, str(best.topology.num_compute), str(best.inverse_rate)),
            *(f"{seconds:.4f}", shown(budget)),
        )
    return table


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def machine() -> str:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        cpu = f"{len(models)} x {models[0].partition(': ')[2]}" if models else cpu
    return f"{cpu}, {platform.system()}, Python {platform.python_version()}; one thread"


def main() -> None:
    console = Console(width=max(Console().width, 140))
    console.print(machine())
    console.print(generation())
    console.print(optimality())


if __name__ == "__main__":
    main()
