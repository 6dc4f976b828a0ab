"""Independent link loads and times of step schedules.

Problem: over the links and shared capacities e, t(s, e) seconds in step s for a gigabyte of data:
         pipelined, max over e of the sum over s of t(s, e); in steps, the sum over s of max over e
         of t(s, e).
Input:   a step schedule whose paths and steps were proved; the logical link of each transfer and
         the physical link of each hop.
Output:  both times, exact, and the link that is busy for longest.
Cost:    linear in the hops of the transfers.
Source:  T_B of Zhao et al. (BFB, NSDI 2025) section 3; ForestColl section 2 for pipelined time.

Part of :func:`forestcoll.schedule.verify`: no code is shared with :func:`forestcoll.schedule.cost`.
All transfers of a block of steps are spread at once over a table of times, step by link.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["StepTimes", "time_steps"]

_CELLS = 2**22
"""Entries of the table of times that is held at once."""

_TRANSFERS = 2**20
"""Entries spread over the table at once."""

_Numbers = npt.NDArray[Any]
"""int64 where all sums of them fit, else Python ints."""


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Seconds for one gigabyte of data, latencies left out.

    Parameters
    ----------
    pipelined_s_per_gb, synchronous_s_per_gb : Fraction
    busiest_link : tuple of str, optional
        Tail and head of the (first) link that is busy for longest in all, or the name of a shared
        capacity; None if nothing is sent.
    """

    pipelined_s_per_gb: Fraction
    synchronous_s_per_gb: Fraction
    busiest_link: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class _Use:
    """Links that a transfer occupies on its path, and for how long.

    Parameters
    ----------
    first : int array of length W + 1
        Way i has rows ``first[i]`` to ``first[i + 1]``; it is a logical link, or behind these a
        path by itself.
    link : int array
        Of each row, the physical link, or behind all of these a shared capacity.
    time : array
        Of each row, the time for a unit of data.
    units : int
        How many of these times are one second for one gigabyte that is one unit.
    """

    first: Ints
    link: Ints
    time: _Numbers
    units: int


def time_steps(schedule: StepSchedule, way: Ints, hops: Ints) -> StepTimes:
    """Add up how long each link is busy in each step.

    Parameters
    ----------
    schedule : StepSchedule
        Its steps are sorted, without gaps.
    way : int array of length T
        The way of every transfer: a logical link by its place in the routes, or behind these a path
        by its place.
    hops : int array
        The physical link of every hop of the paths, by its place in the topology.
    """
    if not len(schedule.sends):
        return StepTimes(Fraction(0), Fraction(0), None)
    if schedule.num_steps == 1 and (only := _time_of_one_step(schedule, way, hops)) is not None:
        return only
    use, links = _use(schedule, hops), schedule.topology.links
    busy_things = len(links) + len(schedule.topology.shared)
    carried = schedule.intervals.amount
    unit = int(np.gcd.reduce(carried))
    size = carried // unit
    longest = int(use.time.max()) * int(np.diff(use.first).max())
    kind = _kind(int(size.max()) * longest * len(schedule.sends))
    size, time = size.astype(kind), use.time.astype(kind)
    busy, stepwise = np.zeros(busy_things, dtype=kind), 0
    for steps, pieces in _blocks(schedule.sends.step, busy_things):
        table = np.zeros((len(steps), busy_things), dtype=kind)
        for piece in pieces:
            row, transfer = _rows(use.first, way[piece])
            step = schedule.sends.step[piece][transfer] - steps.start
            amount = size[piece][transfer]
            np.add.at(table, (step, use.link[row]), amount * time[row])
        busy += table.sum(axis=0)
        stepwise += int(table.max(axis=1).sum())
    second = schedule.chunks.whole * use.units
    return StepTimes(
        pipelined_s_per_gb=Fraction(int(busy.max()) * unit, second),
        synchronous_s_per_gb=Fraction(stepwise * unit, second),
        busiest_link=_name(schedule, int(busy.argmax())),
    )


