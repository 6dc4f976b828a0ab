"""Parser of trees, routes and walks in schedule files, from lists to arrays.

A file of 1024 GPUs has a million edges and a hundred thousand paths. So one field of all trees (or
routes, or paths) is checked at a time; only the search for a fault goes one by one.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, chain
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from forestcoll.errors import VerificationError
from forestcoll.schedule.files.fields import (
    LARGEST,
    Record,
    check_records,
    column,
    node_positions,
    numbers,
    of_type,
    one,
    refuse,
    within,
    wrong,
)
from forestcoll.schedule.files.header import (
    Head,
)
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.topology.model import Topology

__all__ = ["parse_routes", "parse_trees", "parse_walks"]


_TREE = ("root", "multiplicity", "edges")


_PHYSICAL_TREE = ("root", "multiplicity", "walks")


_ROUTE = ("from", "to", "paths")


_PATH = ("nodes", "multiplicity")


_CERTAINLY_HELD = 10**8  # entries of an array that fit the memory of any machine


def parse_trees(
    trees: list[Any], head: Head
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return roots, multiplicities and parents of the batches.

    Edges run as the data does, in a reduction from child to parent.
    """
    check_records(trees, _TREE, _tree)
    ranks = head.topology.num_compute
    root, amount = _roots(trees, ranks)
    lists = [tree["edges"] for tree in trees]
    lifted = bool(lists) and all(isinstance(edges, np.ndarray) for edges in lists)
    if not lifted:
        of_type(lists, list, within(_tree, "edges"))
    lengths = list(map(len, lists))
    _check_size(sum(lengths), len(trees), ranks)
    batch = np.repeat(np.arange(len(trees)), lengths)
    ends = _lifted(lists, ranks) if lifted else _edges(lists, ranks)
    ends = ends[:, ::-1] if head.reduction else ends
    parent = np.full((len(trees), ranks), -1, dtype=np.int32)
    parent[batch, ends[:, 1]] = ends[:, 0]
    if np.count_nonzero(parent >= 0) < len(ends):  # an entry was overwritten
        _two_parents(head, root, batch, ends)
    return root, amount, parent


