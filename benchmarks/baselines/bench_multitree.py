"""Compare MultiTree with the optimum, from one box to 1024 GPUs, by unit bandwidth.

    python -m benchmarks.baselines.bench_multitree --family mi250 --units slowest,2,8

Every forest is verified. "GB/s" is what the default reading of the paper attains, "least" and
"most" the range over all of them (see its module), up to ``--readings`` GPUs; "ahead"
is by how much the optimum exceeds the default. ForestColl (section 6.5, figure 14) says of its
curves that MultiTree nears the optimum on A100 as the network grows, and that ForestColl stays
ahead by more than 50 % on MI250.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from itertools import product

from rich.console import Console
from rich.table import Table

from baselines import METHODS
from baselines.synthesizers.multitree.multitree import generate
from baselines.synthesizers.multitree.tree_growth import CHILDREN, PORTS
from benchmarks.machine import machine
from forestcoll import load_topology, optimum, verify
from forestcoll.schedule import Verdict, cost
from forestcoll.topology import Topology

SIZES = {
    "dgx_a100": (1, 2, 3, 4, 8, 11, 16, 32, 64, 128),
    "dgx_h100": (1, 2, 3, 4, 8, 11, 16, 32, 64, 128),
    "mi250": (1, 2, 3, 4, 8, 11, 16, 32, 64),
}
"""Boxes of each family, up to 1024 GPUs."""

BUDGET_S = 5.0
"""For a schedule of 1024 GPUs."""


def main() -> None:
    """Measure and print, row by row."""
    parser = argparse.ArgumentParser(description="MultiTree beside the optimum.")
    parser.add_argument("--family", choices=SIZES, action="append", help="only this one")
    parser.add_argument("--units", default="slowest", help="unit bandwidths in GB/s, by commas")
    parser.add_argument("--most", type=int, default=1024, help="GPUs of the largest network")
    parser.add_argument("--readings", type=int, default=256, help="GPUs up to which to try all")
    args = parser.parse_args()

    console = Console()
    table = Table(title=f"MultiTree on {machine()}; budget {BUDGET_S:.0f} s")
    names = (
        "network",
        "GPUs",
        "unit",
        "seconds",
        "depth",
        "GB/s",
        "least",
        "most",
        "optimum",
        "ahead",
    )
    for name in names:
        table.add_column(name, justify="left" if name == "network" else "right")
    for family in args.family or SIZES:
        for boxes in SIZES[family]:
            topology = load_topology(f"{family}:boxes={boxes}")
            if topology.num_compute > args.most:
                continue
            for unit in args.units.split(","):
                table.add_row(*measured(f"{family}:boxes={boxes}", unit, args.readings))
    console.print(table)


def measured(spec: str, unit: str, most: int) -> list[str]:
    """Generate, verify and compare with the optimum, and up to some size with other readings."""
    topology = load_topology(spec)
    began = time.perf_counter()
    size = None if unit == "slowest" else Fraction(unit)
    forest = METHODS["multitree"].run(topology, parameters={"unit": size})
    seconds = time.perf_counter() - began
    verdict = verify(forest)
    assert isinstance(verdict, Verdict)
    reached, best = cost(forest).algbw_gb_s, optimum(topology).algbw_gb_s
    return [
        spec,
        str(topology.num_compute),
        unit,
        f"{seconds:.2f}",
        str(verdict.depth),
        f"{float(reached):.2f}",
        *(range_of_readings(topology, size) if topology.num_compute <= most else "--"),
        f"{float(best):.2f}",
        f"{float(best / reached - 1):.0%}",
    ]


def range_of_readings(topology: Topology, unit: Fraction | None) -> tuple[str, str]:
    """Return the least and the greatest rate over the readings, each verified."""
    rates = []
    for child, ports in product(CHILDREN, PORTS):
        forest = generate(topology, unit=unit, child=child, ports=ports)
        verify(forest)
        rates.append(cost(forest).algbw_gb_s)
    return f"{float(min(rates)):.2f}", f"{float(max(rates)):.2f}"


if __name__ == "__main__":
    main()
