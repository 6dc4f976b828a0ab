"""Pieces of a forest's hops: which tree's data passes which links, and how late.

Problem: times of trees depend on what each hop of each tree puts on which path.
Input:   an explicit forest.
Output:  pieces in columns, and the links of every path with what data pay before each.
Cost:    that of :func:`forestcoll.schedule.transform.timed_transfers.of_forest`.
Source:  ours. Tree edges take the paths that compiled programs give them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.timed_transfers import Plan, of_forest

__all__ = ["HopPieces"]

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HopPieces:
    """A column entry for each path that a tree's hop takes; then the links of the paths in use.

    Parameters
    ----------
    batch, child : int arrays
        The tree, and the rank to which the hop leads; in a reduction from which.
    amount : int64 array
        Trees of the batch over the path.
    path : int array
        The path, by its place in the routes.
    first : int64 array
        Links of path p are ``link[first[p]:first[p + 1]]``.
    link : int64 array
        By their places in the topology.
    """

    forest: Forest = field(repr=False)
    batch: _Ints
    child: _Ints
    amount: _Ints
    path: _Ints
    first: _Ints
    link: _Ints

    @classmethod
    def of(cls, forest: Forest) -> HopPieces:
        """Cut the hops of a forest into pieces.

        Raises VerificationError if a path uses a link that the network does not have.
        """
        plan = of_forest(forest)
        transfers, routes = plan.transfers, forest.routes
        return cls(
            forest=forest,
            batch=_batches(forest, plan),
            child=(transfers.tail if forest.reduction else transfers.head).astype(np.int64),
            amount=transfers.amount,
            path=transfers.path.astype(np.int64),
            first=routes.first_hop - np.arange(len(routes.first_hop)),
            link=routes.links_on(forest.topology),
        )

    def latencies(self, alpha_us: Fraction) -> tuple[_Ints, _Ints, int]:
        """Return the latency of each path, that before each of its links, and ticks in a us."""
        links = TimedLinks.of(self.forest.topology, alpha_us, reduction=False)
        late = np.array(links.latency, dtype=np.int64)[self.link]
        upto = np.concatenate([[0], np.cumsum(late)])
        before = upto[:-1] - np.repeat(upto[self.first[:-1]], np.diff(self.first))
        return upto[self.first[1:]] - upto[self.first[:-1]], before, links.ticks_per_us

    def on_links(self) -> tuple[_Ints, _Ints]:
        """Return pieces and the places of their links in :attr:`link`, one row for each pair."""
        counts = np.diff(self.first)[self.path]
        inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        piece = np.repeat(np.arange(len(self.path)), counts)
        return piece, self.first[self.path[piece]] + inside


def _batches(forest: Forest, plan: Plan) -> _Ints:
    """Return the batch of each transfer: batches of a root are intervals of its shard."""
    order = np.argsort(forest.root, kind="stable")
    starts = np.cumsum(forest.multiplicity[order]) - forest.multiplicity[order]
    of_chunk = np.cumsum(plan.chunks.size) - plan.chunks.size
    at = of_chunk[plan.transfers.chunk] + plan.transfers.first
    return np.asarray(order[np.searchsorted(starts, at, side="right") - 1], dtype=np.int64)