def _roots(trees: list[Record], ranks: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    root = numbers(column(trees, "root", int, _tree), 0, ranks - 1, within(_tree, "root"))
    amount = column(trees, "multiplicity", int, _tree)
    return root.astype(np.int32), numbers(amount, 1, LARGEST, within(_tree, "multiplicity"))


def _check_size(edges: int, batches: int, ranks: int) -> None:
    """Reject a few megabytes of trees without edges that would need gigabytes of arrays."""
    if batches * ranks > _CERTAINLY_HELD and 2 * edges < batches * (ranks - 1):
        refuse(
            f"trees lists {edges} edges in all, but {batches} trees on {ranks} GPUs have "
            f"{batches * (ranks - 1)}; is the file complete?"
        )


def _lifted(arrays: list[npt.NDArray[np.int64]], ranks: int) -> npt.NDArray[np.int64]:
    """Return the edges of all trees, concatenated; check that they join existing ranks."""
    ends = np.concatenate(arrays)
    if ends.size and not 0 <= ends.min() <= ends.max() < ranks:
        refuse(f"an edge leads beyond rank {ranks - 1}")  # the slow parser then names the edge
    return ends


def _edges(lists: list[list[Any]], ranks: int) -> npt.NDArray[np.int64]:
    """Return the edges of all trees, concatenated, as rows (sender, receiver)."""
    edges = list(chain.from_iterable(lists))

    def edge(i: int) -> str:
        first = [0, *accumulate(map(len, lists))]
        tree = bisect_right(first, i) - 1
        return f"{_tree(tree)}.edges[{i - first[tree]}]"

    if not (set(map(type, edges)) <= {list} and set(map(len, edges)) <= {2}):
        at = next(i for i, pair in enumerate(edges) if type(pair) is not list or len(pair) != 2)
        wrong(edge(at), edges[at], "a pair [sender, receiver] of ranks")
    ends = of_type(list(chain.from_iterable(edges)), int, lambda i: edge(i // 2))
    return numbers(ends, 0, ranks - 1, lambda i: edge(i // 2)).reshape(-1, 2)


def _two_parents(
    head: Head,
    root: npt.NDArray[np.int32],
    batch: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> NoReturn:
    names = [head.topology.nodes[position].name for position in head.topology.compute]
    entry = batch * len(names) + ends[:, 1]
    entries, counts = np.unique(entry, return_counts=True)
    twice = entries[counts > 1][0]
    tree, child = divmod(int(twice), len(names))
    first, second = (names[parent] for parent in ends[entry == twice, 0][:2].tolist())
    fault = (
        f"sends its sum twice, to {first} and to {second}, so it would be counted twice"
        if head.reduction
        else f"is a child twice, of {first} and of {second}"
    )
    raise VerificationError(f"tree {tree}, rooted at {names[root[tree]]}: {names[child]} {fault}")


def parse_routes(routes: list[Any], topology: Topology, *, in_order: bool = False) -> Routes:
    """Return the paths of all logical links, sorted by (tail, head).

    Routes of a step schedule are listed in order, because transfers may name paths by index; they
    join any nodes.
    """
    check_records(routes, _ROUTE, _route)
    last = (len(topology.nodes) if in_order else topology.num_compute) - 1
    tail = numbers(column(routes, "from", int, _route), 0, last, within(_route, "from"))
    head = numbers(column(routes, "to", int, _route), 0, last, within(_route, "to"))
    order = np.lexsort((head, tail)).tolist()
    if in_order and order != list(range(len(order))):
        at = next(i for i, place in enumerate(order) if i != place)
        refuse(f"{_route(at)} is out of order; sort routes by from and to")
    lists = column(routes, "paths", list, _route)
    lists = [lists[i] for i in order]
    first_path = [0, *accumulate(map(len, lists))]

    def path(j: int) -> str:
        place = bisect_right(first_path, j) - 1
        return f"{_route(order[place])}.paths[{j - first_path[place]}]"

    paths = list(chain.from_iterable(lists))
    check_records(paths, _PATH, path)
    nodes = column(paths, "nodes", list, path)
    amount = column(paths, "multiplicity", int, path)
    return Routes(
        tail=tail[order].astype(np.int32),
        head=head[order].astype(np.int32),
        first_path=np.array(first_path, dtype=np.int64),
        multiplicity=numbers(amount, 1, LARGEST, within(path, "multiplicity")),
        first_hop=_rows(nodes),
        hop=node_positions(nodes, topology, within(path, "nodes")),
    )


def parse_walks(document: Record, head: Head) -> MulticastForest:
    """Return the forest of a file that lists walks."""
    trees, nodes = one(document, "trees", list), one(document, "walks", list)
    check_records(trees, _PHYSICAL_TREE, _tree)
    root, multiplicity = _roots(trees, head.topology.num_compute)
    of_type(nodes, list, _walk)
    lists = column(trees, "walks", list, _tree)
    first_walk = [0, *accumulate(map(len, lists))]

    def entry(i: int) -> str:
        tree = bisect_right(first_walk, i) - 1
        return f"{_tree(tree)}.walks[{i - first_walk[tree]}]"

    walk = of_type(list(chain.from_iterable(lists)), int, entry)
    return MulticastForest(
        **head.shared(),
        root=root,
        multiplicity=multiplicity,
        first_walk=np.array(first_walk, dtype=np.int64),
        walk=numbers(walk, 0, len(nodes) - 1, entry).astype(np.int32),
        walks=Walks(
            first_node=_rows(nodes),
            node=node_positions(nodes, head.topology, _walk),
        ),
    )


def _rows(lists: list[list[Any]]) -> npt.NDArray[np.int64]:
    """Return the starts of concatenated lists, and the end of the last one."""
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])


def _tree(i: int) -> str:
    return f"trees[{i}]"


def _route(i: int) -> str:
    return f"routes[{i}]"


def _walk(i: int) -> str:
    return f"walks[{i}]"
