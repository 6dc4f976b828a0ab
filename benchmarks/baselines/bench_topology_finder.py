"""Every size at once: the finder's fronts of all N up to 2000 and degrees up to 16.

Input:   the stored table of base networks.
Output:  seconds, and how many of the asked (N, d) have a network.
Cost:    under a minute; base networks that are not stored are left out and counted.
Source:  BFB paper (NSDI 2025), section 5.4: no schedule is built before the choice.

``python -m benchmarks.baselines.bench_topology_finder [--nodes 2000]``
"""

from __future__ import annotations

import time
from typing import Annotated

import typer

from baselines.topology_finder.base_networks import Base, Times
from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import search
from benchmarks.machine import machine

DEGREES = (2, 4, 8, 16)


def run(nodes: Annotated[int, typer.Option(min=2, max=2000)] = 2000) -> None:
    """Search all sizes up to ``nodes`` and degrees up to 16, and print what it takes."""
    table, absent = BaseTable(), set[str]()

    def times_of(base: Base) -> Times | None:
        known = table.stored(base)
        if known is None and base.nodes > SMALL:
            absent.add(base.name)
            return None
        return known or table.times_of(base)

    start, processor = time.perf_counter(), time.process_time()
    found = search(range(2, nodes + 1), max(DEGREES), times_of)
    wall, own = time.perf_counter() - start, time.process_time() - processor
    print(f"{wall:.1f} s, {own:.1f} s of CPU, {machine()}")
    for degree in DEGREES:
        fronts = [found[size, degree] for size in range(2, nodes + 1) if (size, degree) in found]
        print(f"degree {degree}: {len(fronts)} sizes, {sum(map(len, fronts))} candidates")
    print(f"{len(absent)} base networks of other degrees are not in the table and were left out")


SMALL = 64
"""Up to so many nodes a base network is computed if it is not stored."""

if __name__ == "__main__":
    typer.run(run)
