"""Compare Blink and Blink+Switch with ForestColl, in theory.

``python -m benchmarks.baselines.bench_blink`` prints the allreduce of both on two MI250 boxes, with
the phases one after the other and overlapped (the loads of both added on every link), beside what
ForestColl measured, and the best that any trees of a root could do with overlapping (a linear
program); how near Blink's own packing comes to the best rate of a root, with how many trees, in
what time on one thread; allgathers on unwound switches. Every schedule is verified.
"""

from __future__ import annotations

import time
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from baselines.networks.unwinding import PATTERNS
from baselines.synthesizers.blink import blink, blink_switch
from baselines.synthesizers.unwound import generate as unwound
from benchmarks.machine import machine
from forestcoll import generate, load_topology, verify
from forestcoll.core.optimality import optimum
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import Allreduce, Forest
from lp.allreduce.single_root import overlapped_allreduce_gb_s

MEASURED = {"mi250:boxes=2": "+16 %", "mi250:boxes=2,gpus_per_box=8": "+36 %"}
"""ForestColl's allreduce over Blink+Switch's at 1 GB (ForestColl section 6.2.1)."""

SWITCHLESS = ("mi250:boxes=1", "hypercube:dimension=4", "torus:dims=4x4", "complete:nodes=8")
SWITCHED = ("dgx_a100:boxes=2", "mi250:boxes=2", "mi250:boxes=2,gpus_per_box=8", "paper_example")


def allreduces() -> Table:
    table = Table(title="Allreduce in theory: ForestColl and Blink+Switch, GB/s")
    for name in ("topology", "method", "removal", "packing"):
        table.add_column(name)
    for name in ("root's rate", "in turn", "ahead", "overlapped", "ahead", "measured"):
        table.add_column(name, justify="right")
    for spec, measured in MEASURED.items():
        topology = load_topology(spec)
        ours = generate(topology, collective="allreduce").schedule
        assert isinstance(ours, Allreduce)
        verify(ours)
        sequential, overlapped = 1 / ours.sequential_s_per_gb, ours.algbw_gb_s
        table.add_row(
            spec,
            "forestcoll",
            "",
            "",
            "",
            f"{float(sequential):.2f}",
            "",
            f"{float(overlapped):.2f}",
        )
        for removal in blink_switch.REMOVALS:
            logical = blink_switch.without_switches(topology, removal).topology
            most = overlapped_allreduce_gb_s(logical, 0, seconds=60)
            table.add_row(
                *("", "any trees", removal, "", "", "", "", f"{most:.2f}"),
                *(_ahead(float(overlapped), most), measured),
            )
            for packing in blink.PACKINGS:
                theirs = blink_switch.generate(
                    topology, "allreduce", removal=removal, packing=packing
                )
                assert isinstance(theirs, Allreduce)
                verify(theirs)
                alone, both = 1 / theirs.sequential_s_per_gb, theirs.algbw_gb_s
                table.add_row(
                    *("", "blink-switch", removal, packing),
                    f"{float(theirs.gather.algbw_gb_s):.2f}",
                    *(f"{float(alone):.2f}", _ahead(sequential, alone)),
                    *(f"{float(both):.2f}", _ahead(overlapped, both), measured),
                )
        table.add_section()
    return table


def _ahead(ours: Fraction | float, theirs: Fraction | float) -> str:
    return f"{round(float(100 * (ours / theirs - 1)), 1) + 0.0:+.1f} %"


def packings() -> Table:
    table = Table(title="Broadcast from the first GPU: the exact packing, and Blink's own")
    for name in ("topology", "packing", "epsilon"):
        table.add_column(name)
    for name in ("GB/s", "of the best", "trees", "seconds"):
        table.add_column(name, justify="right")
    for spec in SWITCHLESS:
        topology = load_topology(spec)
        best = blink.generate(topology).time_s_per_gb
        for packing, epsilon in (("edmonds", "1/20"), ("mwu", "1/20"), ("mwu", "1/100")):
            start = time.perf_counter()
            forest = blink.generate(topology, packing=packing, epsilon=epsilon)
            seconds = time.perf_counter() - start
            assert isinstance(forest, Forest)
            verify(forest)
            table.add_row(
                *(spec, packing, epsilon if packing == "mwu" else ""),
                *(f"{float(forest.algbw_gb_s):.2f}", f"{float(best / forest.time_s_per_gb):.3f}"),
                *(str(forest.num_batches), f"{seconds:.2f}"),
            )
    return table


def unwindings() -> Table:
    table = Table(title="Allgather on unwound switches, GB/s")
    for name in ("topology", "optimum", *PATTERNS):
        table.add_column(name, justify="left" if name == "topology" else "right")
    for spec in SWITCHED:
        topology = load_topology(spec)
        best = optimum(topology).algbw_gb_s
        cells = [spec, f"{float(best):.2f}"]
        for pattern in PATTERNS:
            try:
                forest = unwound(topology, pattern=pattern)
            except UnsupportedError:
                cells.append("unsupported")
                continue
            verify(forest)
            times = float(best / forest.algbw_gb_s)
            cells.append(f"{float(forest.algbw_gb_s):.2f} ({times:.2f} x worse)")
        table.add_row(*cells)
    return table


def main() -> None:
    console = Console(width=max(Console().width, 140))
    console.print(machine())
    for table in (allreduces(), packings(), unwindings()):
        console.print(table)


if __name__ == "__main__":
    main()
