"""MultiTree beside the optimum, from one box to 1024 GPUs, with different unit bandwidths.

    python -m benchmarks.bench_multitree --family mi250 --units slowest,2,8

Every forest is verified. "ahead" is by how much the optimum exceeds what MultiTree attains.
ForestColl (section 6.5, figure 14) says of its curves that MultiTree nears the optimum on A100 as
the network grows, and that ForestColl stays ahead by more than 50 % on MI250.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from baselines import METHODS
from benchmarks.machine import machine
from forestcoll import load_topology, optimum, verify
from forestcoll.schedule import Verdict, cost

SIZES = {"dgx_a100": (1, 2, 4, 8, 16, 32, 64, 128), "mi250": (1, 2, 4, 8, 16, 32, 64)}
"""Boxes of each family, up to 1024 GPUs."""

BUDGET_S = 60.0
"""For a schedule of 1024 GPUs."""


def main() -> None:
    """Measure and print, row by row."""
    parser = argparse.ArgumentParser(description="MultiTree beside the optimum.")
    parser.add_argument("--family", choices=SIZES, action="append", help="only this one")
    parser.add_argument("--units", default="slowest", help="unit bandwidths in GB/s, by commas")
    parser.add_argument("--most", type=int, default=1024, help="GPUs of the largest network")
    args = parser.parse_args()

    console = Console()
    table = Table(title=f"MultiTree on {machine()}; budget {BUDGET_S:.0f} s")
    for name in ("network", "GPUs", "unit", "seconds", "height", "GB/s", "optimum", "ahead"):
        table.add_column(name, justify="left" if name == "network" else "right")
    for family in args.family or SIZES:
        for boxes in SIZES[family]:
            topology = load_topology(f"{family}:boxes={boxes}")
            if topology.num_compute > args.most:
                continue
            for unit in args.units.split(","):
                table.add_row(*measured(f"{family}:boxes={boxes}", unit))
    console.print(table)


def measured(spec: str, unit: str) -> list[str]:
    """Generate, verify and compare with the optimum."""
    topology = load_topology(spec)
    began = time.perf_counter()
    parameters = {} if unit == "slowest" else {"unit": Fraction(unit)}
    forest = METHODS["multitree"].run(topology, parameters=parameters)
    seconds = time.perf_counter() - began
    verdict = verify(forest)
    assert isinstance(verdict, Verdict)
    reached, best = cost(forest).algbw_gb_s, optimum(topology).algbw_gb_s
    return [
        spec,
        str(topology.num_compute),
        unit,
        f"{seconds:.2f}",
        str(verdict.height),
        f"{float(reached):.2f}",
        f"{float(best):.2f}",
        f"{float(best / reached - 1):.0%}",
    ]


if __name__ == "__main__":
    main()
