"""Division of transfers over several paths into transfers of one path each.

Problem: a transfer that is divided over the paths of its logical link, as several of one path.
Input:   a step schedule; or the routes of two, which may divide the same link differently.
Output:  the same schedule, its transfers cut in exact proportion; the paths of both.
Cost:    linear in the transfers that result; a dictionary of the paths of both.
Source:  ours. The unit of the data becomes as small as the exact cut requires.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.sends import Intervals
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.transform.shards import MOST, finer

__all__ = ["Union", "along_paths", "links_of", "united"]

_Flags = npt.NDArray[np.bool_]
_Numbers = npt.NDArray[np.int64]


def links_of(schedule: StepSchedule) -> _Numbers:
    """Return the logical link of each transfer, by its place in the routes.

    Raises VerificationError if the routes lack the logical link of a transfer.
    """
    sends, routes, nodes = schedule.sends, schedule.routes, len(schedule.topology.nodes)
    known = routes.tail.astype(np.int64) * nodes + routes.head
    wanted = sends.tail.astype(np.int64) * nodes + sends.head
    link = np.searchsorted(known, wanted)
    if not np.array_equal(np.append(known, -1)[link], wanted):
        raise VerificationError(
            "the routes of this schedule have no path for one of its transfers; verify it first"
        )
    return link


def along_paths(schedule: StepSchedule, links: _Flags | None = None) -> StepSchedule:
    """Return the same schedule with a single named path for every transfer over some links.

    A transfer over several paths becomes one for each path. Each takes the path's share of the
    interval, one behind the other. Messages are divided by path.

    Parameters
    ----------
    links : bool array, one entry a logical link, optional
        The links to treat; all if not given.

    Raises
    ------
    UnsupportedError
        If the units that the exact cut requires do not fit 64 bits.
    VerificationError
        If the routes have no path for a transfer.
    """
    routes, sends = schedule.routes, schedule.sends
    link = links_of(schedule)
    cut = sends.paths < 0
    if links is not None:
        cut &= links[link]
    if not cut.any():
        return schedule
    share, total = _shares(routes)
    whole = total[link[cut]]
    # The least factors by which intervals divide into whole units over their paths.
    asked = np.unique(whole // np.gcd(whole, schedule.intervals.amount[cut]))
    schedule = finer(schedule, math.lcm(*asked.tolist()))
    many = np.where(cut, np.diff(routes.first_path)[link], 1)
    which = np.repeat(np.arange(len(sends)), many)
    nth = np.arange(len(which)) - np.repeat(np.cumsum(many) - many, many)
    path = np.where(cut[which], routes.first_path[link[which]] + nth, sends.paths[which])
    rows = schedule.sends.taken(which)
    interval = rows.intervals(schedule.chunks)
    part = np.where(cut, schedule.intervals.amount // total[link], 0)[which]
    end = np.cumsum(share)
    before = (end - share)[path] - (end - share)[routes.first_path[link[which]]]
    interval = Intervals(
        interval.first + part * before,
        np.where(cut[which], part * share[path], interval.amount),
    )
    sends = replace(rows, interval=interval, path=path.astype(np.int32))
    return replace(schedule, sends=sends, clock=_times_of_parts(schedule.clock, which, path))


def _shares(routes: Routes) -> tuple[_Numbers, _Numbers]:
    """Return the coprime multiplicities of each link's paths, and their sums."""
    starts, many = routes.first_path[:-1], np.diff(routes.first_path)
    if not len(many):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    share = routes.multiplicity // np.repeat(np.gcd.reduceat(routes.multiplicity, starts), many)
    if int(share.max()) * len(share) > MOST:
        raise UnsupportedError(
            f"unsupported: paths have multiplicities of up to {share.max()}, whose sums may be "
            f"more than 64-bit numbers count"
        )
    return share, np.add.reduceat(share, starts)


def _times_of_parts(clock: Clock | None, which: _Numbers, path: _Numbers) -> Clock | None:
    """Give each part of a transfer its times; parts of a message on one path stay together."""
    if clock is None:
        return None
    clock = clock.taken(which)
    if (message := clock.message) is not None:
        pair = (message * (path.max() + np.int64(2)) + path + 1)[message >= 0]
        numbers = np.unique(pair, return_inverse=True)[1].reshape(-1)
        message[message >= 0] = numbers.astype(np.int32)
    return clock


@dataclass(frozen=True)
class Union:
    """The paths of two schedules together.

    Parameters
    ----------
    routes : Routes
        Links that both divide alike, or that only one uses, keep their paths. Other links have each
        path once, with multiplicity 1; their transfers must name their paths.
    numbers : tuple of two int32 arrays
        Index in ``routes`` of each path of the one and of the other.
    differ : tuple of two bool arrays
        Whether the two divide a link differently, for each link of the one and of the other.
    """

    routes: Routes
    numbers: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
    differ: tuple[_Flags, _Flags]


_Ways = dict[tuple[int, ...], int]


def united(one: Routes, other: Routes) -> Union:
    """Return the union of the paths of two schedules."""
    phases = _ways(one), _ways(other)
    routes: dict[tuple[int, int], list[Path]] = {}
    differ = set()
    for link in phases[0].keys() | phases[1].keys():
        ways, others = (phase.get(link) for phase in phases)
        if ways is None or others is None or _reduced(ways) == _reduced(others):
            routes[link] = [Path(*way) for way in (ways or others or {}).items()]
        else:
            differ.add(link)
            routes[link] = [Path(way, 1) for way in {**ways, **others}]
    place = {
        (link, path.nodes): number
        for number, (link, path) in enumerate(
            (link, path) for link in sorted(routes) for path in routes[link]
        )
    }
    return Union(
        Routes.from_paths(routes),
        (_places(one, place), _places(other, place)),
        (_among(one, differ), _among(other, differ)),
    )


def _ways(routes: Routes) -> dict[tuple[int, int], _Ways]:
    found: dict[tuple[int, int], _Ways] = {}
    for link, paths in routes.paths().items():
        ways = found.setdefault(link, {})
        for path in paths:
            ways[path.nodes] = ways.get(path.nodes, 0) + path.multiplicity
    return found


def _reduced(ways: _Ways) -> _Ways:
    divisor = math.gcd(*ways.values())
    return {way: amount // divisor for way, amount in ways.items()}


def _places(routes: Routes, place: dict[Any, int]) -> npt.NDArray[np.int32]:
    numbers = [place[link, path.nodes] for link, some in routes.paths().items() for path in some]
    return np.array(numbers, dtype=np.int32)


def _among(routes: Routes, links: set[tuple[int, int]]) -> _Flags:
    pairs = zip(routes.tail.tolist(), routes.head.tolist(), strict=True)
    return np.array([pair in links for pair in pairs], dtype=np.bool_)
