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
from forestcoll.schedule.verification.lookup import Lookup
from forestcoll.schedule.verification.naming import arrows, fail, tree_name

__all__ = ["PhysicalTrees", "check_multicast", "check_multicast_arrays"]

_BLOCK_ENTRIES = 2**16  # nodes of trees processed together: few enough to stay in the cache
_TABLE_ENTRIES = 2**18  # of a table of pairs that is always small enough


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
    over = _trees_over(forest)
    _check_walks(forest, over)
    links = _check_links(forest)
    depth = _check_trees(forest)
    return PhysicalTrees(len(forest.walk), _num_pairs(forest), depth, _loads(forest, links, over))


def _num_pairs(forest: MulticastForest) -> int:
    """Count the distinct pairs of a walk's start and its end."""
    walks, size = forest.walks, len(forest.topology.nodes)
    pairs = walks.tail.astype(np.int64) * size + walks.head
    if size**2 > 4 * len(pairs) + _TABLE_ENTRIES:
        pairs.sort()
        return int(np.count_nonzero(np.diff(pairs))) + 1
    there = np.zeros(size**2, dtype=bool)  # a table of all pairs is faster than sorting
    there[pairs] = True
    return int(np.count_nonzero(there))


# --- walks -------------------------------------------------------------------------------------


def _trees_over(forest: MulticastForest) -> npt.NDArray[Any]:
    """Add up the trees over each walk."""
    trees = exact(forest.multiplicity, len(forest.walk))
    over = np.zeros(len(forest.walks), dtype=trees.dtype)
    np.add.at(over, forest.walk, np.repeat(trees, np.diff(forest.first_walk)))
    return over


def _check_walks(forest: MulticastForest, over: npt.NDArray[Any]) -> None:
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
    if (walk := first(over == 0)) is not None:  # a batch stands for a tree at least
        fail(f"{_walk_name(forest, walk)} belongs to no tree; leave it out")


def _check_links(forest: MulticastForest) -> Ints:
    """Every step of a walk is a link of the topology; return the links, step by step."""
    walks, topology = forest.walks, forest.topology
    size = len(topology.nodes)
    tail, head = topology.link_ends
    known = Lookup.of(tail.astype(np.int64) * size + head)  # sorted, as the links are
    goes_on = np.ones(len(walks.node), dtype=bool)
    goes_on[walks.first_node[1:] - 1] = False
    at = np.flatnonzero(goes_on)
    step = walks.node[at].astype(np.int64) * size + walks.node[at + 1]
    place = known.find(step)
    if (wrong := first(place == len(tail))) is not None:
        walk = int(np.searchsorted(walks.first_node, at[wrong], side="right")) - 1
        names = [topology.nodes[i].name for i in divmod(int(step[wrong]), size)]
        fail(
            f"{_walk_name(forest, walk)} hops from {names[0]} to {names[1]}, but {topology.name} "
            "has no such link"
        )
    return place


