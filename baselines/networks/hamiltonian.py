"""Tours that visit every node of a small graph once.

Problem: Hamiltonian paths from a node, all of them where there are few; one Hamiltonian cycle, or
         several that share no link.
Input:   the successors of each node, those to be tried first in front.
Output:  paths as tuples of nodes. Finding none proves nothing where the search stopped early.
         What was found or not is remembered.
Cost:    at most ``LOOKS`` extensions (an MI250 box of 16 GPUs needs 13,000 a start, for 412 paths);
         none for a cycle where degrees, a cut node or two uneven sides rule it out.
Source:  plain depth-first search; for cycles where links run both ways, extension and rotation
         after Posa with Warnsdorff's choice of the successor that has fewest ways on; disjoint ones
         by taking cycles out one after another, again with ties broken otherwise if too few come.
"""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import pairwise

__all__ = [
    "LOOKS",
    "TRIES",
    "Path",
    "Successors",
    "excludes_cycle",
    "find_cycle",
    "find_disjoint_cycles",
    "find_paths",
]

LOOKS = 20_000
"""Extensions or rotations before a search stops."""

TRIES = 50
"""Times that disjoint cycles are sought."""

Path = tuple[int, ...]
Successors = tuple[tuple[int, ...], ...]


@lru_cache(maxsize=1024)  # machines come in equal copies
def find_paths(successors: Successors, start: int) -> tuple[Path, ...]:
    """Return the Hamiltonian paths from a node, in the order in which they are found."""
    found = []
    path, inside = [start], {start}
    trail = [iter(successors[start])]
    for _ in range(LOOKS):
        step = next((v for v in trail[-1] if v not in inside), None)
        if step is not None:
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
    """Whether a graph whose links run both ways has no Hamiltonian cycle for a plain reason.

    A node with fewer than two neighbours, one whose loss cuts the graph in two, or two sides of
    different size between which all links run.

    Examples
    --------
    >>> excludes_cycle(((1,), (0, 2), (1,))), excludes_cycle(((1, 2), (0, 2), (0, 1)))
    (True, False)
    """
    if len(successors) < 3:
        return not all(successors)
    import networkx as nx

    graph = nx.Graph((u, v) for u, row in enumerate(successors) for v in row)
    if len(graph) < len(successors) or not nx.is_biconnected(graph):
        return True
    if not nx.is_bipartite(graph):
        return False
    one, other = nx.bipartite.sets(graph)
    return len(one) != len(other)


@lru_cache(maxsize=1024)
def find_cycle(successors: Successors) -> Path | None:
    """Look for a Hamiltonian cycle in a graph whose links run both ways, from node 0 on.

    A path is extended; where it is stuck, its tail is turned round at a neighbour of its end.
    """
    if excludes_cycle(successors):
        return None
    path, inside = [0], {0}
    dead_ends: set[int] = set()
    for look in range(LOOKS):
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
    """Look for many Hamiltonian cycles of which no two share a link, whichever way it is passed.

    Links run both ways. At most half as many as the fewest links at a node can be found; the first
    try that finds so many is taken, or else the best; one that finds no cycle at all is the last.
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
    """Take the links of a cycle away, both ways."""
    gone = {link for u, v in pairwise((*cycle, cycle[0])) for link in ((u, v), (v, u))}
    return tuple(tuple(v for v in row if (u, v) not in gone) for u, row in enumerate(successors))
