"""Common units and chunks for two step schedules of the same data.

Problem: two schedules may cut the same data into different chunks, in different units.
Input:   step schedules.
Output:  the same schedules in a common unit, or with one chunk for each shard.
Cost:    linear in the transfers.
Source:  ours. The *shard* of a root is all data that it has at first, or gets at last: its chunks
         in the order of their list. In an all-to-all, a shard is the data of one GPU for another.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from forestcoll.errors import UnsupportedError
from forestcoll.schedule.exact_sums import exact
from forestcoll.schedule.sends import Chunks, Intervals
from forestcoll.schedule.steps import StepSchedule

__all__ = ["MOST", "by_shards", "finer", "with_one_cut"]

MOST = 2**63 - 1
"""Largest int64."""


def finer(schedule: StepSchedule, factor: int) -> StepSchedule:
    """Return the same schedule with its unit of the data divided by a factor.

    Raises UnsupportedError if the sizes of the chunks then no longer fit 64 bits.
    """
    if factor == 1:
        return schedule
    chunks, interval = schedule.chunks, schedule.sends.interval
    if int(chunks.size.max(initial=0)) * factor > MOST:
        raise UnsupportedError(
            f"unsupported: the data would have to be cut into {chunks.whole * factor} parts, more "
            f"than 64-bit numbers count; use multiplicities or sizes with fewer digits"
        )
    if interval is not None:
        interval = Intervals(interval.first * factor, interval.amount * factor)
    return replace(
        schedule,
        chunks=replace(chunks, size=chunks.size * factor, whole=chunks.whole * factor),
        sends=replace(schedule.sends, interval=interval),
    )


def by_shards(schedule: StepSchedule) -> StepSchedule:
    """Return the same schedule with one chunk for each shard; transfers carry intervals of it.

    Shards are sorted by root and target. An allreduce has a single one. Raises UnsupportedError if
    the size of a shard does not fit 64 bits.
    """
    chunks, sends = schedule.chunks, schedule.sends
    owner = chunks.root.astype(np.int64) * (schedule.topology.num_compute + 1) + chunks.target
    _, place, shard = np.unique(owner, return_index=True, return_inverse=True)
    shard = shard.reshape(-1)
    if np.array_equal(shard, np.arange(len(chunks))):
        return schedule
    size = exact(chunks.size, len(chunks))
    order = np.argsort(shard, kind="stable")
    ends = np.cumsum(size[order])
    total = np.zeros(len(place), dtype=size.dtype)
    np.add.at(total, shard, size)
    if int(total.max()) > MOST:
        raise UnsupportedError(
            f"unsupported: a GPU's part of the data is {total.max()} units, more than 64-bit "
            f"numbers count; use sizes with fewer digits"
        )
    before = np.zeros(len(chunks), dtype=np.int64)
    before[order] = ends - size[order] - (np.cumsum(total) - total)[shard[order]]
    interval = schedule.intervals
    return replace(
        schedule,
        chunks=Chunks(
            total.astype(np.int64), chunks.whole, chunks.root[place], chunks.target[place]
        ),
        sends=replace(
            sends,
            chunk=shard[sends.chunk].astype(np.int32),
            interval=Intervals(before[sends.chunk] + interval.first, interval.amount),
        ),
    )


def with_one_cut(one: StepSchedule, other: StepSchedule) -> tuple[StepSchedule, StepSchedule]:
    """Convert two schedules to the same chunks: their own, or shards where these differ.

    Raises UnsupportedError if they give a GPU different parts of the data, or no common unit fits
    64 bits.
    """
    whole = math.lcm(one.chunks.whole, other.chunks.whole)
    one, other = (finer(each, whole // each.chunks.whole) for each in (one, other))
    if _alike(one.chunks, other.chunks):
        return one, other
    one, other = by_shards(one), by_shards(other)
    if not _alike(one.chunks, other.chunks):
        raise UnsupportedError(
            "unsupported: the two schedules give the GPUs different parts of the data; they must "
            "have the same roots and weights"
        )
    return one, other


def _alike(one: Chunks, other: Chunks) -> bool:
    columns = ("size", "root", "target")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in columns)
