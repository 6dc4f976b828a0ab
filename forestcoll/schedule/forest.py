"""Tree-flow schedules: spanning trees rooted at GPUs, and the paths they run over.

GPUs appear here by *rank* (their place among the compute nodes), so that arrays are dense;
switches and physical links appear by their position in the topology.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.errors import VerificationError
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.time_plan import TimePlan
from forestcoll.schedule.tree_flow import TreeFlow
from forestcoll.topology.model import Topology

__all__ = ["Forest", "Path", "Routes", "Tree"]

_ENTRIES = 2**18
"""Entries of the table of parents that are processed together."""

_TOGETHER = 2**17
"""Hops that are looked up together: few enough to stay in the cache."""

_FOREIGN = (
    "the paths of this schedule use a link that is not in the topology; verify it before costing it"
)


@dataclass(frozen=True, slots=True)
class Path:
    """A walk through the physical network that carries ``multiplicity`` trees of one logical link.

    ``nodes`` are positions in the topology, both ends included.
    """

    nodes: tuple[int, ...]
    multiplicity: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A batch of ``multiplicity`` equal trees that carry part of the shard of rank ``root``.

    ``edges`` are (parent, child) pairs of ranks, parents first. In a reduction the data runs from
    child to parent.
    """

    root: int
    multiplicity: int
    edges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Routes(ByValue):
    """Physical paths of every logical link that the trees use, in compressed rows.

    Links and paths run as the data does: from parent to child, in a reduction from child to parent.
    Logical link i runs from rank ``tail[i]`` to rank ``head[i]``; its paths are
    ``first_path[i]`` to ``first_path[i + 1]``. Path j carries ``multiplicity[j]`` trees over the
    nodes ``hop[first_hop[j]:first_hop[j + 1]]``, positions in the topology, both ends included.
    Links are sorted by (tail, head).
    """

    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]
    first_path: npt.NDArray[np.int64]
    multiplicity: npt.NDArray[np.int64]
    first_hop: npt.NDArray[np.int64]
    hop: npt.NDArray[np.int32]

    @classmethod
    def later(cls, find: Callable[[], Routes]) -> Routes:
        """Return lazy routes: the first access to any of their arrays calls ``find``.

        ``find`` runs once, even with several threads. If it raises, the caller gets the error and
        the next access runs it again.
        """
        routes = object.__new__(_RoutesLater)
        vars(routes).update(_find=find, _lock=RLock())
        return routes

    @classmethod
    def from_paths(cls, paths: Mapping[tuple[int, int], Sequence[Path]]) -> Routes:
        """Gather the paths of each logical link (tail rank, head rank)."""
        links = sorted(paths)
        flat = [path for link in links for path in paths[link]]
        counts = [len(paths[link]) for link in links]
        lengths = [len(path.nodes) for path in flat]
        return cls(
            tail=np.array([tail for tail, _ in links], dtype=np.int32),
            head=np.array([head for _, head in links], dtype=np.int32),
            first_path=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64),
            multiplicity=np.array([path.multiplicity for path in flat], dtype=np.int64),
            first_hop=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
            hop=np.array([node for path in flat for node in path.nodes], dtype=np.int32),
        )

    def links_on(self, topology: Topology) -> npt.NDArray[np.int64]:
        """Return the link of every hop of all paths, by its place in the topology.

        Raises VerificationError if the topology does not have a link.
        """
        size, (tail, head) = len(topology.nodes), topology.link_ends
        keys = np.append(tail.astype(np.int64) * size + head, -1)  # sorted; the last: not there
        if self.hop.min(initial=0) < 0 or self.hop.max(initial=0) >= size:
            raise VerificationError(_FOREIGN)  # its key might be that of a link
        within = np.ones(len(self.hop), dtype=np.bool_)
        within[self.first_hop[1:] - 1] = False  # the last node of a path begins no link
        within[-1:] = False
        # A table of all node pairs pays if there are more hops than pairs.
        table = np.zeros(size**2 if size**2 <= len(self.hop) else 0, dtype=np.int64)
        if len(table):
            table[keys[:-1]] = np.arange(len(tail))
        places = [np.zeros(0, dtype=np.int64)]
        for start in range(0, len(self.hop), _TOGETHER):
            hop = start + np.flatnonzero(within[start : start + _TOGETHER])
            wanted = self.hop[hop].astype(np.int64) * size + self.hop[hop + 1]
            place = table.take(wanted) if len(table) else keys[:-1].searchsorted(wanted)
            if (keys.take(place) != wanted).any():
                raise VerificationError(_FOREIGN)
            places.append(place)
        return np.concatenate(places)

    def paths(self) -> dict[tuple[int, int], tuple[Path, ...]]:
        """Return the paths of each logical link; the inverse of :meth:`from_paths`."""
        hop, start = self.hop.tolist(), self.first_hop.tolist()
        flat = [
            Path(tuple(hop[start[j] : start[j + 1]]), int(m))
            for j, m in enumerate(self.multiplicity)
        ]
        first = self.first_path.tolist()
        ends = zip(self.tail.tolist(), self.head.tolist(), strict=True)
        return {link: tuple(flat[first[i] : first[i + 1]]) for i, link in enumerate(ends)}


