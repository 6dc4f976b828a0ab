"""Measure the paper's own algorithms and the core, stage by stage, in one run.

``python -m benchmarks.bench_paper`` takes 16 and 32 GPUs of A100 and 32 and 64 of MI250; ``--full``
adds 64 and 128 GPUs of both. Both methods run here, in C++, on one thread; every forest is
verified. Figures are medians of five runs, of one run where a run takes over five seconds. The
paper's table 3 and the times of its public code are quoted from experiments/published/.
"""

from __future__ import annotations

import argparse
import statistics
import time

from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine
from experiments.published import generation_breakdowns
from forestcoll import Forest, generate, load_topology, verify

RUNS = 5
LONG_S = 5.0
DEFAULT = ["dgx_a100:boxes=2", "dgx_a100:boxes=4", "mi250:boxes=2", "mi250:boxes=4"]
FULL = ["dgx_a100:boxes=8", "dgx_a100:boxes=16", "mi250:boxes=8"]
GPUS_PER_BOX = {"dgx_a100": 8, "mi250": 16}

Seconds = dict[str, float]


def measure(spec: str, method: str) -> tuple[Seconds, Forest]:
    """Return the median seconds of each stage and of the whole, each run on a fresh topology."""
    runs: list[Seconds] = []
    while len(runs) < RUNS and not (runs and runs[0]["total"] > LONG_S):
        topology = load_topology(spec)
        start = time.perf_counter()
        made = generate(topology, method=method, threads=1, routed=True)
        forest = made.forest
        runs.append({**made.seconds, "total": time.perf_counter() - start})
    if not verify(forest).optimal:
        raise AssertionError(f"{spec}: {method} is not proved optimal")
    return {stage: statistics.median(run[stage] for run in runs) for stage in runs[0]}, forest


def by_stage(specs: list[str]) -> Table:
    table = Table(title="Seconds by stage: the paper's algorithms and the core, on one thread")
    stages = ("optimality", "tight sets", "switch removal", "tree packing", "routing", "total")
    for name in ("topology", "GPUs", "method", *stages, "trees", "depth"):
        table.add_column(name, justify="left" if name in ("topology", "method") else "right")
    for spec in specs:
        theirs, forest = measure(spec, "paper")
        ours, core = measure(spec, "forestcoll")
        for name, seconds, made in (("paper", theirs, forest), ("core", ours, core)):
            table.add_row(
                *(spec, str(made.topology.num_compute), name),
                *(f"{seconds[stage]:.4f}" if stage in seconds else "" for stage in stages),
                *(str(made.num_batches), str(made.tree_depths().max())),
            )
        ratios = (f"{theirs[s] / ours[s]:,.1f} x" if s in theirs else "" for s in stages)
        table.add_row("", "", "ratio", *ratios, end_section=True)
    return table


def published() -> Table:
    """Quote the published breakdowns, and measure the core at the same sizes."""
    table = Table(title="Published breakdowns, and the core at the same size here")
    for name in ("cluster", "GPUs", "implementation", "optimality", "switch removal"):
        table.add_column(name, justify="left" if name in ("cluster", "implementation") else "right")
    for name in ("tree packing", "total", "core here", "ratio"):
        table.add_column(name, justify="right")
    for row in generation_breakdowns():
        boxes = row.gpus // GPUS_PER_BOX[row.cluster]
        ours, _ = measure(f"{row.cluster}:boxes={boxes}", "forestcoll")
        table.add_row(
            *(row.cluster, str(row.gpus), row.implementation),
            *(f"{row.optimality_s:g}", f"{row.switch_removal_s:g}", f"{row.tree_packing_s:g}"),
            *(f"{row.total_s:g}", f"{ours['total']:.4f}", f"{row.total_s / ours['total']:,.0f} x"),
        )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the paper's algorithms beside the core.")
    parser.add_argument("--full", action="store_true", help="also 64 and 128 GPUs")
    specs = DEFAULT + (FULL if parser.parse_args().full else [])
    console = Console(width=max(Console().width, 140))
    console.print(machine())
    console.print(by_stage(sorted(specs, key=lambda spec: spec.partition(":")[0])))
    console.print(published())


if __name__ == "__main__":
    main()
