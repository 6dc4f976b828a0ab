"""Times of schedules made for a size, over the least time that any schedule takes.

``python -m experiments.own.times_over_bound [NAME...]`` computes the rows of all networks and
collectives, or of those named, stores them in results/own-times-over-bound/times.csv, and draws the
figure.

The planned time is that of a forest over time by a plan of its rates. Simulated times have data
fluid, too (windows without limit), but share links by fairness or by the longest chain first; the
least over both and some numbers of pipeline chunks counts. Allreduces are compared with baselines
that take few latencies, or let switches reduce, and with an allgather of all inputs, which every
GPU then adds up.
"""

from __future__ import annotations

import csv
import io
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from fractions import Fraction
from pathlib import Path

from baselines import METHODS
from experiments.advice.tuning.recipe import recipes
from experiments.figures.matplotlib_renderer import save
from experiments.own.times_figure import TimeRow, times_figure
from forestcoll.atomic_write import write_text
from forestcoll.compilation import compile_program
from forestcoll.errors import UnsupportedError
from forestcoll.forest_over_time.timed_forests import TimedForests
from forestcoll.generation import generate
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.schedule import verify
from forestcoll.schedule.simulate import AlphaBeta, Priority, Simulator
from forestcoll.topology import Topology, load_topology

__all__ = [
    "BASELINES",
    "COLLECTIVES",
    "NETWORKS",
    "ROWS",
    "SIZES",
    "measured",
    "read_rows",
    "write_rows",
]

ROWS = Path(__file__).parents[2] / "results" / "own-times-over-bound" / "times.csv"

NETWORKS = (
    "dgx_a100:boxes=2", "dgx_a100:boxes=4", "dgx_a100:boxes=16",
    "dgx_h100:boxes=2", "dgx_h100:boxes=4", "dgx_h100:boxes=16",
    "mi250:boxes=1", "mi250:boxes=2", "nvl72", "torus:dims=8x8", "hypercube:dimension=6",
)  # fmt: skip

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast")

SIZES = tuple(2**10 * 4**power for power in range(11))
"""1 KB to 1 GB."""

ALPHA_US = Fraction(10)

BASELINES = {"allreduce": ("one-shot", "direct", "sum-exchange", "nccl-nvls", "nccl-nvls-tree")}
"""Baselines that are tried, by collective; those that a network does not suit are left out."""

_PAIRS = ("one-shot", "direct")
_MOST_DIRECT = 16  # GPUs of a network without switches, where pairs have many paths

_CHUNKS = (1, 4, 16, 64)
_MOST_EVENTS = 2**18
_MOST_INPUTS = 2**24  # bytes of all GPUs together: beyond, two phases take less time
_FEW_EVENTS = 2**12  # of a baseline: those that send to everyone share links by the thousands


def measured(
    networks: Iterable[str],
    collectives: Sequence[str] = COLLECTIVES,
    sizes: Sequence[int] = SIZES,
) -> Iterator[TimeRow]:
    """Yield a row for each network, collective and size."""
    for name in networks:
        topology = load_topology(name)
        for collective in collectives:
            yield from _of_collective(topology, collective, sizes)


def _of_collective(topology: Topology, collective: str, sizes: Sequence[int]) -> Iterator[TimeRow]:
    options = Options(collective=collective, root=0 if collective == "broadcast" else None)
    optimal = Simulator(compile_program(generate(topology, options).schedule))
    forests = TimedForests(Request.of(topology, options), ALPHA_US)
    others = dict(_others(topology, collective))
    inputs = TimedForests(Request.of(topology, Options()), ALPHA_US)
    for size in sizes:
        began = time.process_time()
        made = forests.at(size)
        spent = time.process_time() - began
        verify(made.schedule)
        times = {name: _simulated_us(other, size, _FEW_EVENTS) for name, other in others.items()}
        gathered = size * topology.num_compute
        if collective == "allreduce" and gathered <= _MOST_INPUTS:
            times["allgather of inputs"] = _gathered_us(inputs, gathered)
        baseline = min(times, key=lambda name: times[name], default="")
        yield TimeRow(
            topology=topology.name,
            collective=collective,
            size_bytes=size,
            bound_us=float(made.bound.time_us),
            planned_us=float(made.time_us),
            plan=made.plan,
            simulated_us=_simulated_us(Simulator(compile_program(made.schedule)), size),
            optimal_forest_us=_simulated_us(optimal, size),
            cpu_s=round(spent, 2),
            baseline_us=times.get(baseline),
            baseline=baseline,
        )


