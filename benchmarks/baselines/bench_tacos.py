"""Compare our TACOS with the public code: times of its schedules, and synthesis times.

    python -m benchmarks.baselines.bench_tacos --seeds 5

Links of 50 GiB/s and 0.5 us, 1 GiB gathered, one chunk a GPU. The references are the best of five
runs of the public C++ code, which takes no seed, and for large meshes the seconds that one of its
runs takes, on a machine with 2 cores. Ours is the best of so many seeds from 0 on, and the median
of the seconds of one. The best schedule of every row is verified, after the measurement.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from rich.console import Console
from rich.table import Table

from baselines.synthesizers.tacos import tacos
from benchmarks.machine import machine, shown, timings
from forestcoll import Topology, load_topology, verify
from forestcoll.schedule import StepSchedule

SIZE_BYTES = 2**30
BANDWIDTH_GB_S = "53.6870912"
LATENCY_US = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Row:
    """A mesh or torus, and what the public code does on it; None where that is not known."""

    name: str
    dims: str
    reference_us: float | None = None
    reference_s: float | None = None


ROWS = (
    Row("mesh 3x3", "3x3,wrap=false", reference_us=11114),
    Row("mesh 4x4", "4x4,wrap=false", reference_us=10004),
    Row("mesh 5x5", "5x5,wrap=false", reference_us=9606),
    Row("torus 4x4", "4x4", reference_us=5002),
    Row("torus 8x8", "8x8", reference_us=5321),
    Row("mesh 3x3x3", "3x3x3,wrap=false", reference_us=6671),
    Row("mesh 16x16", "16x16,wrap=false", reference_s=4.1),
    Row("mesh 20x20", "20x20,wrap=false", reference_s=19.6),
)


def network(row: Row) -> Topology:
    net = load_topology(f"torus:bandwidth={BANDWIDTH_GB_S},dims={row.dims}")
    links = (replace(link, latency_us=LATENCY_US) for link in net.links)
    return Topology(row.name, net.nodes, tuple(links))


def finish_us(schedule: StepSchedule) -> float:
    assert schedule.clock is not None
    return float(schedule.clock.finish_us)


def measured(row: Row, matching: str, seeds: int) -> tuple[str, ...]:
    """Return the cells of a row."""
    found = []
    for seed in range(seeds):
        work = partial(
            tacos.generate, size_bytes=SIZE_BYTES, trials=1, seed=seed, matching=matching
        )
        found.append(next(timings(partial(network, row), work)))
    best = min((schedule for _, schedule in found), key=finish_us)
    verify(best)
    over = ""
    if row.reference_us is not None:
        over = f"{(finish_us(best) / row.reference_us - 1) * 100:+.2f} %"
    seconds = statistics.median(taken for taken, _ in found)
    return (
        *(row.name, matching, shown(row.reference_us), f"{finish_us(best):.0f}", over),
        *(shown(row.reference_s), f"{seconds:.3f}"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.baselines.bench_tacos")
    parser.add_argument("--seeds", type=int, default=5, help="from 0 on, of which the best counts")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    given = parser.parse_args()
    console = Console(width=max(Console().width, 120))
    console.print(f"{machine()}; seeds 0 to {given.seeds - 1}")
    table = Table(title="Allgather of 1 GiB: best finish, and median seconds to make a schedule")
    names = ("row", "matching", "reference us", "ours us", "over", "reference s", "ours s")
    for name in names:
        table.add_column(name, justify="left" if name in ("row", "matching") else "right")
    for row in ROWS:
        if given.only in row.name:
            for matching in tacos.MATCHINGS:
                with console.status(f"{row.name} {matching}"):
                    table.add_row(*measured(row, matching, given.seeds))
    console.print(table)


if __name__ == "__main__":
    main()
