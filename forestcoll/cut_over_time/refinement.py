"""Nodes that a flow over time cannot tell apart, merged into one.

Problem: make a network with many equal parts small without a change of its flows over time.
Input:   links with capacities and latencies; a colour of each node (source, sink, other).
Output:  a class for each node, and the network of classes.
Cost:    O(|E| log |E|) a round, of at most as many rounds as the longest path.
Source:  colour refinement of linear programs (Grohe, Kersting, Mladenov, Selman 2014). In a stable
         colouring every node of a class has equal links to every other class, so a flow can be
         averaged over a class, and a flow of classes spread evenly.

Colours are compared by 64-bit hashes. A collision would merge too much. That can only weaken a
bound: labels of classes are labels of nodes, and they prove what they add up to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.problem.over_time.timed_links import TimedLinks

__all__ = ["Classes", "merged", "stable_colours"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Classes:
    """The class of each node, and the links between different classes."""

    of_node: Ints
    links: TimedLinks


def stable_colours(links: TimedLinks, colours: Ints) -> Ints:
    """Refine colours until nodes of one colour have equal links to each colour.

    Parameters
    ----------
    colours : int array, one entry a node
        What must stay apart.

    Returns
    -------
    int array
        Colours from 0 up.
    """
    tail, head = np.array(links.tail, dtype=np.int64), np.array(links.head, dtype=np.int64)
    kinds = {kind: i for i, kind in enumerate(set(zip(links.capacity, links.latency, strict=True)))}
    kind = np.array(
        [kinds[one] for one in zip(links.capacity, links.latency, strict=True)], dtype=np.uint64
    )
    out, into = _mixed(2 * kind + np.uint64(1)), _mixed(2 * kind + np.uint64(2))
    _, found = np.unique(colours, return_inverse=True)
    while True:
        code = _mixed(found.astype(np.uint64) + np.uint64(1 << 40))
        seen = code.copy()
        np.add.at(seen, tail, _mixed(code[head] ^ out))
        np.add.at(seen, head, _mixed(code[tail] ^ into))
        # With the old colour, so that classes are only ever divided.
        pairs = np.stack([found.astype(np.uint64), seen])
        _, finer = np.unique(pairs, axis=1, return_inverse=True)
        finer = finer.reshape(-1)
        if finer.max(initial=0) == found.max(initial=0):
            return found
        found = finer


def merged(links: TimedLinks, colours: Ints) -> Classes:
    """Merge the nodes that are alike from the given colours on."""
    found = stable_colours(links, colours)
    sums: dict[tuple[int, int, int], int] = {}
    of_node = found.tolist()
    for tail, head, capacity, latency in zip(
        links.tail, links.head, links.capacity, links.latency, strict=True
    ):
        key = of_node[tail], of_node[head], latency
        if key[0] != key[1]:
            sums[key] = sums.get(key, 0) + capacity
    small = TimedLinks(
        nodes=int(found.max(initial=-1)) + 1,
        tail=[tail for tail, _, _ in sums],
        head=[head for _, head, _ in sums],
        capacity=list(sums.values()),
        latency=[latency for _, _, latency in sums],
        denominator=links.denominator,
        ticks_per_us=links.ticks_per_us,
    )
    return Classes(found, small)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Hash 64-bit numbers (splitmix64)."""
    mixed: npt.NDArray[np.uint64] = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
