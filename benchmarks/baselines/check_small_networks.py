"""Compare the fronts of the topology finder with all small networks of some kinds.

Cayley digraphs of all groups of small orders, and all regular digraphs without loops and parallel
links, as far as they can be enumerated. A row is written for each network that beats the front: no
entry takes as few hops and as little T_B, of both directions together. ``known_as`` names the
construction that it is, if it is one.

    python -m benchmarks.baselines.check_small_networks results/bfb/small-networks.csv
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable
from pathlib import Path

import networkx as nx

from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import search
from baselines.topology_finder.candidate import Candidate
from baselines.topology_finder.finder import divisors, front
from baselines.topology_finder.small_networks import Cost, Small, cayley_digraphs, regular_digraphs
from forestcoll.topology.spec import load_topology

CAYLEY = {2: 24, 3: 24, 4: 24}
"""Most nodes by degree, of Cayley digraphs."""

REGULAR = {2: 10, 3: 8}
"""Most nodes by degree, of regular digraphs."""

COLUMNS = ("kind", "nodes", "degree", "network", "t_l", "t_b", "front", "known_as", "links")

Search = Callable[[int, int, list[Cost]], list[Small]]


def known_as(found: Small, candidates: list[Candidate]) -> str:
    """Name the construction that is the same network; empty if there is none."""
    its = nx.DiGraph(found.links)
    for one in candidates:
        topology = load_topology(one.spec)
        other = nx.DiGraph((link.tail, link.head) for link in topology.links)
        if len(other.edges) == len(its.edges) and nx.is_isomorphic(its, other):
            return one.name
    return ""


def check(
    table: BaseTable, kind: str, searched: Search, nodes: int, degree: int
) -> list[tuple[object, ...]]:
    """Return the rows of one size."""
    candidates = search(divisors(nodes), degree, table.times_of).get((nodes, degree), [])
    costs = [
        (one.hops + one.reverse_hops, one.time + one.reverse_time) for one in front(candidates)
    ]
    text = "; ".join(f"{hops}, {time}" for hops, time in costs)
    return [
        (
            *(kind, nodes, degree, one.name, one.hops, one.time, text),
            known_as(one, candidates),
            " ".join(f"{tail}>{head}" for tail, head in one.links),
        )
        for one in searched(nodes, degree, costs)
    ]


def main() -> None:
    """Search and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    output = parser.parse_args().output
    table = BaseTable()
    with output.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for kind, searched, most in (
            ("Cayley", cayley_digraphs, CAYLEY),
            ("regular", regular_digraphs, REGULAR),
        ):
            for degree, last in most.items():
                for nodes in range(degree + 1, last + 1):
                    start = time.perf_counter()
                    found = check(table, kind, searched, nodes, degree)
                    rows.writerows(found)
                    file.flush()
                    took = time.perf_counter() - start
                    print(f"{kind} {nodes} {degree}: {len(found)} rows, {took:.1f} s", flush=True)


if __name__ == "__main__":
    main()
