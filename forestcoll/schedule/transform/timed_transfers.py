"""Schedules of every kind as timed transfers over one path each.

Problem: the search for dependencies should handle one kind of schedule only.
Input:   a forest, also of physical trees, a step schedule, or the flows of an all-to-all.
Output:  its chunks, its transfers in columns, its paths.
Cost:    a sort of the tree edges of a forest by their links; linear for all others.
Source:  ours. Times are those of the schedule; a forest goes hop by hop, as in
         :func:`forestcoll.schedule.lockstep`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule.exact_sums import exact
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.transform.shards import MOST, by_shards
from forestcoll.schedule.transform.single_paths import along_paths

__all__ = [
    "Plan", "Transfers", "in_windows", "of_flows", "of_forest", "of_multicast", "of_steps",
    "refined",
]  # fmt: skip

_Numbers = npt.NDArray[np.int64]
_Places = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Transfers:
    """Transfers in columns, as in :class:`forestcoll.schedule.program.Program`.

    ``start`` and ``finish`` are int64 arrays of times: steps, or ticks of a clock.
    """

    chunk: _Places
    first: _Numbers
    amount: _Numbers
    tail: _Places
    head: _Places
    path: _Places
    reduce: npt.NDArray[np.bool_]
    start: _Numbers
    finish: _Numbers
    message: _Places

    def __len__(self) -> int:
        return len(self.chunk)

    def taken(self, which: _Numbers) -> Transfers:
        """Return some of the transfers, in the order given."""
        return Transfers(*(getattr(self, column.name)[which] for column in fields(self)))

    @classmethod
    def joined(cls, one: Transfers, other: Transfers) -> Transfers:
        """Concatenate transfers."""
        columns = (column.name for column in fields(cls))
        return cls(*(np.concatenate([getattr(one, c), getattr(other, c)]) for c in columns))


@dataclass(frozen=True)
class Plan:
    """The transfers of a schedule, with its chunks and paths."""

    chunks: Chunks
    transfers: Transfers
    paths: Walks


def of_forest(forest: Forest) -> Plan:
    """Send every tree hop by hop, each unit of an edge over one path.

    The trees over a link, batch after batch, fill its paths in order.

    Raises
    ------
    UnsupportedError
        If there are too many trees to number them in 64 bits.
    VerificationError
        If a link's numbers of paths and trees differ.
    """
    chunks, chunk, first = _data(forest)
    batch, child = np.nonzero(forest.parent >= 0)
    depth = forest.depths()
    start = depth[batch, child].astype(np.int64) - 1
    parent = forest.parent[batch, child]
    tail, head = (child.astype(np.int32), parent)[:: 1 if forest.reduction else -1]
    edge, offset, amount, path = _by_path(forest.routes, forest, batch, tail, head)
    if forest.reduction:
        start = int(depth.max(initial=0)) - 1 - start
    which = batch[edge]
    transfers = _copies(
        chunk[which], first[which] + offset, amount, tail[edge], head[edge], path, start[edge]
    )
    transfers = replace(transfers, reduce=np.full(len(transfers), forest.reduction))
    return Plan(chunks, transfers, _walks(forest.routes))


def _by_path(
    routes: Routes, forest: Forest, batch: _Numbers, tail: _Places, head: _Places
) -> tuple[_Numbers, _Numbers, _Numbers, _Numbers]:
    """Cut tree edges where paths change; return edge, first tree, number and path of each part."""
    gpus = forest.topology.num_compute
    known = routes.tail.astype(np.int64) * gpus + routes.head
    link = np.searchsorted(known, tail.astype(np.int64) * gpus + head)
    order = np.argsort(link, kind="stable")
    trees = exact(forest.multiplicity, len(batch))[batch[order]]
    carried = exact(routes.multiplicity, len(routes.multiplicity))
    end, upto = np.cumsum(trees), np.concatenate([[0], np.cumsum(carried)])
    last = np.searchsorted(link[order], np.arange(len(known)), side="right")
    total = np.concatenate([[0], end])[last]
    if not np.array_equal(total, upto[routes.first_path[1:]]):
        raise VerificationError(
            "a logical link of this schedule has not as many paths as trees; verify it first"
        )
    if len(end) and int(end[-1]) > MOST:
        raise UnsupportedError("unsupported: the trees over all links are more than 2^63 - 1")
    begin = (end - trees).astype(np.int64)
    end, upto = end.astype(np.int64), upto.astype(np.int64)
    near = np.searchsorted(upto, begin, side="right") - 1
    many = np.searchsorted(upto, end, side="left") - near
    which = np.repeat(np.arange(len(order)), many)
    path = near[which] + _places(many)
    low = np.maximum(begin[which], upto[path])
    high = np.minimum(end[which], upto[path + 1])
    return order[which], low - begin[which], high - low, path


def of_multicast(forest: MulticastForest, *, loopback: bool = True) -> Plan:
    """Send every physical tree walk by walk, with loopback or without.

    A GPU keeps its own part of a sum, so the switch does not add what loopback sends to it. Raises
    UnsupportedError if there are too many trees to number them in 64 bits.
    """
    chunks, chunk, first = _data(forest)
    batch = np.repeat(np.arange(forest.num_batches), np.diff(forest.first_walk))
    end_of = np.argsort(np.array(forest.topology.ends))
    start = forest.depths().astype(np.int64) - 1
    if forest.reduction:
        start = int(start.max(initial=0)) - start
    walk, looped = forest.walk, forest.loopback
    tail, head = end_of[forest.walks.tail[walk]], end_of[forest.walks.head[walk]]
    amount = forest.multiplicity[batch]
    transfers = _copies(chunk[batch], first[batch], amount, tail, head, walk, start)
    transfers = replace(transfers, reduce=~looped & forest.reduction)
    return Plan(
        chunks, transfers if loopback else transfers.taken(np.flatnonzero(~looped)), forest.walks
    )


def of_flows(schedule: FlowSchedule) -> Plan:
    """Send the parts of every pair's data over their paths, from GPU to GPU.

    A GPU on a path stores what it forwards: no runtime sends through it.
    """
    routes, topology = schedule.routes, schedule.topology
    pair = np.repeat(np.arange(len(routes.tail)), np.diff(routes.first_path))
    end = np.cumsum(exact(routes.multiplicity, len(pair)))
    before = end - routes.multiplicity
    first = (before - before[routes.first_path[pair]]).astype(np.int64)
    gpus, demand = topology.num_compute, schedule.demand
    chunks = Chunks(
        size=np.add.reduceat(routes.multiplicity, routes.first_path[:-1]),
        whole=schedule.whole * (gpus if demand is None else demand.bytes),
        root=routes.tail.astype(np.int32),
        target=routes.head.astype(np.int32),
    )
    rank = np.full(len(topology.nodes), -1, dtype=np.int32)
    rank[list(topology.compute)] = np.arange(gpus)
    stop = np.flatnonzero(rank[routes.hop] >= 0)  # places of GPUs on the paths, ends included
    path = np.searchsorted(routes.first_hop, stop, side="right") - 1
    leg = np.flatnonzero(path[1:] == path[:-1])
    near, far, path = stop[leg], stop[leg + 1], path[leg]
    turn = _places(np.bincount(path, minlength=len(pair)))
    transfers = _copies(
        pair[path],
        first[path],
        routes.multiplicity[path],
        rank[routes.hop[near]],
        rank[routes.hop[far]],
        np.arange(len(leg)),
        turn,
    )
    length = far - near + 1
    first_hop = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    hop = routes.hop[np.repeat(near, length) + _places(length)]
    return Plan(chunks, transfers, Walks(first_hop, hop))


def of_steps(schedule: StepSchedule) -> Plan:
    """Cut the transfers of a step schedule over their paths.

    Raises UnsupportedError if the units that the exact cut requires do not fit 64 bits.
    """
    schedule = along_paths(schedule)
    if schedule.collective != "allreduce":
        schedule = by_shards(schedule)
    sends, clock, interval = schedule.sends, schedule.clock, schedule.intervals
    start = sends.step.astype(np.int64) if clock is None else clock.start
    transfers = _copies(
        sends.chunk, interval.first, interval.amount, sends.tail, sends.head, sends.paths, start
    )
    transfers = replace(transfers, reduce=sends.reduce)
    if clock is not None:
        transfers = replace(transfers, finish=clock.end.astype(np.int64))
        if clock.message is not None:
            transfers = replace(transfers, message=clock.message.astype(np.int32))
    return Plan(schedule.chunks, transfers, _walks(schedule.routes))


def refined(plan: Plan, factor: int) -> Plan:
    """Return the same transfers with their unit of the data divided by a factor.

    Raises UnsupportedError if the sizes of the chunks then no longer fit 64 bits.
    """
    chunks, transfers = plan.chunks, plan.transfers
    if factor == 1:
        return plan
    if int(chunks.size.max(initial=0)) * factor > MOST:
        raise UnsupportedError(
            f"unsupported: the data would have to be cut into {chunks.whole * factor} parts, more "
            f"than 64-bit numbers count; use fewer pipeline chunks, or sizes with fewer digits"
        )
    return replace(
        plan,
        chunks=replace(chunks, size=chunks.size * factor, whole=chunks.whole * factor),
        transfers=replace(
            transfers, first=transfers.first * factor, amount=transfers.amount * factor
        ),
    )


def in_windows(plan: Plan, pipeline_chunks: int) -> Plan:
    """Cut every chunk into equal windows, one per pipeline chunk, and transfers at their borders.

    The parts of a message that lie in one window stay together. Raises UnsupportedError if the
    required unit does not fit 64 bits.
    """
    divisor = int(np.gcd.reduce(plan.chunks.size)) if len(plan.chunks) else 1
    plan = refined(plan, pipeline_chunks // int(np.gcd(divisor, pipeline_chunks)))
    if pipeline_chunks == 1:
        return plan
    transfers = plan.transfers
    width = (plan.chunks.size // pipeline_chunks)[transfers.chunk]
    end = transfers.first + transfers.amount
    near = transfers.first // width
    many = (end - 1) // width - near + 1
    which = np.repeat(np.arange(len(transfers)), many)
    window = near[which] + _places(many)
    low = np.maximum(transfers.first[which], window * width[which])
    high = np.minimum(end[which], (window + 1) * width[which])
    rows = transfers.taken(which)
    alone = rows.message < 0
    # Each window of a message is a message of its own.
    message = np.unique(rows.message * np.int64(pipeline_chunks) + window, return_inverse=True)[1]
    message = np.where(alone, -1, message.reshape(-1))
    rows = replace(rows, first=low, amount=high - low, message=message.astype(np.int32))
    return replace(plan, transfers=rows)


def _data(forest: Forest | MulticastForest) -> tuple[Chunks, _Numbers, _Numbers]:
    """Return the shards of a forest, and the shard of each batch with its place there."""
    weights = forest.weights
    if sum(weights) * forest.k > MOST:
        raise UnsupportedError(
            f"unsupported: {sum(weights) * forest.k} trees are more than 64-bit numbers count; use "
            f"a smaller k"
        )
    weight = np.array(weights, dtype=np.int64)
    roots = np.flatnonzero(weight)
    chunks = Chunks(
        size=weight[roots] * forest.k,
        whole=sum(weights) * forest.k,
        root=roots.astype(np.int32),
        target=np.full(len(roots), -1, dtype=np.int32),
    )
    order = np.argsort(forest.root, kind="stable")
    trees = forest.multiplicity[order]
    before = np.cumsum(trees) - trees
    shard = np.searchsorted(roots, forest.root)
    at_root = np.searchsorted(forest.root[order], forest.root[order])
    first = np.empty(len(order), dtype=np.int64)
    first[order] = before - before[at_root]
    return chunks, shard, first


def _copies(
    chunk: npt.ArrayLike,
    first: npt.ArrayLike,
    amount: npt.ArrayLike,
    tail: npt.ArrayLike,
    head: npt.ArrayLike,
    path: npt.ArrayLike,
    start: _Numbers,
) -> Transfers:
    """Return copying transfers of one step each, without shared messages."""
    what, begin, end, way = (np.asarray(a, dtype=np.int32) for a in (chunk, tail, head, path))
    low, many = (np.asarray(a, dtype=np.int64) for a in (first, amount))
    adds, alone = np.zeros(len(what), dtype=np.bool_), np.full(len(what), -1, dtype=np.int32)
    return Transfers(what, low, many, begin, end, way, adds, start, start + 1, alone)


def _walks(routes: Routes) -> Walks:
    return Walks(routes.first_hop, routes.hop)


def _places(many: _Numbers) -> _Numbers:
    """Count from 0 up in every row, given the lengths of rows."""
    return np.asarray(np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many))
