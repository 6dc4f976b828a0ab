"""Allreduces of sequential phases: a step schedule that reduces first and then gathers.

Problem: give every GPU the sum of the data of all.
Input:   the step schedules of a reduce-scatter and an allgather, or of a reduce and a broadcast.
Output:  one step schedule, whose transfers load each link as those of both do.
Cost:    linear in the transfers; a dictionary of the paths of both.
Source:  an allreduce is both, one after the other (Zhao et al., NSDI 2025, sections 4 and 6).

The phases may cut the data differently (:mod:`forestcoll.schedule.transform.shards`). They may also
divide a logical link differently over its paths; transfers over such a link then name their paths
(:mod:`forestcoll.schedule.transform.single_paths`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from forestcoll.errors import UnsupportedError
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.sends import Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.transform.shards import MOST, with_one_cut
from forestcoll.schedule.transform.single_paths import along_paths, united

__all__ = ["sequential"]

_PHASES = (("reduce-scatter", "allgather"), ("reduce", "broadcast"))


def sequential(reduce: StepSchedule, gather: StepSchedule) -> StepSchedule:
    """Make an allreduce whose gathering begins when the last sum is complete.

    Raises UnsupportedError if the two are not the phases of an allreduce on one network, have
    different weights or give the GPUs different parts of the data, have clocks for different
    amounts of it, or need units beyond 64 bits.

    Returns
    -------
    StepSchedule
        With the method of the gathering, and the chunks of both, or one for each root if these
        differ. Every transfer keeps the shares of its paths.
    """
    if (reduce.collective, gather.collective) not in _PHASES:
        raise UnsupportedError(
            f"unsupported: a {reduce.collective} and then a {gather.collective} are no allreduce; "
            f"take a reduce-scatter and an allgather, or a reduce and a broadcast"
        )
    if reduce.topology != gather.topology:
        raise UnsupportedError(
            f"unsupported: the phases of this allreduce are of two networks, "
            f"{reduce.topology.name} and {gather.topology.name}; make them for one"
        )
    if reduce.weights != gather.weights:
        raise UnsupportedError(
            "unsupported: the phases of this allreduce have different weights, so they speak of "
            "different parts of the data"
        )
    reduce, gather = with_one_cut(*_with_one_set_of_paths(reduce, gather))
    chunks = gather.chunks
    then = replace(gather.sends, step=gather.sends.step + np.int32(reduce.num_steps))
    return replace(
        gather,
        collective="allreduce",
        chunks=replace(chunks, root=np.full(len(chunks), -1, dtype=np.int32)),
        sends=Sends.joined([reduce.sends, then], chunks),
        clock=_one_after_the_other(reduce.clock, gather.clock),
        weights=(),
    )


def _with_one_set_of_paths(
    reduce: StepSchedule, gather: StepSchedule
) -> tuple[StepSchedule, StepSchedule]:
    """Give both phases the union of paths; transfers over links with other shares name paths."""
    union = united(reduce.routes, gather.routes)
    first, then = (
        _renumbered(_named(phase, differ), union.routes, numbers)
        for phase, differ, numbers in zip(
            (reduce, gather), union.differ, union.numbers, strict=True
        )
    )
    return first, then


def _named(phase: StepSchedule, differ: npt.NDArray[np.bool_]) -> StepSchedule:
    clock = phase.clock
    if clock is not None and clock.left is None and differ.any():
        for link in np.flatnonzero(differ).tolist():
            if len(set(_latencies(phase, link))) > 1:
                raise UnsupportedError(
                    "unsupported: the phases divide a logical link differently over paths of "
                    "different latencies; say in the clock when transfers have left"
                )
    return along_paths(phase, differ)


def _latencies(phase: StepSchedule, link: int) -> list[Fraction]:
    routes, between = phase.routes, phase.topology.link_between
    rows = (
        routes.hop[routes.first_hop[path] : routes.first_hop[path + 1]].tolist()
        for path in range(int(routes.first_path[link]), int(routes.first_path[link + 1]))
    )
    return [sum((between[hop].latency_us for hop in pairwise(row)), Fraction(0)) for row in rows]


def _renumbered(
    phase: StepSchedule, routes: Routes, numbers: npt.NDArray[np.int32]
) -> StepSchedule:
    path = phase.sends.path
    if path is not None:
        path = np.where(path >= 0, np.append(numbers, np.int32(-1))[path], np.int32(-1))
    return replace(phase, routes=routes, sends=replace(phase.sends, path=path))


def _one_after_the_other(first: Clock | None, then: Clock | None) -> Clock | None:
    """Return one clock for both phases; the second starts when the first ends."""
    if first is None or then is None:
        if first is not then:
            raise UnsupportedError(
                "unsupported: one phase of this allreduce has a clock and the other none"
            )
        return None
    if first.size_bytes != then.size_bytes:
        raise UnsupportedError(
            f"unsupported: the phases of this allreduce have clocks for data of different sizes, "
            f"{first.size_bytes} and {then.size_bytes} bytes"
        )
    # The longest tick of which both ticks are whole multiples.
    one, other = first.tick_us, then.tick_us
    common = math.lcm(one.denominator, other.denominator)
    tick = Fraction(math.gcd(int(one * common), int(other * common)), common)
    before, after = int(one / tick), int(other / tick)
    finish = int(first.end.max(initial=0)) * before
    longest = max(int(then.start.max(initial=0)), int(then.end.max(initial=0)))
    latest = finish + longest * after
    if max(latest, before, after) > MOST:
        raise UnsupportedError(
            f"unsupported: in ticks of {tick} us, which both phases have in common, the allreduce "
            f"takes more than 64-bit numbers count; use ticks with fewer digits"
        )
    return Clock(
        size_bytes=first.size_bytes,
        tick_us=tick,
        start=np.concatenate([first.start * before, finish + then.start * after]),
        end=np.concatenate([first.end * before, finish + then.end * after]),
        left=_left(first, before, then, after, finish),
        message=_messages(first, then),
    )


def _left(
    first: Clock, before: int, then: Clock, after: int, finish: int
) -> npt.NDArray[np.int64] | None:
    if first.left is None and then.left is None:
        return None
    if first.left is None or then.left is None:
        raise UnsupportedError(
            "unsupported: one phase of this allreduce says when its transfers have left their "
            "senders, and the other does not"
        )
    return np.concatenate([first.left * before, finish + then.left * after])


def _messages(first: Clock, then: Clock) -> npt.NDArray[np.int32] | None:
    if first.message is None and then.message is None:
        return None
    one, other = (
        np.full(len(clock.start), -1, dtype=np.int32) if clock.message is None else clock.message
        for clock in (first, then)
    )
    more = np.where(other >= 0, other + one.max(initial=-1) + 1, -1)
    return np.concatenate([one, more]).astype(np.int32)
