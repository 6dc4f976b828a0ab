"""Solve the allreduce program on the ForestColl paper's networks, and compare with N x* / 2.

    python -m benchmarks.lp.bench_allreduce_lp --only h100

By cutting planes, with symmetries and, up to 64 GPUs, without; with --reference also the program as
the paper states it, on networks of up to 16 GPUs. The paper says (section 5.7) that on all networks
it evaluated reduce-scatter and allgather are an optimal allreduce, so the sum of the parts x_v must
be N x* / 2; the benchmark fails if it is not to 1e-7. --csv FILE writes the table too, each row
with the LP method, machine, commit and time it was measured with.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine
from experiments.run.provenance import commit
from forestcoll import Topology, load_topology, optimum
from forestcoll.allreduce.cutting_planes import allreduce_optimum
from forestcoll.allreduce.result import AGREEMENT, AllreduceOptimum
from forestcoll.solver.linear_program import Settings
from forestcoll.topology.symmetry.automorphism import no_symmetry
from lp.allreduce.reference import allreduce_reference

BUDGET_S = 60.0
"""For 16 DGX H100 by cutting planes."""

SPECS = (
    *(f"dgx_a100:boxes={boxes}" for boxes in (1, 2, 4, 8, 16)),
    *(f"dgx_h100:boxes={boxes}" for boxes in (1, 2, 4, 8, 16)),
    *(f"mi250:boxes={boxes}" for boxes in (1, 2, 4)),
)

NAMES = ("network", "GPUs", "way")

NUMBERS = (
    *("sum x_v", "N x* / 2", "off by", "node orbits", "link orbits"),
    *("cuts", "rounds", "binding", "seconds"),
)

Solve = Callable[[Topology, Settings], AllreduceOptimum]


def whole(topology: Topology, settings: Settings) -> AllreduceOptimum:
    return allreduce_optimum(topology, settings, orbits=no_symmetry(topology))


def ways(topology: Topology, reference: bool, largest: int) -> Iterator[tuple[str, Solve]]:
    yield "cuts, orbits", allreduce_optimum
    if topology.num_compute <= largest:
        yield "cuts", whole
    if reference and topology.num_compute <= 16:
        yield "reference", allreduce_reference


def measured(topology: Topology, solve: Solve, settings: Settings) -> tuple[str, ...]:
    """Return the cells of a row after those that name it; fail unless it is N x* / 2."""
    start = time.perf_counter()
    found = solve(topology, settings)
    seconds = time.perf_counter() - start
    half = optimum(topology).algbw_gb_s / 2
    off = abs(found.algbw_gb_s / float(half) - 1)
    if off > AGREEMENT or not found.is_attained_by(half):
        raise AssertionError(f"{topology.name}: {found.algbw_gb_s} GB/s, not {half}")
    counted = found.link_orbits > 0
    return (
        *(f"{found.algbw_gb_s:.6f}", str(half), f"{off:.0e}"),
        *(str(found.node_orbits), str(found.link_orbits)) * counted,
        *("", "") * (not counted),
        *(str(found.cuts), str(found.rounds), str(len(found.binding)), f"{seconds:.2f}"),
    )


def write(path: Path, rows: list[tuple[str, ...]], method: str) -> None:
    """Write the table with what it was measured with."""
    measured_with = (method, machine(), commit() or "", datetime.now(UTC).isoformat("T", "seconds"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*NAMES, *NUMBERS, "LP method", "machine", "commit", "time"])
        writer.writerows([*row, *measured_with] for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lp.bench_allreduce_lp")
    parser.add_argument("--only", default="", metavar="TEXT", help="networks whose name holds it")
    parser.add_argument("--reference", action="store_true", help="solve the paper's program too")
    parser.add_argument("--largest", type=int, default=64, help="GPUs to do without symmetries")
    parser.add_argument("--method", default="highs", help="LP method")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table here as well")
    given = parser.parse_args()
    settings = Settings(seconds=BUDGET_S, method=given.method)
    console = Console(width=max(Console().width, 150))
    console.print(f"{machine()}; {given.method}, one thread; limit {BUDGET_S:g} s a row")
    table = Table(title="The allreduce program: sum of x_v against N x* / 2, in GB/s")
    for name in NAMES:
        table.add_column(name, no_wrap=True)
    for name in NUMBERS:
        table.add_column(name, justify="right")
    rows: list[tuple[str, ...]] = []
    for spec in SPECS:
        if given.only not in spec:
            continue
        topology = load_topology(spec)
        for way, solve in ways(topology, given.reference, given.largest):
            with console.status(f"{spec} {way}"):
                cells = measured(load_topology(spec), partial(solve), settings)
                rows.append((spec, str(topology.num_compute), way, *cells))
                table.add_row(*rows[-1])
    console.print(table)
    if given.csv is not None:
        write(given.csv, rows, given.method)


if __name__ == "__main__":
    main()
