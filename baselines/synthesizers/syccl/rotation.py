"""Schedules of sketches: each sketch rotated to every root, with its share of the data.

Problem: a collective of all GPUs from a few trees of one of them.
Input:   a cluster, sketches, and their whole-numbered shares of every shard.
Output:  chunks and transfers of an allgather or an all-to-all.
Cost:    N (N - 1) transfers for each sketch; in an all-to-all times the depth at most.
Source:  Cao et al., SyCCL (SIGCOMM 2025), by public descriptions: the sketch of a root is that of
         the first root under a symmetry of the cluster.

In an all-to-all the shard for a GPU follows the way from the root to it in the sketch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from baselines.building.demanded_chunks import equal_parts
from baselines.synthesizers.syccl.layers import Cluster
from baselines.synthesizers.syccl.sub_demands import Solved
from baselines.synthesizers.syccl.symmetry_sketch import Sketch
from forestcoll.schedule.sends import Chunks, Sends

__all__ = ["pairs_of", "rotated"]

Numbers = npt.NDArray[np.int64]


def rotated(
    cluster: Cluster, parts: Sequence[tuple[Sketch, Solved]], shares: Sequence[int], kind: str
) -> tuple[Chunks, Sends]:
    """Rotate sketches to every root.

    Parameters
    ----------
    parts : sequence of pairs
        Sketches, each with the solutions of its sub-demands; without one, a source sends to its
        destinations itself.
    shares : sequence of int
        Units of every shard, or of every pair's part, that each sketch carries.
    kind : str
        "allgather" or "all-to-all".
    """
    chunks = [_chunks(cluster.places, share, sum(shares), kind) for share in shares]
    sends = [_sends(cluster, sketch, solved, kind) for sketch, solved in parts]
    starts = np.cumsum([0, *map(len, chunks[:-1])]).tolist()
    step, chunk, tail, head = (
        np.concatenate(column)
        for column in zip(
            *((s, c + start, t, h) for (s, c, t, h), start in zip(sends, starts, strict=True)),
            strict=True,
        )
    )
    every = Chunks(
        size=np.concatenate([one.size for one in chunks]),
        whole=chunks[0].whole,
        root=np.concatenate([one.root for one in chunks]),
        target=np.concatenate([one.target for one in chunks]),
    )
    return every, Sends.sorted(step, chunk, tail, head)


def pairs_of(cluster: Cluster, parts: Sequence[tuple[Sketch, Solved]]) -> Iterator[tuple[int, int]]:
    """Yield the ranks of all senders and receivers, each pair once, in order."""
    met = np.zeros((cluster.places, cluster.places), dtype=np.bool_)
    image = cluster.rank[cluster.rotations()]
    for shift in sorted(
        {shift for sketch, _ in parts for shift in cluster.shifts(sketch.tail, sketch.head)}
    ):
        met[image[:, 0], image[:, shift]] = True
    for solved in {id(solved): solved for _, solved in parts}.values():
        for tail, head in solved.pairs(cluster):
            met[cluster.rank[tail], cluster.rank[head]] = True
    return ((int(tail), int(head)) for tail, head in np.argwhere(met))


def _chunks(gpus: int, share: int, whole: int, kind: str) -> Chunks:
    """Return the chunks of one sketch, by root, in an all-to-all by root and target."""
    if kind == "allgather":
        return Chunks.equal(np.arange(gpus), whole=gpus * whole, size=share)
    parts = equal_parts(gpus, units=share)
    return Chunks(parts.size, gpus * whole, parts.root, parts.target)


def _sends(
    cluster: Cluster, sketch: Sketch, solved: Solved, kind: str
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return step, chunk, tail and head of the transfers of one sketch from all roots."""
    rank = cluster.rank.astype(np.int64)
    if kind == "allgather":
        root, step, tail, head = solved.transfers(cluster, sketch)
        return step, rank[root], rank[tail], rank[head]
    image = rank[cluster.rotations()]  # by place of the root, and place in the sketch
    which, target = _ways(sketch)
    steps, tails, heads = (np.array(x) for x in (sketch.step, sketch.tail, sketch.head))
    roots, goal = image[:, :1], image[:, target]
    chunk = roots * (cluster.places - 1) + goal - (goal > roots)
    when = np.broadcast_to(steps[which], chunk.shape)
    parts = (when, chunk, image[:, tails[which]], image[:, heads[which]])
    step, chunk, tail, head = (part.ravel() for part in parts)
    return step, chunk, tail, head


def _ways(sketch: Sketch) -> tuple[Numbers, Numbers]:
    """Return the transfers on the way to each place, with the place, in any order."""
    into, tails = sketch.entry(), np.array([*sketch.tail])
    place = np.arange(1, len(into))
    at, which, target = place, [], []
    while len(at):
        edge = into[at]
        which.append(edge)
        target.append(place)
        at = tails[edge]
        place, at = place[at > 0], at[at > 0]
    return np.concatenate(which), np.concatenate(target)
