"""Assignment of trees to physical paths, where a logical link has several.

Problem: a forest gives the number of trees on each physical path, not the trees.
Input:   a forest.
Output:  its batches, cut so that all trees of a part take the same paths, and those paths.
Cost:    one sort of the tree edges; at most one cut for every path beyond the first of its link.
Source:  ours; section 5.4 of ForestColl leaves it open. The trees over a link fill its paths one
         after the other, in the order in which batches and paths are listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.errors import VerificationError
from forestcoll.schedule.exact_sums import exact, first
from forestcoll.schedule.forest import Forest

__all__ = ["PathChoice"]

_Exact = npt.NDArray[Any]
"""Integers in int64, or as Python's where sums would overflow."""


class PathChoice:
    """Batches of trees that take the same paths, in the order of the original batches.

    Parameters
    ----------
    forest : Forest
        Assumed to be valid; :func:`forestcoll.schedule.verify` proves that.

    Attributes
    ----------
    batch : int64 array
        The original batch of each part.
    multiplicity : int64 array
        Number of trees of each part; the parts of a batch add up to the batch's.

    Raises
    ------
    VerificationError
        If a tree uses a link without paths, or a link's numbers of paths and trees differ.
    """

    batch: npt.NDArray[np.int64]
    multiplicity: npt.NDArray[np.int64]

    def __init__(self, forest: Forest) -> None:
        routes = forest.routes
        carried = exact(routes.multiplicity, len(routes.multiplicity))
        self._upto = np.concatenate([np.zeros(1, dtype=carried.dtype), np.cumsum(carried)])
        self._is_single = bool((np.diff(routes.first_path) == 1).all())
        cuts = self._lay_out(forest)
        cuts |= {(batch, 0) for batch in range(forest.num_batches)}
        parts = sorted(cuts)
        self.batch = np.array([batch for batch, _ in parts], dtype=np.int64)
        self._offset = np.array([offset for _, offset in parts], dtype=np.int64)
        last = np.diff(self.batch, append=-1) != 0
        end = np.append(self._offset[1:], 0)
        end[last] = forest.multiplicity[self.batch[last]]
        self.multiplicity = end - self._offset

    def __len__(self) -> int:
        return len(self.batch)

    def _lay_out(self, forest: Forest) -> set[tuple[int, int]]:
        """Give each edge the place of its first tree on its link; return the cuts in batches.

        Places number the trees of all links one after the other; paths are numbered the same way.
        Where every link has a single path, places are the paths themselves.
        """
        links, known = _links(forest), len(forest.routes.tail)
        if self._is_single:  # the number of an edge's path is the number of its link
            carried = np.zeros(known + 1, dtype=self._upto.dtype)
            trees = forest.multiplicity.astype(carried.dtype, copy=False)
            np.add.at(carried, links.reshape(-1), np.repeat(trees, links.shape[1]))
            _check_totals(forest, self._upto, np.cumsum(carried[:-1]))
            self._place = links
            return set()
        # numpy sorts 16-bit integers by their digits, in linear time.
        edge = np.flatnonzero(links < known)
        link, few = links.reshape(-1)[edge], known <= 2**16
        order = np.argsort(link.astype(np.uint16) if few else link, kind="stable")
        edge, link = edge[order], link[order]
        trees = np.repeat(forest.multiplicity, links.shape[1])[edge].astype(self._upto.dtype)
        end = np.cumsum(trees)
        last = np.searchsorted(link, np.arange(known), side="right")
        _check_totals(forest, self._upto, np.append(np.zeros(1, dtype=end.dtype), end)[last])
        start = end - trees
        self._place = np.zeros(links.shape, dtype=end.dtype)
        self._place.reshape(-1)[edge] = start
        near = np.searchsorted(self._upto, start, side="right")
        far = np.searchsorted(self._upto, end, side="left")
        return {
            (int(edge[e]) // links.shape[1], int(self._upto[path] - start[e]))
            for e in np.flatnonzero(far > near).tolist()
            for path in range(int(near[e]), int(far[e]))
        }

    def paths(self, start: int, stop: int) -> npt.NDArray[np.int64]:
        """Return the path of each rank's edge in some parts; entries of roots have no meaning."""
        place = self._place[self.batch[start:stop]]
        if self._is_single:
            return place
        place = place + self._offset[start:stop, None]
        return np.searchsorted(self._upto, place, side="right") - 1

    def blocks(self, entries: int) -> Iterator[tuple[int, int]]:
        """Cut the parts into runs of at most ``entries`` edges."""
        rows = max(1, entries // max(1, self._place.shape[1]))
        for start in range(0, len(self), rows):
            yield start, min(start + rows, len(self))


def _links(forest: Forest) -> npt.NDArray[np.int64]:
    """Return the logical link of each rank's edge in each batch; of roots, one more than known."""
    routes, ranks = forest.routes, forest.topology.num_compute
    known = np.full(ranks * ranks + 1, -1, dtype=np.int64)
    known[routes.tail.astype(np.int64) * ranks + routes.head] = np.arange(len(routes.tail))
    known[-1] = len(routes.tail)
    above, rank = forest.parent.astype(np.int64), np.arange(forest.parent.shape[1])
    ends = rank * ranks + above if forest.reduction else above * ranks + rank
    ends[above < 0] = ranks * ranks
    place: npt.NDArray[np.int64] = known[ends]
    if (edge := first(place < 0)) is not None:
        tail, head = divmod(int(ends.flat[edge]), ranks)
        _refuse(forest, tail, head, "has no path, but a tree uses it")
    return place


def _check_totals(forest: Forest, upto: _Exact, trees: _Exact) -> None:
    """Check that the running totals of trees and of paths agree at every link."""
    if (i := first(trees != upto[forest.routes.first_path[1:]])) is not None:
        tail, head = int(forest.routes.tail[i]), int(forest.routes.head[i])
        _refuse(forest, tail, head, "has not as many paths as trees")


def _refuse(forest: Forest, tail: int, head: int, fault: str) -> None:
    nodes, gpus = forest.topology.nodes, forest.topology.compute
    raise VerificationError(
        f"logical link {nodes[gpus[tail]].name} -> {nodes[gpus[head]].name} {fault}; "
        "verify the forest first"
    )
