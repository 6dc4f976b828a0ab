"""Measure every collective and process groups at 128 and 1024 GPUs.

    python -m benchmarks.bench_collectives --only broadcast --runs 5

"Native" is from a new topology object to the factored forest: the checks and all stages except the
routing, which happens on first use; "with paths" adds it. Times are medians. Further columns are
the depth in GPU hops, its bound and the distinct trees. A group has 128 members: whole boxes, or
the same GPUs of every box. Every forest is verified once, after the measurement.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice

from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine, timings
from forestcoll import FactoredForest, Topology, group, load_topology, verify
from forestcoll.generation import Options, generate, usable_cores
from forestcoll.tree_latency import latency

BUDGET_S = 0.2
"""Native, at 1024 GPUs."""

BOXES = {"A100": ("dgx_a100", 8), "H100": ("dgx_h100", 8), "MI250": ("mi250", 16)}
"""Family and GPUs of a box."""

MEMBERS = 128


@dataclass(frozen=True, slots=True)
class Row:
    """A measured case: a collective on a network that is made anew for each run."""

    name: str
    gpus: int
    make: Callable[[], Topology]
    collective: str = "allgather"
    root: int | None = None
    weights: tuple[int, ...] | None = None


def cluster(kind: str, gpus: int) -> Topology:
    family, size = BOXES[kind]
    return load_topology(f"{family}:boxes={gpus // size}")


def group_of_boxes(kind: str, gpus: int) -> Topology:
    """The first boxes of a cluster take part, the other ones forward."""
    topology = cluster(kind, gpus)
    first = MEMBERS // BOXES[kind][1]
    return _group(topology, lambda box, _: box < first)


def group_across(kind: str, gpus: int) -> Topology:
    """The first GPUs of every box take part."""
    topology = cluster(kind, gpus)
    each = MEMBERS * BOXES[kind][1] // gpus
    return _group(topology, lambda _, index: index < each)


def _group(topology: Topology, takes_part: Callable[[int, int], bool]) -> Topology:
    nodes = (topology.nodes[v] for v in topology.compute)
    return group(topology, [n.name for n in nodes if takes_part(n.box or 0, n.index or 0)])


def rows() -> list[Row]:
    found = []
    for kind in BOXES:
        for gpus in (128, 1024):
            make = partial(cluster, kind, gpus)
            ramp = tuple(rank % 4 for rank in range(gpus))
            found += [
                Row(f"{kind} broadcast", gpus, make, "broadcast", root=0),
                Row(f"{kind} reduce", gpus, make, "reduce", root=0),
                Row(f"{kind} reduce-scatter", gpus, make, "reduce-scatter"),
                Row(f"{kind} allgather, weights 0 1 2 3", gpus, make, weights=ramp),
            ]
        found += [
            Row(f"{kind} group of whole boxes", 1024, partial(group_of_boxes, kind, 1024)),
            Row(f"{kind} group across all boxes", 1024, partial(group_across, kind, 1024)),
        ]
    return found


def work(row: Row, topology: Topology) -> tuple[FactoredForest, Mapping[str, float]]:
    asked = Options(
        collective=row.collective, root=row.root, weights=row.weights, factored=True, routed=True
    )
    made = generate(topology, asked)
    assert isinstance(made.schedule, FactoredForest)
    return made.schedule, made.seconds


def measured(row: Row, runs: int) -> tuple[str, ...]:
    """Return the cells of a row."""
    found = list(islice(timings(row.make, partial(work, row)), runs))
    native = [seconds - stages["routing"] for seconds, (_, stages) in found]
    whole = [seconds for seconds, _ in found]
    forest = found[-1][1][0]
    if not verify(forest).optimal:
        raise AssertionError(f"{row.name}: not proved optimal")
    seconds = statistics.median(native)
    tall = latency(forest, physical=False)
    over = "" if row.gpus < 1024 else f"{seconds / BUDGET_S:.2f} x budget"
    return (
        *(row.name, str(row.gpus), str(forest.k), f"{float(forest.algbw_gb_s):.1f}"),
        *(f"{seconds:.4f}", f"{statistics.median(whole):.4f}", over),
        *(str(tall.depth), str(tall.at_least.depth), str(tall.distinct_trees)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_collectives")
    parser.add_argument("--runs", type=int, default=5, help="of which the median is shown")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    given = parser.parse_args()
    console = Console(width=max(Console().width, 120))
    console.print(f"{machine()}; up to {usable_cores()} threads; budget {BUDGET_S} s at 1024 GPUs")
    table = Table(title="Seconds from the topology object to the factored forest, medians")
    names = ("row", "GPUs", "k", "algbw GB/s", "native", "with paths", "verdict")
    for name in (*names, "depth", "at least", "trees"):
        table.add_column(name, justify="left" if name in ("row", "verdict") else "right")
    for row in rows():
        if given.only in row.name:
            with console.status(f"{row.name} {row.gpus}"):
                table.add_row(*measured(row, given.runs))
    console.print(table)


if __name__ == "__main__":
    main()