class _RoutesLater(Routes):
    """Lazy routes: the first access to an array computes all of them."""

    _find: Callable[[], Routes]
    _lock: RLock  # re-entrant, so that a ``find`` that reads its own routes does not deadlock

    def __getattr__(self, name: str) -> Any:
        names = [array.name for array in fields(Routes)]
        if name not in names:
            raise AttributeError(f"routes have no attribute {name!r}")
        with self._lock:
            if name not in vars(self):  # another thread may have found them meanwhile
                found = self._find()
                vars(self).update({array: getattr(found, array) for array in names})
                del vars(self)["_find"]  # its closure may hold much memory
        return vars(self)[name]

    def __reduce__(self) -> tuple[type[Routes], tuple[Any, ...]]:
        # Pickled as plain routes: the closure and the lock cannot be pickled.
        return Routes, tuple(getattr(self, array.name) for array in fields(Routes))


@dataclass(frozen=True, eq=False, repr=False)
class Forest(TreeFlow):
    """Spanning trees of equal bandwidth, ``k`` times its weight rooted at every GPU.

    With W the sum of the weights each tree carries 1/(W k) of the data. In an allgather all
    weights are 1 and every GPU's shard travels from its root out to all; in a broadcast a single
    GPU has a weight. In a reduction the trees are in-trees: every GPU sends to its parent the sum
    of its own part and what it got from its children, over routes from child to parent.

    Parameters
    ----------
    method : str
        The method that made it: "forestcoll", "forestcoll-paper" (the paper's own algorithms), or a
        baseline's name.
    k : int
        Trees per unit of weight, counted with multiplicity.
    congestion : Fraction
        U, in trees per GB/s: no link of bandwidth b carries more than U b trees. The time for M
        gigabytes is M U / (W k) seconds.
    root, multiplicity : int32 and int64 arrays of length B
        The batches of equal trees: the rank whose shard they carry (in a reduction, to which they
        carry it), and how many trees they stand for.
    parent : int32 array of shape (B, N)
        Rank of the parent of each rank in each batch; -1 at the root.
    optimum : Optimum, optional
        The bound this forest attains, with the cut that proves it; None when nothing is claimed.
    weights : tuple of int
        For each rank, from 0 up, without a common divisor: rank r roots k w(r) trees. All 1 if not
        given.
    reduction : bool
        Whether the trees sum up what they carry on the way to their roots.
    plan : TimePlan, optional
        When every hop sends, for one size; None where no size was given.
    """

    topology: Topology = field(hash=False)
    method: str
    k: int
    congestion: Fraction
    root: npt.NDArray[np.int32] = field(repr=False)
    multiplicity: npt.NDArray[np.int64] = field(repr=False)
    parent: npt.NDArray[np.int32] = field(repr=False)
    routes: Routes = field(repr=False, hash=False)
    optimum: Optimum | None = field(default=None, repr=False, hash=False)
    weights: tuple[int, ...] = field(default=(), repr=False)
    reduction: bool = False
    plan: TimePlan | None = field(default=None, repr=False, hash=False)

    @property
    def num_batches(self) -> int:
        """Number of distinct trees, B."""
        return len(self.root)

    @property
    def num_trees(self) -> int:
        """Number of trees counted with multiplicity, W k in a complete forest."""
        return int(self.multiplicity.sum())

    def depths(self) -> npt.NDArray[np.int32]:
        """Hops from the root to each rank in each batch, shape (B, N).

        Pointer doubling: log2(depth) passes over the parents, some batches at a time. The result
        has no meaning if the parents do not form trees.
        """
        depth = np.zeros(self.parent.shape, dtype=np.int32)
        rows = max(1, _ENTRIES // max(self.parent.shape[1], 1))
        for start in range(0, len(depth), rows):
            depth[start : start + rows] = _depths(self.parent[start : start + rows])
        return depth

    def tree_depths(self) -> npt.NDArray[np.int32]:
        """Depth of each batch's tree in GPU-to-GPU hops, length B."""
        if self.parent.size == 0:
            return np.zeros(0, dtype=np.int32)
        rows = max(1, _ENTRIES // self.parent.shape[1])
        starts = range(0, len(self.parent), rows)
        blocks = (_depths(self.parent[start : start + rows]) for start in starts)
        return np.concatenate([depth.max(axis=1) for depth in blocks])

    def trees(self) -> Iterator[Tree]:
        """Yield the batches one by one, in order."""
        depths = self.depths()
        for batch in range(self.num_batches):
            order = np.argsort(depths[batch], kind="stable")
            parents = self.parent[batch]
            edges = tuple((int(parents[v]), int(v)) for v in order if parents[v] >= 0)
            yield Tree(int(self.root[batch]), int(self.multiplicity[batch]), edges)


def _depths(parent: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    batches, size = parent.shape
    at_root = parent < 0
    # All batches are one flat array; the offset keeps the jumps of a batch within its row.
    jump = np.where(at_root, np.arange(size), parent) + size * np.arange(batches)[:, None]
    depth = (~at_root).astype(np.int32)
    # After n rounds, ``jump`` leads 2^n hops up; roots lead to themselves.
    for _ in range(size.bit_length()):
        step = depth.take(jump)
        if not step.any():
            break
        depth += step
        jump = jump.take(jump)
    return depth
