"""Proof of physical trees with switches that multicast or reduce.

Part of :func:`forestcoll.schedule.verify`. Unmarked switches need no check: they stand only inside
walks, and each walk carries the same data from its start to its end.

A walk from a switch back to a GPU that sends to it in the same tree is loopback; in a reduction, a
walk from a GPU to the switch that sends it the sum. NVLS copies to the sender too, and adds the
receiver's part in the switch. Loopback counts as load alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints, exact, first
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.verification.arrays import check_array, check_ranks, check_rows
from forestcoll.schedule.verification.naming import arrows, fail, tree_name

__all__ = ["PhysicalTrees", "check_multicast", "check_multicast_arrays"]

_BLOCK_ENTRIES = 2**18  # nodes of trees processed together: few enough to stay in the cache


@dataclass(frozen=True, slots=True)
class PhysicalTrees:
    """The proved facts about physical trees.

    ``edges`` counts the walks of all batches, ``pairs`` the distinct (start, end) of walks;
    ``depth`` is the greatest number of walks from a root to a node, ``loads`` are the trees over
    each link.
    """

    edges: int
    pairs: int
    depth: int
    loads: npt.NDArray[Any]


def check_multicast_arrays(forest: MulticastForest) -> None:
    """Arrays are integers of matching shapes, with rows in order and ids in range."""
    topology, batches = forest.topology, np.size(forest.root)
    check_ranks(forest)
    check_array("root", forest.root, (batches,), 0, topology.num_compute - 1)
    check_array("multiplicity", forest.multiplicity, (batches,))
    walks, entries = max(np.size(forest.walks.first_node) - 1, 0), np.size(forest.walk)
    nodes = np.size(forest.walks.node)
    check_array("walk", forest.walk, (entries,), 0, walks - 1)
    check_array("walks.node", forest.walks.node, (nodes,), 0, len(topology.nodes) - 1)
    check_rows("first_walk", forest.first_walk, batches, entries, least=0)
    check_rows("walks.first_node", forest.walks.first_node, walks, nodes, least=2)


def check_multicast(forest: MulticastForest) -> PhysicalTrees:
    """Check that walks join multicasting nodes and trees reach every GPU; add up the loads."""
    _check_walks(forest)
    links = _check_links(forest)
    depth = _check_trees(forest)
    return PhysicalTrees(len(forest.walk), _num_pairs(forest), depth, _loads(forest, links))


def _num_pairs(forest: MulticastForest) -> int:
    """Count the distinct pairs of a walk's start and its end."""
    walks, size = forest.walks, len(forest.topology.nodes)
    pairs = walks.tail.astype(np.int64) * size + walks.head
    if size**2 > 4 * len(pairs) + _BLOCK_ENTRIES:
        return len(np.unique(pairs))
    there = np.zeros(size**2, dtype=bool)  # a table of all pairs is faster than sorting
    there[pairs] = True
    return int(np.count_nonzero(there))


# --- walks -------------------------------------------------------------------------------------


def _check_walks(forest: MulticastForest) -> None:
    """Check that walks join multicasting nodes, pass through no GPU, and are all in use."""
    nodes, walks = forest.topology.nodes, forest.walks
    copies = np.array([not node.is_switch or node.multicast for node in nodes], dtype=bool)
    for verb, end in (("starts", walks.tail), ("ends", walks.head)):
        if (walk := first(~copies[end])) is not None:
            node = nodes[end[walk]]
            kind = "relay, which only forwards" if node.is_gpu else "switch that is not marked"
            fail(
                f"{_walk_name(forest, walk)} {verb} at {node.name}, a {kind}; walks start and end "
                "at GPUs and at switches marked multicast"
            )
    through = np.array([not node.is_switch for node in nodes], dtype=bool)[walks.node]
    through[walks.first_node[:-1]] = through[walks.first_node[1:] - 1] = False
    if (at := first(through)) is not None:
        walk = int(np.searchsorted(walks.first_node, at, side="right")) - 1
        gpu = nodes[walks.node[at]].name
        fail(f"{_walk_name(forest, walk)} passes through {gpu}, which is a GPU; it must end there")
    used = np.zeros(len(walks), dtype=bool)
    used[forest.walk] = True
    if (walk := first(~used)) is not None:
        fail(f"{_walk_name(forest, walk)} belongs to no tree; leave it out")


