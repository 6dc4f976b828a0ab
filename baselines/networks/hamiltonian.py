"""Tours that visit every node of a small graph once.

Problem: find the Hamiltonian paths from a node, all of them if there are few; one Hamiltonian
         cycle, or several without a common link.
Output:  paths as tuples of nodes, cached. An empty result proves nothing if the search stopped
         early.
Cost:    at most ``LOOKS`` extensions (an MI250 box of 16 GPUs needs 13,000 a start, for 412 paths);
         for a cycle two a node where degrees, a cut node or two uneven sides rule it out.
Source:  depth-first search. Cycles on two-way links: Posa's extension and rotation, with
         Warnsdorff's choice of the successor with the fewest free successors. Disjoint cycles:
         repeated removal of a cycle, with retries that break ties in other ways.
"""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import pairwise

__all__ = [
    "LOOKS", "TRIES", "Path", "Successors", "excludes_cycle", "find_cycle", "find_disjoint_cycles",
    "find_paths",
]  # fmt: skip

LOOKS = 20_000
"""Extensions or rotations before a search stops."""

TRIES = 50
"""Tries for disjoint cycles."""

Path = tuple[int, ...]
Successors = tuple[tuple[int, ...], ...]


@lru_cache(maxsize=1024)  # boxes are usually equal
def find_paths(successors: Successors, start: int) -> tuple[Path, ...]:
    """Return the Hamiltonian paths from a node, in the order in which they are found."""
    found = []
    path, inside = [start], {start}
    trail = [iter(successors[start])]
    for _ in range(LOOKS):
        for step in trail[-1]:  # goes on where it stopped
            if step not in inside:
                break
        else:
            step = -1
        if step >= 0:
            path.append(step)
            inside.add(step)
            trail.append(iter(successors[step]))
            if len(path) == len(successors):
                found.append(tuple(path))
        else:
            trail.pop()
            inside.discard(path.pop())
            if not trail:
                break
    return tuple(found)


def excludes_cycle(successors: Successors) -> bool:
    """Whether a simple test proves that a graph of two-way links has no Hamiltonian cycle.

    The tests: parts without a link between them, a node with fewer than two neighbours, a bipartite
    graph with sides of different size, or a cut node.

    Examples
    --------
    >>> excludes_cycle(((1,), (0, 2), (1,))), excludes_cycle(((1, 2), (0, 2), (0, 1)))
    (True, False)
    """
    if len(successors) < 3:
        return not all(successors)
    side, queue = {0: 0}, [0]
    for node in queue:
        new = [v for v in successors[node] if v not in side]
        side |= dict.fromkeys(new, 1 - side[node])
        queue += new
    if len(side) < len(successors) or min(map(len, successors)) < 2:
        return True
    links = [(u, v) for u, row in enumerate(successors) for v in row]
    if 2 * sum(side.values()) != len(side) and all(side[u] != side[v] for u, v in links):
        return True
    import networkx as nx

    return not nx.is_biconnected(nx.Graph(links))


@lru_cache(maxsize=1024)
def find_cycle(successors: Successors) -> Path | None:
    """Search for a Hamiltonian cycle from node 0 in a graph of two-way links.

    A path is extended; if it cannot be, its tail is reversed at a neighbour of its end.
    """
    path, inside = [0], {0}
    dead_ends: set[int] = set()
    for look in range(LOOKS):
        # Most searches end before this test, whose library takes longer to load than they do.
        if look == 2 * len(successors) and excludes_cycle(successors):
            return None
        end = path[-1]
        if free := [v for v in successors[end] if v not in inside]:
            path.append(min(free, key=lambda v: sum(w not in inside for w in successors[v])))
            inside.add(path[-1])
            dead_ends.clear()
            continue
        if len(path) == len(successors) and path[0] in successors[end]:
            first = path.index(0)
            return tuple(path[first:] + path[:first])
        dead_ends.add(end)
        place = {v: i for i, v in enumerate(path)}
        turns = sorted(place[v] + 1 for v in successors[end])
        turns = [i for i in turns if i < len(path) - 1 and path[i] not in dead_ends]
        if turns:
            i = turns[look % len(turns)]
            path[i:] = path[i:][::-1]
        else:
            path.reverse()
            dead_ends.clear()
    return None


def find_disjoint_cycles(successors: Successors) -> list[Path]:
    """Search for many Hamiltonian cycles without a common link in either direction.

    Links are two-way, so half the least degree bounds the number of cycles. The first try that
    reaches the bound wins, otherwise the best try. A try without a cycle ends the search.
    """
    chance = random.Random(0)
    best: list[Path] = []
    for _ in range(TRIES):
        left = tuple(tuple(chance.sample(row, len(row))) for row in successors)
        found = []
        while len(left) > 2 and (cycle := find_cycle(left)):
            found.append(cycle)
            left = _without(left, cycle)
        best = max(best, found, key=len)
        if not found or len(best) == min(map(len, successors)) // 2:
            break
    return best


def _without(successors: Successors, cycle: Path) -> Successors:
    gone = {link for u, v in pairwise((*cycle, cycle[0])) for link in ((u, v), (v, u))}
    return tuple(tuple(v for v in row if (u, v) not in gone) for u, row in enumerate(successors))