def _time_of_one_step(schedule: StepSchedule, way: Ints, hops: Ints) -> StepTimes | None:
    """Add up the loads by the number of parts into which a logical link divides its data.

    So all sums but the last fit 64 bits; None if they do not, or the table would be too large.
    """
    routes, topology = schedule.routes, schedule.topology
    logical, links, lengths = len(routes.tail), len(topology.links), np.diff(routes.first_hop) - 1
    starts, many = routes.first_path[:-1], np.diff(routes.first_path)
    trees = routes.multiplicity // np.repeat(np.gcd.reduceat(routes.multiplicity, starts), many)
    carried = schedule.intervals.amount.astype(np.int64)
    biggest = int(trees.max()) * int(carried.max())
    if biggest * len(schedule.sends) * max(len(hops), len(trees)) >= 2**63:
        return None
    sent = np.zeros(logical + len(trees), dtype=np.int64)
    np.add.at(sent, way, carried)
    parts, number = np.unique(np.add.reduceat(trees, starts), return_inverse=True)
    if len(parts) * links > max(_CELLS, len(hops)):
        return None
    path_sent = np.repeat(sent[:logical], many) * trees
    cell = np.repeat(np.repeat(number * links, many), lengths) + hops
    table = np.zeros((len(parts), links), dtype=np.int64)
    np.add.at(table.reshape(-1), cell, np.repeat(path_sent, lengths))
    # In whole numbers: an amount of 1 is a whole of these parts.
    whole = math.lcm(*parts.tolist())
    loads = [0] * links
    for part, row in zip(parts.tolist(), table.tolist(), strict=True):
        loads = [load + whole // part * more for load, more in zip(loads, row, strict=True)]
    if sent[logical:].any():
        alone = np.zeros(links, dtype=np.int64)
        np.add.at(alone, hops, np.repeat(sent[logical:], lengths))
        loads = [load + whole * more for load, more in zip(loads, alone.tolist(), strict=True)]
    number_of = {(link.tail, link.head): i for i, link in enumerate(topology.links)}
    busy = [load / link.bandwidth_gb_s for load, link in zip(loads, topology.links, strict=True)]
    for group in topology.shared:  # data that passes two links of a group loads it twice
        busy.append(sum(loads[number_of[ends]] for ends in group.links) / group.bandwidth_gb_s)
    longest = max(busy)
    time = longest / (whole * schedule.chunks.whole)
    return StepTimes(time, time, _name(schedule, busy.index(longest)))


def _name(schedule: StepSchedule, number: int) -> tuple[str, ...]:
    """Name a link by its ends, or a shared capacity, whose numbers come behind the links'."""
    topology = schedule.topology
    if number >= len(topology.links):
        return (topology.shared[number - len(topology.links)].name,)
    link = topology.links[number]
    return topology.nodes[link.tail].name, topology.nodes[link.head].name


def _kind(most: int) -> Any:
    """Return a type of numbers in which nothing up to ``most`` overflows."""
    return np.int64 if most < 2**63 else object


def _use(schedule: StepSchedule, hops: Ints) -> _Use:
    """Lay the hops of all paths out by logical link, with the time that each takes."""
    routes, topology = schedule.routes, schedule.topology
    hops, rows_of_hop = _with_groups(topology, hops)
    trees, starts = routes.multiplicity.astype(np.int64), routes.first_path[:-1]
    of_path = np.repeat(np.arange(len(starts)), np.diff(routes.first_path))
    trees = trees // np.gcd.reduceat(trees, starts)[of_path]
    together = np.add.reduceat(trees.astype(object), starts)
    whole = math.lcm(*set(together.tolist()))
    apiece = whole // together  # of a logical link: what a tree of it counts for
    widths = [link.bandwidth_gb_s for link in topology.links]
    widths += [group.bandwidth_gb_s for group in topology.shared]
    per = math.lcm(*{width.numerator for width in widths})
    slow = [int(per / width) for width in widths]
    kind = _kind(whole * max(slow))
    ends_of_hops = np.concatenate([[0], np.cumsum(rows_of_hop)])
    paths = np.arange(len(routes.first_hop))
    lengths = np.diff(ends_of_hops[routes.first_hop - paths])
    share = trees.astype(kind) * apiece.astype(kind)[of_path]
    slowness = np.array(slow, dtype=kind)[hops]
    divided, alone = np.repeat(share, lengths) * slowness, slowness * whole
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return _Use(
        first=np.concatenate([ends[routes.first_path], ends[-1] + ends[1:]]),
        link=np.concatenate([hops, hops]),
        time=np.concatenate([divided, alone]),
        units=whole * per,
    )


def _with_groups(topology: Topology, hops: Ints) -> tuple[Ints, Ints]:
    """Insert behind each hop the shared capacities of its link; return how many rows each has.

    They are numbered behind the links. Data that passes two links of a group loads it twice.
    """
    number = {(link.tail, link.head): i for i, link in enumerate(topology.links)}
    rows: list[list[int]] = [[i] for i in range(len(topology.links))]
    for place, group in enumerate(topology.shared, start=len(topology.links)):
        for ends in group.links:
            rows[number[ends]].append(place)
    many = np.array([len(row) for row in rows], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(many)])
    flat = np.array([place for row in rows for place in row], dtype=np.int64)
    row, _ = _rows(first, hops)
    return flat[row], many[hops]


def _blocks(step: Ints, links: int) -> Iterator[tuple[range, list[slice]]]:
    """Yield some steps, and in pieces the transfers that are in them."""
    last, many = int(step[-1]) + 1, max(1, _CELLS // links)
    for first in range(0, last, many):
        steps = range(first, min(first + many, last))
        start, end = np.searchsorted(step, (steps.start, steps.stop)).tolist()
        cuts = [*range(start, end, _TRANSFERS), end]
        yield steps, [slice(*ends) for ends in pairwise(cuts)]


def _rows(first: Ints, link: Ints) -> tuple[Ints, Ints]:
    """Return the rows of each of these logical links, and whose they are, by its place."""
    count = first[link + 1] - first[link]
    owner = np.repeat(np.arange(len(link)), count)
    begins = np.cumsum(count) - count
    return np.arange(len(owner)) - begins[owner] + first[link][owner], owner
