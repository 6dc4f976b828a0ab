"""Sums of distances of base networks, and the all-to-all rates that follow from them.

Problem: bound the all-to-all rate of each base network without a search from each of its GPUs.
Input:   a base network.
Output:  its sums of distances, the bound on the rate, and the rate where it is known to be equal.
Cost:    rings and complete graphs: constant. Circulants: linear in N, since all nodes are alike.
         Generalized Kautz and de Bruijn graphs: N log N, since t hops lead to an interval of nodes.
         Others: a search from each node; they have at most 728.
Source:  Zhao et al. (NSDI 2025), section 6.2. Imase and Itoh, "A Design for Directed Graphs with
         Minimum Diameter" (1983), for the intervals.

Rate and bound are equal where some choice of shortest paths loads all links equally. On
distance-regular graphs equal use of all shortest paths does. On circulants of two offsets some
choice does if half of all hops lies between the fewest and the most hops that the first offset can
have. On other circulants equal use of all shortest paths is tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from baselines.topology_finder.base_networks import Base
from baselines.topology_finder.distances import Distances
from forestcoll.topology.operations import common_unit
from forestcoll.topology.spec import load_topology

__all__ = ["distances_of", "has_closed_form"]

Ints = npt.NDArray[np.int64]

_CLOSED = ("complete", "uni_ring", "bi_ring")
_DISTANCE_REGULAR = ("complete_bipartite", "distance_regular")
_CIRCULANT = ("circulant", "directed_circulant")
_WORDS = ("generalized_kautz", "de_bruijn")


def has_closed_form(base: Base) -> bool:
    """Whether a formula gives the sums, so that no table needs them."""
    return _family(base) in _CLOSED


def distances_of(base: Base) -> Distances:
    """Return the sums of distances and the all-to-all bound of a base network."""
    family = _family(base)
    if family in _CLOSED:
        return _closed(base, family)
    if family in _CIRCULANT:
        return _of_circulant(base)
    if family in _WORDS:
        return _of_words(base.nodes, base.degree, -1 if family == "generalized_kautz" else 1)
    return _searched(base, balanced=family in _DISTANCE_REGULAR)


def _family(base: Base) -> str:
    return base.spec.partition(":")[0]


def _made(total: int, back: int, links: int, *, balanced: bool) -> Distances:
    bound = Fraction(links, total)
    return Distances(total, back, bound, bound if balanced else None)


def _closed(base: Base, family: str) -> Distances:
    """Return the sums of a ring or a complete graph; all links carry the same by symmetry."""
    nodes, links = base.nodes, base.nodes * base.degree
    if family == "complete":
        return _made(nodes * (nodes - 1), links, links, balanced=True)
    if family == "uni_ring":
        total = nodes * nodes * (nodes - 1) // 2
        return _made(total, links * (nodes - 1), links, balanced=True)
    return _made(nodes * (nodes**2 // 4), links, links, balanced=True)


def _of_circulant(base: Base) -> Distances:
    """Search from node 0. An offset on and back is one kind of link, by reflection."""
    given = dict(part.split("=") for part in base.spec.partition(":")[2].split(","))
    if "offsets" in given:
        offsets = [int(offset) for offset in given["offsets"].split("+")]
    else:
        offsets = list(range(1, base.degree + 1))
    kinds = sorted(set(offsets))
    steps = [(offset, kinds.index(offset)) for offset in offsets]
    if given.get("bidirectional") != "false" and "offsets" in given:
        steps += [(-offset, kind) for offset, kind in steps]
    hops, order = _hops(base.nodes, sorted({offset for offset, _ in steps}))
    total = base.nodes * int(hops.sum())
    back = base.nodes * sum(int(hops[-offset % base.nodes]) for offset, _ in steps)
    widths = [sum(each == kind for _, each in steps) for kind in range(len(kinds))]
    balanced = _balanced(hops, order, sorted(set(steps)), widths)
    return _made(total, back, base.nodes * len(steps), balanced=balanced)


def _hops(nodes: int, offsets: Sequence[int]) -> tuple[Ints, list[Ints]]:
    """Return the distance of each node from node 0, and the nodes at each distance."""
    hops = np.full(nodes, -1, dtype=np.int64)
    hops[0], levels = 0, [np.zeros(1, dtype=np.int64)]
    while len(front := levels[-1]):
        reached = np.unique((front[:, None] + np.array(offsets)) % nodes)
        levels.append(reached[hops[reached] < 0])
        hops[levels[-1]] = len(levels) - 1
    return hops, levels[:-1]


def _balanced(
    hops: Ints, levels: list[Ints], steps: Sequence[tuple[int, int]], widths: list[int]
) -> bool:
    """Whether shortest paths are known to load all links equally.

    Parameters
    ----------
    hops, levels
        As from ``_hops``.
    steps : sequence of pairs
        Offset and kind of each link of a node, without parallel ones.
    widths : list of int
        Links of each kind.
    """
    total = int(hops.sum())
    if len(widths) == 1:
        return True
    if len(widths) == 2:
        fewest, most = (_uses(hops, levels, steps, better) for better in (np.minimum, np.maximum))
        share = Fraction(total * widths[0], sum(widths))
        return fewest <= share <= most
    loads = _mean_uses(hops, levels, steps, len(widths))
    return all(
        load * sum(widths) == total * width for load, width in zip(loads, widths, strict=True)
    )


def _uses(
    hops: Ints, levels: list[Ints], steps: Sequence[tuple[int, int]], better: np.ufunc
) -> int:
    """Return the sum over all nodes of the fewest or most links of kind 0 on a shortest path."""
    nodes = len(hops)
    unset = nodes if better is np.minimum else -1
    used = np.full(nodes, unset, dtype=np.int64)
    used[0] = 0
    for front in levels[:-1]:
        for offset, kind in steps:
            head = (front + offset) % nodes
            onward = hops[head] == hops[front] + 1
            better.at(used, head[onward], used[front[onward]] + (kind == 0))
    return int(used.sum())


def _mean_uses(
    hops: Ints, levels: list[Ints], steps: Sequence[tuple[int, int]], kinds: int
) -> list[Fraction]:
    """Return the links of each kind on all shortest paths, if a node's paths are used equally."""
    nodes = len(hops)
    paths = [0] * nodes
    uses = [[0] * kinds for _ in range(nodes)]
    paths[0] = 1
    for front in levels:
        for tail in front.tolist():
            for offset, kind in steps:
                head = (tail + offset) % nodes
                if hops[head] == hops[tail] + 1:
                    paths[head] += paths[tail]
                    uses[head] = [a + b for a, b in zip(uses[head], uses[tail], strict=True)]
                    uses[head][kind] += paths[tail]
    return [
        sum((Fraction(uses[node][kind], paths[node]) for node in range(nodes)), Fraction(0))
        for kind in range(kinds)
    ]


