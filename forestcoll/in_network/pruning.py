"""Pruning for in-network multicast: drop the traffic that multicast switches make redundant.

Problem: in every tree, data that a multicast switch already holds must not be sent into it again.
Input:   a forest and its physical paths; switches marked ``multicast``, mixed with others.
Output:  physical trees with no more load on any link; the traffic removed per class of links.
Cost:    O(N) steps, each linear in the batches.
Source:  ForestColl section 5.6 and figure 8. Beyond it: paths through several switches, and equal
         trees whose links take several paths. Batches are cut where their paths change: the trees
         over a logical link, batch after batch, fill its paths one after the other.

The rule. GPUs get the data in the order of their depth in the tree. On the path from a GPU's
parent, the data starts at the last node that already has it: a multicast switch, or else the
parent. The part of the path before this node is dropped, and so is a loop back into a multicast
switch. The rest of the path visits no switch that has the data. So each multicasting node gets the
data once, from a node that had it before, and no cycle can arise. Every remaining hop was in the
tree before, so no load rises. The time of an optimal forest stays the same: every tree still
crosses the bottleneck cut. Two phases of an allreduce that share the links can take less than
before.

A reduction is the mirror image: the data of a GPU ends at the first switch on its path that adds
and sends the sum anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from forestcoll.in_network.mixing import mirrored, one_of_each, with_used_walks
from forestcoll.in_network.path_choice import PathChoice
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.topology.describe import LinkClass, decimal, link_classes, link_groups
from forestcoll.topology.model import Link
from forestcoll.topology.symmetry.parallel_planes import Planes, unmerged

__all__ = ["Traffic", "multicast", "pruned", "traffic"]

_BLOCK_ENTRIES = 2**20  # GPUs of batches that are processed together

_Ints = npt.NDArray[Any]


@overload
def multicast(schedule: Forest) -> MulticastForest: ...
@overload
def multicast(schedule: Allreduce[Forest]) -> Allreduce[MulticastForest]: ...
@overload
def multicast(
    schedule: Forest | Allreduce[Forest],
) -> MulticastForest | Allreduce[MulticastForest]: ...
def multicast(
    schedule: Forest | Allreduce[Forest],
) -> MulticastForest | Allreduce[MulticastForest]:
    """Drop the traffic that switches marked ``multicast`` make redundant.

    Parameters
    ----------
    schedule : Forest or Allreduce
        Assumed to be right; :func:`forestcoll.schedule.verify` proves that.

    Returns
    -------
    MulticastForest or Allreduce
        The same trees, with batches of several paths cut. Its congestion is measured; that of an
        optimal forest stays the same. No link carries more than before. Without marked switches the
        loads are the same. Where switches multicast, an allreduce loses its bound, and a forest an
        optimum with prices of such switches. Both hold for forwarding switches only
        (:mod:`forestcoll.in_network.collectives` finds others).

    Raises
    ------
    VerificationError
        If a tree uses a link without paths, or a link's numbers of paths and trees differ.

    Notes
    -----
    The total traffic falls, but another marked switch need not reduce it further. The rule keeps
    the paths as they are; it does not search for the least set of hops, a Steiner tree.
    """
    if isinstance(schedule, Allreduce):
        gather = multicast(schedule.gather)
        both = mirrored(gather) if _are_mirrored(schedule) else multicast(schedule.reduce), gather
        marked = any(node.multicast for node in schedule.topology.nodes)
        return Allreduce(*both, None if marked else schedule.bound, schedule.remark)
    return with_used_walks(pruned(schedule)).measured()


def _are_mirrored(schedule: Allreduce[Forest]) -> bool:
    """Whether the core made one phase as the mirror image of the other."""
    topology = schedule.topology
    same = schedule.reduce.parent is schedule.gather.parent
    return same and topology.reversed() == topology


def pruned(forest: Forest) -> MulticastForest:
    """Prune one forest as :func:`multicast` does, with the congestion that it had before.

    Its walks are those of all paths: some may have no tree, and some may be equal
    (:func:`.mixing.with_used_walks`).
    """
    choice, pieces = PathChoice(forest), _Pieces(forest)
    depths = forest.depths()
    if depths.shape[1] < 2**15:
        depths = depths.astype(np.int16)  # numpy sorts them by their digits, in linear time
    rows, counts = [np.zeros(0, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    for start, stop in choice.blocks(_BLOCK_ENTRIES):
        order = np.argsort(depths[choice.batch[start:stop]], axis=1, kind="stable")[:, 1:]
        path = np.take_along_axis(choice.paths(start, stop), order, axis=1)
        kept = pieces.kept(path)
        rows.append(pieces.walk_of(path.ravel(), kept.ravel()))
        counts.append(kept.sum(axis=1, dtype=np.int64))
    return MulticastForest(
        topology=forest.topology,
        method=forest.method,
        k=forest.k,
        congestion=forest.congestion,
        root=forest.root[choice.batch].astype(np.int32),
        multiplicity=choice.multiplicity,
        first_walk=np.cumsum(np.concatenate(counts)),
        walk=np.concatenate(rows).astype(np.int32),
        walks=pieces.walks,
        optimum=_claim(forest),
        weights=forest.weights,
        reduction=forest.reduction,
    )


def _claim(forest: Forest) -> Optimum | None:
    """Return the optimum claimed, unless its prices are those of marked switches that forward."""
    claim = forest.optimum
    return claim if claim is not None and claim.bound.multicast else None


class _Pieces:
    """Paths cut at the multicast switches, in the direction from the roots outwards.

    A piece leads from one multicasting node to the next. The pieces of path j end before
    ``_end[j]``. ``_inner[j]`` holds the switches between them, by their index among the multicast
    switches, at the right end of the row. The rest of the row is padding: the index of a virtual
    switch that has all data from the start.
    """

    def __init__(self, forest: Forest) -> None:
        routes = forest.routes
        self._reversed = forest.reduction
        copies = np.array([node.multicast for node in forest.topology.nodes], dtype=bool)
        self._switches = int(copies.sum())
        first, node = _without_loops(routes.first_hop, routes.hop, copies)
        length = np.diff(first)
        path = np.repeat(np.arange(len(length)), length)
        if self._reversed:
            node = node[np.repeat(first[:-1] + first[1:] - 1, length) - np.arange(len(node))]
        stop = copies[node]
        stop[first[:-1]] = stop[first[1:] - 1] = True
        at = np.flatnonzero(stop)
        joined = path[at[:-1]] == path[at[1:]]
        pieces = np.bincount(path[at[:-1]][joined], minlength=len(length))
        self._end = np.cumsum(pieces)
        if (pieces == 1).all():  # as where no path passes a multicast switch
            self._walks, self._walk = Walks(first, node), np.arange(len(pieces))
        else:
            self._walks, self._walk = _cut(node, at[:-1][joined], at[1:][joined] + 1)
        self._inner = self._between(copies, node[at[1:][joined]], pieces)

    def _between(self, copies: _Ints, head: _Ints, pieces: _Ints) -> _Ints:
        """Place the switches at the right ends of their rows."""
        width = int(pieces.max(initial=1))
        number = np.cumsum(copies) - 1
        inner = np.full((len(pieces), width), self._switches, dtype=np.int64)
        path = np.repeat(np.arange(len(pieces)), pieces)
        column = width - self._end[path] + 1 + np.arange(len(path))
        between = column < width
        inner[path[between], column[between]] = number[head[between]]
        return inner

    def kept(self, path: _Ints) -> npt.NDArray[np.int64]:
        """Return how many pieces at the end of each path are sent; the others are redundant.

        Each row of ``path`` holds the paths of one tree, in the order in which GPUs get the data.
        """
        kept = np.ones(path.shape, dtype=np.int64)
        width = self._inner.shape[1]
        if width == 1:
            return kept
        backwards = self._inner[:, ::-1]
        rows = np.arange(len(path))[:, None]
        has_data = np.zeros((len(path), self._switches + 1), dtype=bool)
        has_data[:, -1] = True
        for step in range(path.shape[1]):
            switch = backwards[path[:, step]]
            behind = has_data[rows, switch].argmax(axis=1)[:, None]  # last switch with the data
            kept[:, step] += behind[:, 0]
            has_data[rows, np.where(np.arange(width) < behind, switch, self._switches)] = True
        return kept

    def walk_of(self, path: _Ints, kept: _Ints) -> npt.NDArray[np.int64]:
        """Return the walks of the last ``kept`` pieces of each path."""
        if (kept == 1).all():
            return self._walk[self._end - 1][path]
        upto = np.cumsum(kept)
        piece = np.repeat(self._end[path] - upto, kept) + np.arange(upto[-1] if len(upto) else 0)
        walk: npt.NDArray[np.int64] = self._walk[piece]
        return walk

    @property
    def walks(self) -> Walks:
        return self._walks.backwards() if self._reversed else self._walks


def _cut(node: _Ints, start: _Ints, stop: _Ints) -> tuple[Walks, npt.NDArray[np.int64]]:
    """Return the distinct rows node[start:stop], and the index of each row among them."""
    first = np.concatenate([[0], np.cumsum(stop - start)]).astype(np.int64)
    row = np.repeat(np.arange(len(start)), stop - start)
    entries = start[row] + np.arange(first[-1]) - first[row]
    return one_of_each(Walks(first, node[entries].astype(np.int32)))


def _without_loops(first: _Ints, node: _Ints, copies: _Ints) -> tuple[_Ints, _Ints]:
    """Remove loops from a multicast switch back into it; return rows and nodes."""
    path = np.repeat(np.arange(len(first) - 1), np.diff(first))
    visits = (path * len(copies) + node)[copies[node]]
    if (np.diff(np.sort(visits)) != 0).all():  # np.unique loads numpy.ma, for longer than that
        return first, node
    rows: list[list[int]] = []
    for start, stop in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        row: list[int] = []
        for v in node[start:stop].tolist():
            if copies[v] and v in row:
                del row[row.index(v) :]
            row.append(v)
        rows.append(row)
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return starts, np.concatenate([np.array(row, dtype=np.int32) for row in rows])


# --- what it saves -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Traffic:
    """Traffic over the links of one class without and with multicast.

    Parameters
    ----------
    before, after : Fraction
        Bytes over all links of the class together, per byte of data (in all, over all GPUs).
    """

    links: LinkClass
    before: Fraction
    after: Fraction

    @property
    def factor(self) -> Fraction | None:
        """Traffic after over traffic before, from 0 to 1; None where there was none."""
        return self.after / self.before if self.before else None

    def as_facts(self) -> dict[str, object]:
        """Return the fields and the factor, for :mod:`forestcoll.cli.facts`."""
        amounts = {"before": self.before, "after": self.after, "factor": self.factor}
        return {"links": self.links, **amounts}

    def __str__(self) -> str:
        if self.factor is None:
            return f"{self.links}: no traffic"
        share = "unchanged" if self.factor == 1 else f"{decimal(100 * self.factor, 4)} %"
        amounts = f"{decimal(self.before)} -> {decimal(self.after)}"
        return f"{self.links}: {amounts} bytes per byte of data ({share})"


def traffic(
    before: Forest, after: MulticastForest, planes: Planes | None = None
) -> tuple[Traffic, ...]:
    """Compare the traffic over every class of links, largest bandwidth first.

    Raises VerificationError if the paths of the forest use a link that its topology does not have.

    Parameters
    ----------
    after : MulticastForest
        The result of :func:`multicast`.
    planes : Planes, optional
        If both forests are on its merged network: the classes are those of the real network.
    """
    topology, trees = before.topology, sum(before.weights) * before.k
    loads = cost(before).loads if len(before.routes.tail) else (0,) * len(topology.links)
    old: dict[tuple[int, int], Fraction] = {}
    new: dict[tuple[int, int], Fraction] = {}
    spread = unmerged(topology) if planes is None else planes
    for share, load, less in zip(spread.link_shares(), loads, after.loads(), strict=True):
        for i, part in share:
            link = spread.topology.links[i]
            old[link.tail, link.head] = load * part
            new[link.tail, link.head] = less * part

    def bytes_over(loads: dict[tuple[int, int], Fraction], group: tuple[Link, ...]) -> Fraction:
        return sum((loads[link.tail, link.head] for link in group), Fraction(0)) / trees

    real = spread.topology
    groups = link_groups(real, real.links)
    return tuple(
        Traffic(kind, bytes_over(old, group), bytes_over(new, group))
        for kind, group in zip(link_classes(real, real.links), groups, strict=True)
    )
