"""Proof that the rates of a schedule with a clock never exceed a link's bandwidth.

Problem: at no moment do the rates of the transfers over a link, or over all links of a shared
         capacity, add up to more than its bandwidth.
Input:   a step schedule with a clock, its times in order; the way of every transfer, the physical
         link of every hop.
Output:  nothing, or the first link and moment that ask for too much.
Cost:    a sort of the transfers' hops; exact in whole numbers, of 64 bits where they are enough.
Source:  none; the model is that of :class:`forestcoll.schedule.Clock`.

Part of :func:`forestcoll.schedule.verify`. Times are counted in a common part of a tick and of all
latencies, rates in a common part of all rates and bandwidths.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.clock import Clock
from forestcoll.schedule.exact_sums import Ints, first
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification.naming import fail
from forestcoll.schedule.verification.steps.transfers import send_name

__all__ = ["check_rates"]

_UNIT_BITS = 1024  # of a common unit of rates that is worth having

_Numbers = npt.NDArray[Any]
"""int64 where all of them fit, else Python ints."""


@dataclass(frozen=True, slots=True)
class _Way:
    """Use of links by a kind of transfer.

    Parameters
    ----------
    latency : Fraction
        Of its longest path, in ticks.
    shares : tuple of (int, Fraction, Fraction)
        Physical link, or behind all links a shared capacity; the share of the transfer that takes
        it, and how many ticks later than the first link it does.
    """

    latency: Fraction
    shares: tuple[tuple[int, Fraction, Fraction], ...]


def check_rates(schedule: StepSchedule, clock: Clock, way: Ints, hops: Ints) -> None:
    """Prove that no link is ever asked for more than its bandwidth.

    Parameters
    ----------
    schedule : StepSchedule
    clock : Clock
    way : int array of length T
        The way of every transfer: a logical link, or behind these a path.
    hops : int array
        The physical link of every hop of the paths.
    """
    if not len(way):
        return
    numbers, which = np.unique(way, return_inverse=True)
    loaded = _loaded(schedule)
    ways = [_way(schedule, clock, hops, loaded, number) for number in numbers.tolist()]
    parts = math.lcm(*{time.denominator for each in ways for time in _times(each)})
    start, left = _leaving(schedule, clock, ways, which, parts)
    kinds, kind = _kinds(schedule.intervals.amount, left - start, which)
    rates = _rates(schedule, clock, ways, kinds, parts)
    unit = _unit(schedule, rates)

    shares = [len(each.shares) for each in ways]
    many = np.array(shares)[which]
    send = np.repeat(np.arange(len(way)), many)
    share = np.arange(len(send)) - np.repeat(np.cumsum(many) - many, many)
    at = np.concatenate([[0], np.cumsum(shares)])[which[send]] + share
    flat = [each for one in ways for each in one.shares]
    later = _numbers([int(before * parts) for _, _, before in flat])[at]
    offset = np.concatenate([[0], np.cumsum([len(row) for row in rates])])
    begin = start[send] + later
    use = _Use(
        link=np.array([link for link, _, _ in flat])[at],
        begin=begin,
        end=begin + (left - start)[send],
        rates=[rate for row in rates for rate in row],
        which=offset[kind[send]] + share,
    )
    _check(schedule, use, unit, clock.tick_us / parts)


@dataclass(frozen=True, slots=True)
class _Use:
    """How transfers use physical links: each at one of some rates, from one moment to another."""

    link: Ints
    begin: _Numbers
    end: _Numbers
    rates: list[Fraction]
    which: Ints


def _check(schedule: StepSchedule, use: _Use, unit: int, moment_us: Fraction) -> None:
    """Add up the rates over each link from moment to moment, as so many parts of 1 GB/s."""
    moments, place = np.unique(np.concatenate([use.begin, use.end]), return_inverse=True)
    link, which = np.concatenate([use.link, use.link]), np.concatenate([use.which, use.which])
    order = np.lexsort((place.reshape(-1), link))
    link, place, which = link[order], place.reshape(-1)[order], which[order]
    ends = order >= len(use.link)
    settled = np.append((np.diff(link) != 0) | (np.diff(place) != 0), True)
    find = _too_much_in_fractions if unit.bit_length() > _UNIT_BITS else _too_much
    if (found := find(schedule, _Events(link, which, ends, settled), use.rates, unit)) is not None:
        wrong, carried = found
        name, most = _limit(schedule, int(link[wrong]))
        fail(
            f"{name} carries {carried} GB/s from {int(moments[place[wrong]]) * moment_us} us on; "
            f"its bandwidth is {most} GB/s"
        )


def _limit(schedule: StepSchedule, number: int) -> tuple[str, Fraction]:
    """Name a link or, behind them, a shared capacity, and return its bandwidth."""
    topology = schedule.topology
    if number >= len(topology.links):
        group = topology.shared[number - len(topology.links)]
        return f"shared capacity {group.name!r}", group.bandwidth_gb_s
    over = topology.links[number]
    nodes = " -> ".join(topology.nodes[i].name for i in (over.tail, over.head))
    return f"link {nodes}", over.bandwidth_gb_s


def _bandwidths(schedule: StepSchedule) -> list[Fraction]:
    """Return those of all links, and then of all shared capacities."""
    topology = schedule.topology
    of_links = [link.bandwidth_gb_s for link in topology.links]
    return of_links + [group.bandwidth_gb_s for group in topology.shared]


@dataclass(frozen=True, slots=True)
class _Events:
    """Where links begin or end to carry something, in order of links and times.

    Parameters
    ----------
    link, rate : int arrays
        The physical link or shared capacity, and which of the rates.
    ends : bool array
        Whether it ends.
    settled : bool array
        Whether it is the last one of its link at its time.
    """

    link: Ints
    rate: Ints
    ends: npt.NDArray[np.bool_]
    settled: npt.NDArray[np.bool_]


def _too_much(
    schedule: StepSchedule, events: _Events, rates: list[Fraction], unit: int
) -> tuple[int, Fraction] | None:
    """Return the first event after which a link carries too much, and how much in GB/s."""
    whole = [int(rate * unit) for rate in rates]
    change = _numbers(whole)[events.rate]
    if max(whole) * len(change) >= 2**63:
        change = change.astype(object)
    carried = np.cumsum(np.where(events.ends, -change, change))  # nothing in the end of a link
    limits = _numbers([int(width * unit) for width in _bandwidths(schedule)])
    wrong = first(events.settled & (carried > limits[events.link]))
    return None if wrong is None else (wrong, Fraction(int(carried[wrong]), unit))


def _too_much_in_fractions(
    schedule: StepSchedule, events: _Events, rates: list[Fraction], _: int
) -> tuple[int, Fraction] | None:
    """Do the same with one sum at a time, where a common unit would have thousands of digits."""
    limits, carried = _bandwidths(schedule), Fraction(0)
    rows = zip(events.link, events.rate, events.ends, events.settled, strict=True)
    for event, (link, rate, ends, settled) in enumerate(rows):
        carried += -rates[rate] if ends else rates[rate]
        if settled and carried > limits[link]:
            return event, carried
    return None


def _leaving(
    schedule: StepSchedule, clock: Clock, ways: list[_Way], which: Ints, parts: int
) -> tuple[_Numbers, _Numbers]:
    """Return when the first and the last byte of each transfer leave, in parts of a tick."""
    latency = _numbers([int(each.latency * parts) for each in ways])[which]
    kind = np.int64 if int(clock.end.max()) * parts < 2**62 else object
    start, end = clock.start.astype(kind) * parts, clock.end.astype(kind) * parts
    left = end - latency if clock.left is None else clock.left.astype(kind) * parts
    late = np.asarray((left <= start) | (left + latency > end), dtype=np.bool_)
    if (send := first(late)) is not None:
        due = ways[int(which[send])].latency * clock.tick_us
        fail(f"{send_name(schedule, send)} has no time for the latency of its way, {due} us")
    return start, left


def _kinds(amount: Ints, busy: _Numbers, which: Ints) -> tuple[list[tuple[int, int, int]], Ints]:
    """Return the different (amount, time to leave, way), and which of them each transfer is."""
    long, of_long = np.unique(busy, return_inverse=True)
    much, of_much = np.unique(amount, return_inverse=True)
    rows = np.stack([of_much.reshape(-1), of_long.reshape(-1), which.reshape(-1)])
    kinds, kind = np.unique(rows, axis=1, return_inverse=True)
    found = [(int(much[a]), int(long[b]), way) for a, b, way in kinds.T.tolist()]
    return found, kind.reshape(-1)


def _rates(
    schedule: StepSchedule,
    clock: Clock,
    ways: list[_Way],
    kinds: list[tuple[int, int, int]],
    parts: int,
) -> list[list[Fraction]]:
    """Return the rate of each kind of transfer over each of its links, in GB/s."""
    rates = []
    for amount, busy, way in kinds:
        busy_us = busy * clock.tick_us / parts
        whole = Fraction(amount, schedule.chunks.whole) * clock.size_bytes / (busy_us * 1000)
        rates.append([whole * share for _, share, _ in ways[way].shares])
    return rates


def _unit(schedule: StepSchedule, rates: list[list[Fraction]]) -> int:
    """Return how many parts of 1 GB/s make all rates and bandwidths whole, or far too many."""
    widths = {width.denominator for width in _bandwidths(schedule)}
    unit = math.lcm(*widths)
    for denominator in {rate.denominator for row in rates for rate in row}:
        unit = math.lcm(unit, denominator)
        if unit.bit_length() > _UNIT_BITS:
            break
    return unit


def _loaded(schedule: StepSchedule) -> list[list[int]]:
    """Return for each link what its data loads: itself, and the shared capacities that hold it."""
    topology = schedule.topology
    number = {(link.tail, link.head): i for i, link in enumerate(topology.links)}
    loaded = [[i] for i in range(len(topology.links))]
    for place, group in enumerate(topology.shared, start=len(topology.links)):
        for ends in group.links:
            loaded[number[ends]].append(place)
    return loaded


def _way(
    schedule: StepSchedule, clock: Clock, hops: Ints, loaded: list[list[int]], number: int
) -> _Way:
    """Look up what a logical link, or behind these a path, does to physical links."""
    routes, links = schedule.routes, schedule.topology.links
    path = number - len(routes.tail)
    low, high = (path, path + 1) if path >= 0 else routes.first_path[number : number + 2].tolist()
    trees = routes.multiplicity[low:high].tolist()
    latency, shares = Fraction(0), list[tuple[int, Fraction, Fraction]]()
    for at, count in zip(range(low, high), trees, strict=True):
        begin, end = (int(routes.first_hop[i]) - i for i in (at, at + 1))
        before = Fraction(0)
        for link in hops[begin:end].tolist():
            share = Fraction(count, sum(trees))
            shares += [(place, share, before) for place in loaded[link]]
            before += links[link].latency_us / clock.tick_us
        latency = max(latency, before)
    return _Way(latency, tuple(shares))


def _times(way: _Way) -> Iterable[Fraction]:
    yield way.latency
    yield from (before for _, _, before in way.shares)


def _numbers(values: list[int]) -> _Numbers:
    """Return numbers as an array, of Python ints if some need more than 62 bits."""
    fits = all(-(2**62) < value < 2**62 for value in values)
    return np.array(values, dtype=np.int64 if fits else object)