def _of_words(nodes: int, degree: int, sign: int) -> Distances:
    """Return the sums of a graph with links from x to d x + a (sign 1) or to - d x - a (sign -1).

    From x, t hops lead to (sign d)^t x + i for the i of one interval. The sum of all distances is
    the number of pairs that 0, 1, 2, ... hops do not reach.
    """
    start = np.arange(nodes, dtype=np.int64)
    firsts, lengths = [start], [1]  # of the intervals of 0, 1, ... hops, for each node
    low, high, factor = 0, 0, 1
    total = nodes * (nodes - 1)
    while lengths[-1] < nodes:
        low, high = (
            (degree * low, degree * high + degree - 1)
            if sign == 1
            else (-degree * high - degree, -degree * low - 1)
        )
        factor = factor * sign * degree % nodes
        firsts.append((factor * start + low) % nodes)
        lengths.append(min(high - low + 1, nodes))
        if lengths[-1] < nodes:
            total += nodes**2 - _covered(nodes, firsts, lengths)
    heads = (start[:, None] + 0 * np.arange(degree), _heads(nodes, degree, sign))
    tail, head = (each.ravel() for each in heads)
    real = tail != head
    tail, head = tail[real], head[real]
    back = np.full(len(tail), -1, dtype=np.int64)
    for hops in reversed(range(len(firsts))):
        back[(tail - firsts[hops][head]) % nodes < lengths[hops]] = hops
    return _made(total, int(back.sum()), len(tail), balanced=False)


def _heads(nodes: int, degree: int, sign: int) -> Ints:
    """Return where the links of each node lead, in an array of shape (N, d)."""
    tail = np.arange(nodes, dtype=np.int64)[:, None]
    more = np.arange(degree, dtype=np.int64)
    return np.asarray((degree * tail + more if sign == 1 else -degree * tail - more - 1) % nodes)


def _covered(nodes: int, firsts: list[Ints], lengths: list[int]) -> int:
    """Return how many nodes lie in some interval, added up over the rows of ``firsts``.

    An interval that passes N is two: one that ends at N, and one that begins at 0.
    """
    first = np.stack(firsts, axis=1)
    last = first + np.array(lengths)
    over = np.maximum(last - nodes, 0)
    begin = np.concatenate([first, np.zeros_like(first)], axis=1)
    end = np.concatenate([np.minimum(last, nodes), over], axis=1)
    order = np.argsort(begin, axis=1)
    begin, end = (np.take_along_axis(each, order, axis=1) for each in (begin, end))
    reached = np.maximum.accumulate(end, axis=1)
    before = np.concatenate([np.zeros_like(begin[:, :1]), reached[:, :-1]], axis=1)
    return int(np.maximum(reached - np.maximum(begin, before), 0).sum())


def _searched(base: Base, *, balanced: bool) -> Distances:
    """Return the sums of any network, by a search from each of its nodes."""
    from scipy.sparse import csr_array  # scipy takes half a second
    from scipy.sparse.csgraph import shortest_path

    topology = load_topology(base.spec)
    unit, size = common_unit(topology), topology.num_compute
    tail = np.array([link.tail for link in topology.links])
    head = np.array([link.head for link in topology.links])
    width = np.array([int(link.bandwidth_gb_s / unit) for link in topology.links])
    links = csr_array((np.ones(len(tail)), (tail, head)), shape=(size, size))
    hops = shortest_path(links, unweighted=True).astype(np.int64)
    back = int((hops[head, tail] * width).sum())
    return _made(int(hops.sum()), back, int(width.sum()), balanced=balanced)