def _check_links(forest: MulticastForest) -> Ints:
    """Every step of a walk is a link of the topology; return the links, step by step."""
    walks, topology = forest.walks, forest.topology
    size = len(topology.nodes)
    tail, head = topology.link_ends
    known = tail.astype(np.int64) * size + head  # sorted, as the links are
    goes_on = np.ones(len(walks.node), dtype=bool)
    goes_on[walks.first_node[1:] - 1] = False
    at = np.flatnonzero(goes_on)
    step = walks.node[at].astype(np.int64) * size + walks.node[at + 1]
    place = np.searchsorted(known, step)
    if (wrong := first(np.append(known, -1)[place] != step)) is not None:
        walk = int(np.searchsorted(walks.first_node, at[wrong], side="right")) - 1
        names = [topology.nodes[i].name for i in divmod(int(step[wrong]), size)]
        fail(
            f"{_walk_name(forest, walk)} hops from {names[0]} to {names[1]}, but {topology.name} "
            "has no such link"
        )
    return place


def _loads(forest: MulticastForest, links: Ints) -> npt.NDArray[Any]:
    """Add up the trees over each link, given the link of every step."""
    trees = exact(forest.multiplicity, len(forest.walk))
    over = np.zeros(len(forest.walks), dtype=trees.dtype)
    np.add.at(over, forest.walk, np.repeat(trees, np.diff(forest.first_walk)))
    over = exact(over, len(links))
    load = np.zeros(len(forest.topology.links), dtype=over.dtype)
    np.add.at(load, links, np.repeat(over, np.diff(forest.walks.first_node) - 1))
    return load


# --- trees -------------------------------------------------------------------------------------


def _check_trees(forest: MulticastForest) -> int:
    """Every batch is a tree over its multicasting nodes that holds every GPU; return the depth."""
    return max((_check_block(forest, first, last) for first, last in _blocks(forest)), default=0)


