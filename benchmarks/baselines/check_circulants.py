"""Check Conjecture 1 of Zhao et al. (NSDI 2025) on circulants and twisted tori, graph by graph.

It says that every circulant has a bandwidth-optimal breadth-first broadcast; for two offsets it is
proved. This script checks it exactly for all circulants of few GPUs, and for twisted tori (the
paper has checked those up to 10^4 GPUs). It lists failures with the GPU and the step at which more
shards arrive than the links can carry evenly.

    python -m benchmarks.baselines.check_circulants results/bfb/conjecture1.csv
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.breadth_first import broadcast_times
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.direct_connect.bfb.theory import why_not_optimal
from forestcoll.topology import FAMILIES, Topology

FEW = {2: 60, 3: 24}
"""For so many offsets all circulants of so many GPUs at most."""

MOST_TWISTED = 10_000
"""GPUs of the largest twisted torus, as in the paper."""


def turned(size: int) -> Alike:
    """Rank 0 of a circulant stands for all ranks, by rotation."""
    ranks = np.arange(size, dtype=np.int32)
    image = (ranks[:, None] + ranks[None, :]) % size
    return Alike(np.zeros(size, dtype=np.int32), image.astype(np.int32).ravel())


def circulants() -> Iterator[tuple[str, Topology, Alike]]:
    """All connected ones; an offset of half the GPUs is one link, not two."""
    for count, most in FEW.items():
        for size in range(2 * count + 1, most + 1):
            for offsets in combinations(range(1, size // 2 + 1), count):
                if math.gcd(size, *offsets) == 1:
                    network = FAMILIES["circulant"].function(nodes=size, offsets=offsets)
                    yield f"circulant, {count} offsets", network, turned(size)


def twisted_tori(seconds: float) -> Iterator[tuple[str, Topology, Alike]]:
    """From small ones up, until the time is over."""
    until = time.monotonic() + seconds
    shapes = [s for k in range(2, 100) for s in ((k, 2 * k), (k, k, 2 * k), (k, 2 * k, 2 * k))]
    for dims in sorted((s for s in shapes if math.prod(s) <= MOST_TWISTED), key=math.prod):
        if time.monotonic() > until:
            return
        network = FAMILIES["twisted_torus"].function(dims=dims)
        found = Alike.found(BroadcastNetwork.of(network), seconds=2)
        yield "twisted torus", network, found


def main() -> None:
    """Check them all and write a line for each kind and size, and for each that fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=3600, help="for twisted tori")
    options = parser.parse_args()
    checked: dict[tuple[str, int], int] = {}
    failed: list[list[object]] = []
    for graphs in (circulants(), twisted_tori(options.seconds)):
        for kind, network, alike in graphs:
            times = broadcast_times(BroadcastNetwork.of(network), alike)
            key = kind, network.num_compute
            checked[key] = checked.get(key, 0) + 1
            why = why_not_optimal(times)
            if why is not None:
                failed.append(
                    [kind, network.num_compute, network.name, why.step + 1, why.sources, why.time]
                )
    options.file.parent.mkdir(parents=True, exist_ok=True)
    with options.file.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["kind", "gpus", "graphs", "failed", "graph", "step", "shards", "U"])
        for (kind, size), count in checked.items():
            bad = [line for line in failed if line[:2] == [kind, size]]
            rows.writerow([kind, size, count, len(bad), "", "", "", ""])
            rows.writerows([kind, size, "", "", *line[2:]] for line in bad)
    for kind in dict.fromkeys(kind for kind, _ in checked):
        total = sum(count for (k, _), count in checked.items() if k == kind)
        bad = [line for line in failed if line[0] == kind]
        print(f"{kind}: {total} checked, {len(bad)} are not optimal", *bad[:1])


if __name__ == "__main__":
    main()
