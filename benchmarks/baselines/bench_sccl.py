"""Measure SCCL's synthesis with CP-SAT, compared with SCCL's public code with z3.

    python -m benchmarks.baselines.bench_sccl --only DGX-1 --seconds 60

Instances are chunks:steps:rounds, each with the chunks of a root put in order (our default) and
without; then the Pareto enumeration on DGX-1. Every schedule is verified. z3: SCCL's public code on
a machine of 2 cores; or as published by TE-CCL (SIGCOMM 2024, Table 7: chunks and rounds; steps not
said) or BFB (NSDI 2025, Table 6: chunks, and the least steps; rounds not said, ours are the least
that the flow bound allows). They had other machines, so that only orders of magnitude compare.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rich.console import Console
from rich.table import Table

from baselines.synthesizers.sccl import generate, pareto
from benchmarks.machine import machine
from forestcoll import Topology, load_topology, verify
from forestcoll.errors import InfeasibleError, TimeLimitError
from forestcoll.problem.limits import Limits
from tests.baselines.dgx1 import dgx1

CUBE, CUBE_4, CUBE_5 = (partial(load_topology, f"hypercube:dimension={d}") for d in (3, 4, 5))
TORUS_3, TORUS_4, TORUS_5 = (partial(load_topology, f"torus:dims={n}x{n}") for n in (3, 4, 5))


@dataclass(frozen=True, slots=True)
class Row:
    """An instance."""

    name: str
    make: Callable[[], Topology]
    chunks: int
    steps: int
    rounds: int
    z3: str = ""

    @property
    def asked(self) -> str:
        """Chunks, steps and rounds."""
        return f"{self.chunks}:{self.steps}:{self.rounds}"


ROWS = (
    Row("DGX-1", dgx1, 1, 2, 2, z3="sat; TE-CCL 0.3 s"),
    Row("DGX-1", dgx1, 2, 2, 3, z3="sat; TE-CCL 0.7 s"),
    Row("DGX-1", dgx1, 2, 2, 2, z3="unsat"),
    Row("DGX-1", dgx1, 3, 2, 4, z3="unsat"),
    Row("DGX-1", dgx1, 3, 3, 4, z3="sat; TE-CCL 1.8 s"),
    Row("DGX-1", dgx1, 4, 3, 5, z3="TE-CCL 4.1 s"),
    Row("DGX-1", dgx1, 5, 3, 6, z3="TE-CCL 11.2 s"),
    Row("DGX-1", dgx1, 6, 3, 7, z3="sat, 5.9 s; TE-CCL 27.7 s"),
    Row("3-cube", CUBE, 1, 3, 3, z3="sat; BFB 0.86 s"),
    Row("3-cube", CUBE, 2, 3, 5, z3="sat; BFB 1.22 s"),
    Row("3-cube", CUBE, 3, 3, 7, z3="sat; BFB 1.86 s"),
    Row("3-cube", CUBE, 4, 3, 10, z3="BFB 2.48 s"),
    Row("4-cube", CUBE_4, 1, 4, 4, z3="sat, 46 s; BFB 21.4 s"),
    Row("4-cube", CUBE_4, 2, 4, 8, z3="BFB 48.4 s"),
    Row("4-cube", CUBE_4, 3, 4, 12, z3="none in 120 s; BFB 130 s"),
    Row("4-cube", CUBE_4, 4, 4, 15, z3="BFB 573 s"),
    Row("5-cube", CUBE_5, 1, 5, 7, z3="BFB none in 10000 s"),
    Row("torus 3x3", TORUS_3, 1, 2, 2, z3="sat; BFB 1.00 s"),
    Row("torus 3x3", TORUS_3, 2, 2, 4, z3="sat; BFB 1.51 s"),
    Row("torus 3x3", TORUS_3, 3, 2, 6, z3="sat; BFB 2.22 s"),
    Row("torus 3x3", TORUS_3, 4, 2, 8, z3="BFB 3.44 s"),
    Row("torus 4x4", TORUS_4, 1, 4, 4, z3="BFB 17.5 s"),
    Row("torus 4x4", TORUS_4, 2, 4, 8, z3="BFB 60 s"),
    Row("torus 4x4", TORUS_4, 3, 4, 12, z3="BFB 131 s"),
    Row("torus 4x4", TORUS_4, 4, 4, 15, z3="BFB 603 s"),
    Row("torus 5x5", TORUS_5, 1, 4, 6, z3="BFB 3286 s"),
    Row("torus 5x5", TORUS_5, 2, 4, 12, z3="BFB 5641 s"),
)


def decided(row: Row, *, symmetry: bool, limits: Limits) -> tuple[str, str]:
    """Return the outcome and the seconds, written down."""
    topology, start = row.make(), time.perf_counter()
    try:
        schedule = generate(
            topology,
            chunks=row.chunks,
            steps=row.steps,
            rounds=row.rounds,
            symmetry=symmetry,
            limits=limits,
        )
        outcome = f"sat, {schedule.num_steps} steps"
    except InfeasibleError:
        schedule, outcome = None, "unsat"
    except TimeLimitError as error:
        schedule, outcome = None, f"unknown at {error.bound}"
    seconds = time.perf_counter() - start
    if schedule is not None:
        verify(schedule)
    return outcome, f"{seconds:.2f}"


def instances(text: str, limits: Limits, console: Console) -> Table:
    """Measure the rows whose name holds the text."""
    table = Table(title="Seconds from the topology object to the schedule or proof")
    for name in ("topology", "C:S:R", "outcome", "ordered", "outcome", "not ordered", "z3"):
        table.add_column(name, justify="right" if name.endswith("ordered") else "left")
    for row in ROWS:
        if text in row.name:
            with console.status(f"{row.name} {row.asked}"):
                cells = [decided(row, symmetry=ordered, limits=limits) for ordered in (True, False)]
            table.add_row(row.name, row.asked, *cells[0], *cells[1], row.z3)
    return table


def frontier(extra_rounds: int, limits: Limits) -> Table:
    """List what Algorithm 1 tries on DGX-1."""
    table = Table(title=f"Algorithm 1 on DGX-1, R <= S + {extra_rounds}")
    for name in ("C:S:R", "R/C", "outcome", "seconds"):
        table.add_column(name, justify="left")
    for point in pareto(dgx1(), extra_rounds=extra_rounds, limits=limits):
        asked = f"{point.chunks}:{point.steps}:{point.rounds}"
        table.add_row(asked, str(point.rounds_per_chunk), point.outcome, f"{point.seconds:.2f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baselines.bench_sccl")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    parser.add_argument("--seconds", type=float, default=60, help="for each instance")
    parser.add_argument("--threads", type=int, default=1, help="they take turns")
    given = parser.parse_args()
    limits = Limits(given.seconds, given.threads)
    console = Console(width=max(Console().width, 120))
    console.print(f"{machine()}; {given.threads} threads; {given.seconds:g} s for each")
    console.print(instances(given.only, limits, console))
    if given.only in "DGX-1":
        console.print(frontier(4, limits))


if __name__ == "__main__":
    main()