def _blocks(forest: MulticastForest) -> Iterator[tuple[int, int]]:
    rows = max(1, _BLOCK_ENTRIES // len(forest.topology.nodes))
    for start in range(0, forest.num_batches, rows):
        yield start, min(start + rows, forest.num_batches)


def _check_block(forest: MulticastForest, start: int, stop: int) -> int:
    """Check some batches by a table: for each of their nodes the node nearer the root."""
    size = len(forest.topology.nodes)
    entry = slice(int(forest.first_walk[start]), int(forest.first_walk[stop]))
    walk = forest.walk[entry]
    row = np.repeat(np.arange(stop - start), np.diff(forest.first_walk[start : stop + 1])) * size
    near, far = forest.walks.tail[walk], forest.walks.head[walk]
    if forest.reduction:
        near, far = far, near
    kept = ~_loopback(forest, start, row, near, far, stop - start)
    row, near, far = row[kept], near[kept], far[kept]
    _check_once(forest, start, row + far)
    above = np.full((stop - start) * size, -1, dtype=np.int64)
    above[row + far] = row + near
    _check_members(forest, start, above)
    return _check_rooted(forest, start, above)


def _loopback(
    forest: MulticastForest, start: int, row: Ints, near: Ints, far: Ints, batches: int
) -> npt.NDArray[np.bool_]:
    """Find walks from switches back to GPUs that send to them; each is in its tree once.

    A later check rejects a switch with two senders, so it does not matter which one is used here.
    """
    size = len(forest.topology.nodes)
    switch = np.array([node.is_switch for node in forest.topology.nodes], dtype=bool)
    source = np.full(batches * size, -1, dtype=np.int64)
    into = switch[far]
    source[(row + far)[into]] = near[into]
    found = switch[near] & ~into & (source[row + near] == far)
    walks, counts = np.unique(((row + near) * size + far)[found], return_counts=True)
    if (at := first(counts > 1)) is not None:
        fault = "sends its part" if forest.reduction else "gets its data back"
        where = int(walks[at]) // size // size * size + int(walks[at]) % size
        fail(f"{_where(forest, start, where)} {fault} {counts[at]} times; once is enough")
    return np.asarray(found)


def _check_once(forest: MulticastForest, start: int, far: Ints) -> None:
    """Check that no node of a batch is at the far end of two walks."""
    counts = np.bincount(far)
    if (at := first(counts > 1)) is not None:
        fault = "sends its sum" if forest.reduction else "gets the data"
        fail(f"{_where(forest, start, at)} {fault} {counts[at]} times; once is enough")


def _check_members(forest: MulticastForest, start: int, above: Ints) -> None:
    """Check that only the root has no parent, and that only GPUs are leaves."""
    nodes, size = forest.topology.nodes, len(forest.topology.nodes)
    gpu = np.array(forest.topology.compute)
    rows = len(above) // size
    root = np.arange(rows) * size + gpu[forest.root[start : start + rows]]
    if (row := first(above[root] >= 0)) is not None:
        fault = "sends its sum on" if forest.reduction else "gets the data back"
        fail(f"{_where(forest, start, int(root[row]))} is the root and {fault}")
    alone = above.reshape(rows, size)[:, gpu] < 0
    alone[np.arange(rows), forest.root[start : start + rows]] = False
    if (lost := first(alone)) is not None:
        row, rank = divmod(lost, len(gpu))
        fault = "never sends its part" if forest.reduction else "never gets the data"
        fail(f"{_where(forest, start, row * size + int(gpu[rank]))} {fault}")
    switch = np.tile(np.array([node.is_switch for node in nodes], dtype=bool), rows)
    parent = np.zeros(len(above), dtype=bool)
    parent[above[above >= 0]] = True
    if (at := first(switch & parent & (above < 0))) is not None:
        fault = "adds up but sends nothing" if forest.reduction else "copies what it never gets"
        fail(f"{_where(forest, start, at)} {fault}")
    if (at := first(switch & ~parent & (above >= 0))) is not None:
        fault = "sends a sum of nothing" if forest.reduction else "gets data that it passes to none"
        fail(f"{_where(forest, start, at)} {fault}; leave it out")


def _check_rooted(forest: MulticastForest, start: int, above: Ints) -> int:
    """Check that every node with a parent leads to the root; return the greatest depth."""
    size = len(forest.topology.nodes)
    jump = np.append(np.where(above < 0, len(above), above), len(above))
    depth = np.append((above >= 0).astype(np.int32), np.int32(0))
    for _ in range(size.bit_length()):
        if (jump == len(above)).all():
            break
        depth, jump = depth + depth[jump], jump[jump]
    if (lost := first(jump[:-1] != len(above))) is not None:
        ring = _ring(above, lost)
        names = [forest.topology.nodes[at % size].name for at in ring]
        listed = arrows(names if forest.reduction else reversed(names))
        fail(f"{_tree(forest, start, lost)}: {listed} is a cycle, apart from the root")
    return int(depth.max())


def _ring(above: Ints, at: int) -> list[int]:
    """Return the cycle above an entry, its first member also last."""
    seen: dict[int, int] = {}
    while at not in seen:
        seen[at] = len(seen)
        at = int(above[at])
    return [*list(seen)[seen[at] :], at]


# --- names -------------------------------------------------------------------------------------


def _walk_name(forest: MulticastForest, walk: int) -> str:
    names = (forest.topology.nodes[i].name for i in forest.walks.nodes(walk))
    return f"walk {arrows(names)}"


def _tree(forest: MulticastForest, start: int, at: int) -> str:
    return tree_name(forest, start + at // len(forest.topology.nodes))


def _where(forest: MulticastForest, start: int, at: int) -> str:
    """Name the tree and the node of an entry of the table of a block."""
    node = forest.topology.nodes[at % len(forest.topology.nodes)]
    return f"{_tree(forest, start, at)}: {node.name}"
