"""Measure time and memory of MultiTree and TACOS by network size, with growth exponents.

    python -m benchmarks.baselines.bench_sizes tacos --family mi250 --most 2048

One default allgather each, on one thread, without checking it. Seconds are the processor's, so that
others at work count little, the least of the runs. "exponent" is that of the time between a row and
the one before. Memory is the peak of the process so far.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Mapping

from rich.console import Console
from rich.table import Table

from baselines.interface.method import Schedule
from baselines.synthesizers.multitree import multitree
from baselines.synthesizers.tacos import tacos
from benchmarks.machine import machine, peak_memory_mb
from forestcoll import Topology, load_topology

METHODS: Mapping[str, Callable[[Topology], Schedule]] = {
    "multitree": multitree.generate,
    "tacos": tacos.generate,
}

NETWORKS = {
    "dgx_a100": ("dgx_a100:boxes={}", (16, 32, 64, 128, 256, 512)),
    "dgx_h100": ("dgx_h100:boxes={}", (16, 32, 64, 128, 256, 512)),
    "mi250": ("mi250:boxes={}", (8, 16, 32, 64, 128, 256)),
    "fat_tree": ("fat_tree:leaves={},hosts=16,spines=16", (8, 16, 32, 64, 128, 256)),
    "torus": ("torus:dims={}x32", (4, 8, 16, 32, 64, 128)),
}
"""128 to 4096 GPUs of each."""

BUDGET_S = 5.0


def main() -> None:
    """Measure and print, family by family."""
    parser = argparse.ArgumentParser(description="The time of a method by size.")
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("--family", choices=NETWORKS, action="append", help="only this one")
    parser.add_argument("--most", type=int, default=2048, help="GPUs of the largest network")
    parser.add_argument("--runs", type=int, default=3, help="of which the fastest counts")
    args = parser.parse_args()
    table = Table(title=f"{args.method} on {machine()}; budget {BUDGET_S:.0f} s at 1024 GPUs")
    for name in ("network", "GPUs", "seconds", "exponent", "peak MB"):
        table.add_column(name, justify="left" if name == "network" else "right")
    for family in args.family or NETWORKS:
        for row in measured(args.method, family, args.most, args.runs):
            table.add_row(*row)
    Console().print(table)


def measured(method: str, family: str, most: int, runs: int) -> list[list[str]]:
    """Return the rows of a family."""
    spec, sizes = NETWORKS[family]
    rows: list[list[str]] = []
    last: tuple[int, float] | None = None
    for size in sizes:
        name = spec.format(size)
        gpus = load_topology(name).num_compute
        if gpus > most:
            break
        seconds = min(cpu_seconds(method, name) for _ in range(runs))
        exponent = math.log(seconds / last[1]) / math.log(gpus / last[0]) if last else None
        grows = "" if exponent is None else f"{exponent:.1f}"
        rows.append([name, f"{gpus}", f"{seconds:.3f}", grows, f"{peak_memory_mb():.0f}"])
        last = gpus, seconds
    return rows


def cpu_seconds(method: str, name: str) -> float:
    """Return what one takes on a network of which nothing is cached yet."""
    topology = load_topology(name)
    began = time.process_time()
    METHODS[method](topology)
    return time.process_time() - began


if __name__ == "__main__":
    main()