def _loads(forest: MulticastForest, links: Ints, over: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Add up the trees over each link, given the link of every step and the trees of each walk."""
    over = exact(over, len(links))
    load = np.zeros(forest.topology.num_links, dtype=over.dtype)
    np.add.at(load, links, np.repeat(over, np.diff(forest.walks.first_node) - 1))
    return load


# --- trees -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Walks:
    """The end of each walk that is nearer the root, and the other; whether this is a switch."""

    near: npt.NDArray[np.intp]
    far: npt.NDArray[np.intp]
    into_switch: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Block:
    """A table of the nodes of some batches, from batch ``start`` on: a row for each.

    ``above`` has the entry of the node nearer the root, -1 where there is none; ``inner`` are the
    nodes above some other.
    """

    start: int
    above: npt.NDArray[np.intp]
    inner: npt.NDArray[np.bool_]


def _check_trees(forest: MulticastForest) -> int:
    """Every batch is a tree over its multicasting nodes that holds every GPU; return the depth."""
    near, far = forest.walks.tail.astype(np.intp), forest.walks.head.astype(np.intp)
    if forest.reduction:
        near, far = far, near
    is_switch = np.array([node.is_switch for node in forest.topology.nodes], dtype=bool)
    walks = _Walks(near, far, is_switch[far])
    return max((_check_block(forest, walks, *rows) for rows in _blocks(forest)), default=0)


def _blocks(forest: MulticastForest) -> Iterator[tuple[int, int]]:
    rows = max(1, _BLOCK_ENTRIES // len(forest.topology.nodes))
    for start in range(0, forest.num_batches, rows):
        yield start, min(start + rows, forest.num_batches)


def _check_block(forest: MulticastForest, walks: _Walks, start: int, stop: int) -> int:
    """Check some batches by a table of their nodes; return the greatest depth."""
    size = len(forest.topology.nodes)
    walk = forest.walk[int(forest.first_walk[start]) : int(forest.first_walk[stop])]
    row = np.repeat(np.arange(stop - start) * size, np.diff(forest.first_walk[start : stop + 1]))
    near, far = row + walks.near.take(walk), row + walks.far.take(walk)
    above = np.full((stop - start) * size, -1, dtype=np.intp)
    # A switch with two senders is refused below, so it does not matter which one is seen here.
    into = walks.into_switch.take(walk)
    above[far[into]] = near[into]
    back = (above.take(near) == far) & ~into  # from a switch to the GPU that sends to it: loopback
    if back.any():
        _check_loopback(forest, start, near[back], far[back])
        near, far = near[~back], far[~back]
    above[far] = near
    if np.count_nonzero(above >= 0) < len(far):
        _refuse_second(forest, start, far)
    inner = np.zeros(len(above), dtype=np.bool_)
    inner[near] = True
    block = _Block(start, above, inner)
    _check_members(forest, block)
    return _check_rooted(forest, block)


def _check_loopback(forest: MulticastForest, start: int, near: Ints, far: Ints) -> None:
    """Check that each tree has a loopback once: a switch has a single sender."""
    counts = np.bincount(near)
    if (at := first(counts > 1)) is not None:
        fault = "sends its part" if forest.reduction else "gets its data back"
        gpu = int(far[near == at][0])
        fail(f"{_where(forest, start, gpu)} {fault} {counts[at]} times; once is enough")


def _refuse_second(forest: MulticastForest, start: int, far: Ints) -> None:
    """Name a node of a batch at the far end of two walks."""
    counts = np.bincount(far)
    at = int(np.argmax(counts > 1))
    fault = "sends its sum" if forest.reduction else "gets the data"
    fail(f"{_where(forest, start, at)} {fault} {counts[at]} times; once is enough")


def _check_members(forest: MulticastForest, block: _Block) -> None:
    """Check that only the root has no parent, and that only GPUs are leaves."""
    topology, start = forest.topology, block.start
    size, gpu = len(topology.nodes), np.array(topology.compute)
    alone = (block.above < 0).reshape(-1, size)
    row = np.arange(len(alone))
    root = gpu[forest.root[start : start + len(alone)]]
    if (wrong := first(~alone[row, root])) is not None:
        fault = "sends its sum on" if forest.reduction else "gets the data back"
        at = wrong * size + int(root[wrong])
        fail(f"{_where(forest, start, at)} is the root and {fault}")
    alone[row, root] = False
    if (lost := first(alone[:, gpu])) is not None:
        wrong, rank = divmod(lost, len(gpu))
        fault = "never sends its part" if forest.reduction else "never gets the data"
        fail(f"{_where(forest, start, wrong * size + int(gpu[rank]))} {fault}")
    _check_switches(forest, block)


def _check_switches(forest: MulticastForest, block: _Block) -> None:
    """Check that the switches of each tree get data, and pass it on."""
    size, switch = len(forest.topology.nodes), np.array(forest.topology.switches, dtype=np.intp)
    gets = (block.above >= 0).reshape(-1, size)[:, switch]
    sends = block.inner.reshape(-1, size)[:, switch]
    for wrong, of_sums, of_data in (
        (sends & ~gets, "adds up but sends nothing", "copies what it never gets"),
        (
            gets & ~sends,
            "sends a sum of nothing; leave it out",
            "gets data that it passes to none; leave it out",
        ),
    ):
        if (at := first(wrong)) is not None:
            row, place = divmod(at, len(switch))
            where = _where(forest, block.start, row * size + int(switch[place]))
            fail(f"{where} {of_sums if forest.reduction else of_data}")


def _check_rooted(forest: MulticastForest, block: _Block) -> int:
    """Check that every node with a parent leads to the root; return the greatest depth.

    Only nodes above others are followed: the rest are one step below them.
    """
    inner = np.flatnonzero(block.inner)
    top, up = len(inner), block.above[inner]
    place = np.empty(len(block.above), dtype=np.intp)
    place[inner] = np.arange(top)
    jump = np.append(np.where(up < 0, top, place[up]), top)
    depth = np.append((up >= 0).astype(np.int32), np.int32(0))
    for _ in range(len(forest.topology.nodes).bit_length()):
        if (jump == top).all():
            break
        depth, jump = depth + depth[jump], jump[jump]
    if (lost := first(jump != top)) is not None:
        size = len(forest.topology.nodes)
        ring = _ring(block.above, int(inner[lost]))
        names = [forest.topology.nodes[at % size].name for at in ring]
        listed = arrows(names if forest.reduction else reversed(names))
        where = _tree(forest, block.start, int(inner[lost]))
        fail(f"{where}: {listed} is a cycle, apart from the root")
    return int(depth.max()) + 1


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
