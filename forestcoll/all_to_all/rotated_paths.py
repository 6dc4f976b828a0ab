"""Paths of one source in flat arrays, and their images for the other sources of its orbit.

Problem: on a symmetric network the paths of every source are those of one, rotated; write them for
         a thousand sources without an object for each.
Input:   the paths of a source with their weights; a symmetry that carries it to each other source.
Output:  the loads of all links, before any path is written; the paths of all, in rows.
Cost:    one pass over the links, or over the paths, for each source.
Source:  ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.forest import Routes
from forestcoll.topology.model import Topology

__all__ = ["PathFamily", "loads_of", "routes_of"]

Ints = npt.NDArray[np.int64]

_MOST_LOAD = 2**62
"""Loads up to it are added in 64 bits."""


@dataclass(frozen=True, slots=True)
class PathFamily:
    """The paths of one source, and the sources that have images of them.

    Parameters
    ----------
    images : dict
        For the node of each source, the symmetry that makes its paths: the image of each node.
    target : int64 array
        Of each path, the node where it ends.
    weight : int64 array
        Of each path, from 1 up.
    first_hop, hop : int64 arrays
        Path j visits ``hop[first_hop[j]:first_hop[j + 1]]``, both ends included.
    """

    images: Mapping[int, Ints] = field(repr=False)
    target: Ints = field(repr=False)
    weight: Ints = field(repr=False)
    first_hop: Ints = field(repr=False)
    hop: Ints = field(repr=False)

    @classmethod
    def of(cls, images: Mapping[int, Ints], paths: Sequence[tuple[int, ...]]) -> PathFamily:
        """Put the nodes of paths into arrays; each path gets the weight 1."""
        return cls(
            images,
            np.array([nodes[-1] for nodes in paths], dtype=np.int64),
            np.ones(len(paths), dtype=np.int64),
            np.cumsum([0, *map(len, paths)], dtype=np.int64),
            np.array([node for nodes in paths for node in nodes], dtype=np.int64),
        )

    def weighted(self, weights: Sequence[int]) -> PathFamily:
        """Give each path a weight; paths of weight 0 are left out."""
        weight = np.array(weights, dtype=np.int64)
        if weight.all():
            return replace(self, weight=weight)
        used, length = weight > 0, np.diff(self.first_hop)
        return PathFamily(
            self.images,
            self.target[used],
            weight[used],
            np.concatenate([[0], np.cumsum(length[used])]),
            self.hop[np.repeat(used, length)],
        )


def loads_of(topology: Topology, families: Sequence[PathFamily]) -> list[int] | None:
    """Return the weights over each link; None if their sums do not fit 64 bits."""
    nodes, ends = len(topology.nodes), topology.link_ends
    tail, head = (np.asarray(end, dtype=np.int64) for end in ends)
    known = tail * nodes + head  # sorted, as the links are
    most = sum(
        len(one.images) * sum(one.weight.tolist()) * int(np.diff(one.first_hop).max(initial=0))
        for one in families
    )
    if most > _MOST_LOAD:
        return None
    load = np.zeros(len(known), dtype=np.int64)
    for one in families:
        start = np.delete(np.arange(len(one.hop)), one.first_hop[1:] - 1)
        link = np.searchsorted(known, one.hop[start] * nodes + one.hop[start + 1])
        own = np.zeros(len(known), dtype=np.int64)
        np.add.at(own, link, np.repeat(one.weight, np.diff(one.first_hop) - 1))
        used = np.flatnonzero(own)
        for to in one.images.values():
            # A symmetry carries links to links, each to another.
            load[np.searchsorted(known, to[tail[used]] * nodes + to[head[used]])] += own[used]
    found: list[int] = load.tolist()
    return found


def routes_of(topology: Topology, families: Sequence[PathFamily]) -> Routes:
    """Return the paths of all sources, pairs by their ranks."""
    rank_of = np.full(len(topology.nodes), -1, dtype=np.int64)
    rank_of[list(topology.compute)] = np.arange(topology.num_compute)
    rows: dict[int, tuple[Ints, ...]] = {}
    for one in families:
        for source, to in one.images.items():
            rows[int(rank_of[source])] = _image(one, to, rank_of)
    sources = sorted(rows)
    target, many, weight, length, hop = (
        np.concatenate([rows[source][column] for source in sources]) for column in range(5)
    )
    pairs = [len(rows[source][0]) for source in sources]
    return Routes(
        tail=np.repeat(np.array(sources, dtype=np.int32), pairs),
        head=target.astype(np.int32),
        first_path=np.concatenate([[0], np.cumsum(many)]).astype(np.int64),
        multiplicity=weight,
        first_hop=np.concatenate([[0], np.cumsum(length)]).astype(np.int64),
        hop=hop.astype(np.int32),
    )


def _image(one: PathFamily, to: Ints, rank_of: Ints) -> tuple[Ints, ...]:
    """Return a source's targets, their numbers of paths, and of these weights, lengths, nodes."""
    target = rank_of[to[one.target]]
    order = np.argsort(target, kind="stable")
    length = np.diff(one.first_hop)[order]
    offset = one.first_hop[:-1][order] - (np.cumsum(length) - length)
    place = np.repeat(offset, length) + np.arange(len(one.hop))
    target = target[order]
    new = np.flatnonzero(np.diff(target, prepend=-1))
    many = np.diff(np.append(new, len(target)))
    return target[new], many, one.weight[order], length, to[one.hop[place]]
