"""Transposition of forests: reductions from forests on the reversed network.

Problem: sum up the data of all GPUs at roots.
Input:   a forest on the network with every link reversed.
Output:  the same trees on the network itself, with the data running from child to parent.
Cost:    linear in the links and the hops of the paths.
Source:  ForestColl section 5.7: a reduce-scatter is an allgather on the network with every link
         reversed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.factored import FactoredForest, Links
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.topology.model import Topology

__all__ = ["reversed_links", "reversed_paths", "reversed_routes", "transposed"]

F = TypeVar("F", Forest, FactoredForest)


def transposed(forest: F, topology: Topology) -> F:
    """Convert a forest on the reversed network to a reduction on the network itself.

    Parameters
    ----------
    forest : Forest or FactoredForest
        An allgather or broadcast on ``topology.reversed()``. Its routes may still be lazy.
    topology : Topology

    Returns
    -------
    Forest or FactoredForest
        The same trees; data, routes and links run from child to parent.
    """
    best = forest.optimum
    changes: dict[str, Any] = {
        "topology": topology,
        "routes": Routes.later(lambda: reversed_routes(forest.routes)),
        "optimum": None if best is None else _reversed_claim(best, topology),
        "reduction": True,
    }
    if isinstance(forest, FactoredForest):
        changes["links"] = reversed_links(forest.links)
    return replace(forest, **changes)


def _reversed_claim(best: Optimum, topology: Topology) -> Optimum:
    """Return the claim and its prices for the reduction: data enters the cuts, not leaves them."""
    prices = best.prices
    if prices is not None:
        prices = replace(prices, topology=topology, reduction=True)
    return replace(best, topology=topology, reduction=True, prices=prices)


def reversed_links(links: Links) -> Links:
    """Reverse every logical link."""
    order = np.lexsort((links.tail, links.head))
    return Links(links.head[order], links.tail[order], links.load[order])


def reversed_routes(routes: Routes) -> Routes:
    """Reverse every logical link and its paths."""
    order = np.lexsort((routes.tail, routes.head))
    paths, first_path = _rows(routes.first_path, order)
    hops, first_hop = _rows(routes.first_hop, paths)
    # Rows keep their order; within a row, indices count from its other end.
    ends = np.repeat(first_hop[:-1] + first_hop[1:] - 1, np.diff(first_hop))
    backwards = hops[ends - np.arange(len(hops))]
    return Routes(
        tail=routes.head[order],
        head=routes.tail[order],
        first_path=first_path,
        multiplicity=routes.multiplicity[paths],
        first_hop=first_hop,
        hop=routes.hop[backwards],
    )


def reversed_paths(routes: Routes) -> npt.NDArray[np.int32]:
    """Return the place of each path among those of :func:`reversed_routes`."""
    paths, _ = _rows(routes.first_path, np.lexsort((routes.tail, routes.head)))
    place = np.empty(len(paths), dtype=np.int32)
    place[paths] = np.arange(len(paths), dtype=np.int32)
    return place


def _rows(
    first: npt.NDArray[np.int64], order: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Reorder compressed rows: return the entries of each, and the new starts of rows."""
    lengths = np.diff(first)[order]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    entries = np.arange(starts[-1]) + np.repeat(first[:-1][order] - starts[:-1], lengths)
    return entries.astype(np.int64), starts
