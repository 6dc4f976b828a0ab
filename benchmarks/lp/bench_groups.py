"""Measure concurrent process groups and fractional packings: bound, attained rate, seconds.

    python -m benchmarks.lp.bench_groups --only H100

Groups are the GPUs of each index across the boxes (data parallelism) and those of each box (tensor
parallelism). "alone" is the rate of the first group with the network to itself; "equal" is that of
all groups with equal parts of every link. All forests are verified, alone and together. A second
table compares :mod:`lp.allgather.fractional_packing` with the core's optimum.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rich.console import Console
from rich.table import Table

from benchmarks.machine import machine
from benchmarks.topologies import dead_nics, jittered_nics
from forestcoll import Topology, group, load_topology, optimum
from forestcoll.solver.linear_program import Settings
from lp.allgather.fractional_packing import fractional_packing
from lp.groups.sharing import concurrent_groups, groups_by_box, groups_by_index

SETTINGS = Settings(seconds=60)

BUDGET_S = 60.0
"""For 8 groups of 16 and 16 groups of 8 on 16 boxes."""

WAYS = {"across boxes": groups_by_index, "each box": groups_by_box}

PACKED = ("dgx_a100:boxes=1", "mi250:boxes=1", "dgx_a100:boxes=2", "dgx_a100:boxes=4")


@dataclass(frozen=True, slots=True)
class Network:
    """A network that groups share."""

    name: str
    make: Callable[[], Topology]


NETWORKS = (
    Network("H100 x 16", partial(load_topology, "dgx_h100:boxes=16")),
    Network("A100 x 16", partial(load_topology, "dgx_a100:boxes=16")),
    Network("A100 x 16, 5 NICs dead", partial(dead_nics, 16, 5, 1)),
    Network("A100 x 4, NICs of 20 to 30 GB/s", partial(jittered_nics, 4, 20, 30, 1)),
    Network("MI250 x 4", partial(load_topology, "mi250:boxes=4")),
)


def groups_row(network: Network, way: str) -> list[str]:
    """Return the cells of a network and a way to part it."""
    topology = network.make()
    chosen = WAYS[way](topology)
    began = time.perf_counter()
    found = concurrent_groups(topology, chosen, SETTINGS)
    seconds = time.perf_counter() - began
    alone = 1 / optimum(group(topology, next(iter(chosen.values())))).inverse_rate
    equal = min(1 / optimum(group(topology, one)).inverse_rate for one in chosen.values())
    rate = found.rate_gb_s
    sizes = sorted({len(one.members) for one in found.groups})
    return [
        *(network.name, f"{len(chosen)} of {'-'.join(map(str, sizes))}, {way}"),
        *(f"{found.bound_gb_s:.6f}", f"{float(rate):.6f}"),
        *(f"{float(alone):.3f}", f"{float(equal / len(chosen)):.3f}"),
        *(str(found.cuts), str(found.rounds), str(max(forest.k for forest in found.forests))),
        f"{seconds:.2f}{'' if seconds <= BUDGET_S else ' over budget'}",
    ]


def packing_row(spec: str) -> list[str]:
    """Return the cells of a fractional packing."""
    topology = load_topology(spec)
    began = time.perf_counter()
    found = fractional_packing(topology, SETTINGS)
    seconds = time.perf_counter() - began
    exact = float(optimum(topology).algbw_gb_s)
    return [
        *(spec, f"{found.algbw_gb_s:.9f}", f"{exact:.9f}"),
        f"{found.bound_gb_s / found.rate_gb_s - 1:.1e}",
        *(str(found.rounds), str(found.columns), str(len(found.trees)), f"{seconds:.2f}"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lp.bench_groups")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    given = parser.parse_args()
    console = Console(width=max(Console().width, 140))
    console.print(machine())
    table = Table(title=f"Groups at once; GB/s a member; budget {BUDGET_S:g} s")
    names = ("network", "groups", "bound", "attained", "alone", "equal", "cuts", "rounds", "k")
    for name in (*names, "seconds"):
        table.add_column(name, justify="left" if name in ("network", "groups") else "right")
    for network in NETWORKS:
        for way in WAYS if given.only in network.name else ():
            with console.status(f"{network.name} {way}"):
                table.add_row(*groups_row(network, way))
    console.print(table)
    packings = Table(title="Fractional packing, GB/s")
    for name in ("network", "N x", "core", "gap", "rounds", "columns", "trees", "seconds"):
        packings.add_column(name, justify="left" if name == "network" else "right")
    for spec in PACKED:
        if given.only in spec:
            with console.status(spec):
                packings.add_row(*packing_row(spec))
    console.print(packings)


if __name__ == "__main__":
    main()