def _gathered_us(inputs: TimedForests, size: int) -> float:
    """Return the time of an allgather; afterwards every GPU can add up all inputs."""
    made = inputs.at(size)
    verify(made.schedule)
    simulator = Simulator(compile_program(made.schedule))
    return min(float(made.time_us), _simulated_us(simulator, size))


def _others(topology: Topology, collective: str) -> Iterator[tuple[str, Simulator]]:
    """Yield baselines, and trees over switches that multicast, ready to be simulated."""
    if collective == "broadcast" and any(node.multicast for node in topology.nodes):
        options = Options(collective=collective, root=0, multicast=True)
        copied = generate(topology, options).schedule
        verify(copied)
        yield "in-network multicast", Simulator(compile_program(copied))
    small = topology.switches or topology.num_compute <= _MOST_DIRECT
    tried = [name for name in BASELINES.get(collective, ()) if small or name not in _PAIRS]
    for recipe in recipes(topology, tried, collective) if tried else ():
        try:
            schedule = METHODS[recipe.method].run(
                topology, collective, parameters=dict(recipe.parameters)
            )
        except UnsupportedError:
            continue
        verify(schedule)
        yield recipe.name, Simulator(compile_program(schedule))


def _simulated_us(simulator: Simulator, size: int, most_events: int = _MOST_EVENTS) -> float:
    """Return the least simulated time with data fluid, over priorities and pipeline chunks."""
    found = [
        simulator.run(size, AlphaBeta(alpha_us=ALPHA_US, window="unlimited", priority=one), chunks)
        for one in Priority
        for chunks in _CHUNKS
        if chunks == 1 or simulator.streams * chunks <= most_events
    ]
    return min(one.time_s for one in found) * 1e6


def write_rows(rows: Iterable[TimeRow], path: Path = ROWS) -> None:
    """Write rows in the order of the networks, collectives and sizes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.DictWriter(text, [one.name for one in fields(TimeRow)], lineterminator="\n")
    writer.writeheader()
    for row in sorted(rows, key=_place):
        writer.writerow({**asdict(row), **_rounded(row)})
    write_text(path, text.getvalue())


def read_rows(path: Path = ROWS) -> list[TimeRow]:
    """Read stored rows; none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [_read(row) for row in csv.DictReader(file)]


def _read(row: dict[str, str]) -> TimeRow:
    return TimeRow(
        topology=row["topology"],
        collective=row["collective"],
        size_bytes=int(row["size_bytes"]),
        bound_us=float(row["bound_us"]),
        planned_us=float(row["planned_us"]),
        plan=row["plan"],
        simulated_us=float(row["simulated_us"]),
        optimal_forest_us=float(row["optimal_forest_us"]),
        cpu_s=float(row["cpu_s"]),
        baseline_us=float(row["baseline_us"]) if row["baseline_us"] else None,
        baseline=row["baseline"],
    )


def _rounded(row: TimeRow) -> dict[str, float]:
    names = ("bound_us", "planned_us", "simulated_us", "optimal_forest_us", "baseline_us")
    known = {name: getattr(row, name) for name in names}
    return {name: round(value, 3) for name, value in known.items() if value is not None}


def _place(row: TimeRow) -> tuple[int, int, int]:
    return NETWORKS.index(row.topology), COLLECTIVES.index(row.collective), row.size_bytes


def main(names: Sequence[str]) -> None:
    """Compute rows, merge them with the stored ones, and draw the figures."""
    rows: dict[tuple[int, int, int], TimeRow] = {}
    networks = [name for name in names if name not in COLLECTIVES]
    collectives = [name for name in names if name in COLLECTIVES]
    for row in measured(networks or NETWORKS, collectives or COLLECTIVES):
        print(
            f"{row.topology:24} {row.collective:15} {row.size_bytes:>11} "
            f"{row.best_us:12.2f} us {row.of_bound:6.3f} {row.method}",
            flush=True,
        )
        rows[_place(row)] = row
        # Another process may have stored rows of other networks meanwhile.
        write_rows(({_place(one): one for one in read_rows()} | rows).values())
    for pair in (COLLECTIVES[:2], COLLECTIVES[2:]):
        picture = ROWS.with_name(f"{'-and-'.join(pair)}.png")
        save(times_figure(read_rows(), pair), picture)


if __name__ == "__main__":
    main(sys.argv[1:])
