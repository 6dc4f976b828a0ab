"""Simulation of a schedule that keeps to its time plan.

Problem: the rules by which a simulation shares links are not those of a schedule made for a size.
Input:   a forest with a time plan, or an allreduce of two; then sizes and models.
Output:  the time by the plan, and when every hop sends; none where the model has more than alpha.
Cost:    a pass over the tree edges, once.
Source:  ours; docs/mathematics/forests-over-time.md. Slots and rates are of any size: slots become
         as wide as its data need, rates as high as the links allow. At the size and alpha of the
         plan the time is that which the plan states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from forestcoll.forest_over_time.common_slots.common_times import CommonTimes
from forestcoll.forest_over_time.repeated_time import RepeatedTimes
from forestcoll.forest_over_time.slot_times import SlotTimes
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import AlphaBeta, Simulation, Timeline
from forestcoll.schedule.simulate.transfer_times import check_times
from forestcoll.schedule.time_plan import PARTS, Slots

__all__ = ["PlannedSimulator"]

_Floats = npt.NDArray[np.float64]


class PlannedSimulator:
    """Simulations of one schedule by its plan.

    Parameters
    ----------
    phases : sequence of Forest
        With plans, one after the other or in common slots.
    """

    def __init__(self, phases: tuple[Forest, ...]) -> None:
        self._phases = [_Phase(forest) for forest in phases]
        self._common = _common_times(phases)

    @classmethod
    def of(cls, schedule: AnySchedule) -> Self | None:
        """Return the simulator of a schedule; None if a phase has no plan."""
        phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
        forests = tuple(one for one in phases if isinstance(one, Forest) and one.plan is not None)
        return cls(forests) if len(forests) == len(phases) else None

    def suits(self, model: AlphaBeta) -> bool:
        """Whether a plan has all that a model assumes: latencies and shares of bandwidths."""
        others = AlphaBeta(
            alpha_us=model.alpha_us,
            gamma_s_per_gb=0 if any(one.forest.reduction for one in self._phases) else model.gamma,
            efficiency=model.efficiency,
            window=model.window,
        )
        return model == others

    def run(
        self, size_bytes: int, model: AlphaBeta, timeline_of: Program | None = None
    ) -> Simulation | None:
        """Return the time by the plan; None if the model does not suit, or slots do not fit.

        Parameters
        ----------
        timeline_of : Program, optional
            The compiled schedule, to keep the times of its transfers: a column for each row of
            slots that a tree has.

        Raises
        ------
        InvalidParameterError
            If the timeline is too long.
        """
        if not self.suits(model):
            return None
        times = self._times(size_bytes / Fraction(model.efficiency), model.alpha)
        if times is None:
            return None
        total = times[-1].begin_us + times[-1].time_us
        timeline = None if timeline_of is None else self._timeline(times, timeline_of)
        return Simulation(
            size_bytes=size_bytes,
            pipeline_chunks=1,
            time_s=float(total / 10**6),
            model=model,
            closed=True,
            by_plan=True,
            timeline=timeline,
        )

    def _times(self, size: Fraction, alpha_us: Fraction) -> list[_Times] | None:
        """Return the times of each phase; None if slots do not fit."""
        if self._common is not None:
            common = self._common.at(size, alpha_us)
            if common is None:
                return None
            return [_Times(alpha_us, end, common.width_us, Fraction(0)) for end in common.ends_us]
        found: list[_Times] = []
        for phase in self._phases:
            at = phase.at(size, alpha_us)
            if at is None:
                return None
            begin = found[-1].begin_us + found[-1].time_us if found else Fraction(0)
            found.append(replace(at, begin_us=begin))
        return found

    def _timeline(self, times: list[_Times], program: Program) -> Timeline:
        """Return the times of each transfer of a program."""
        count = program.num_transfers
        columns = max(phase.most_rows for phase in self._phases)
        row = np.arange(count, dtype=np.int32)
        check_times(row, columns)
        start, flow, arrival, share = np.zeros((4, count, columns))
        for phase, at in zip(self._phases, times, strict=True):
            these = np.flatnonzero(program.reduce == phase.forest.reduction)
            moments, before = phase.moments(at, program, these), float(at.begin_us / 10**6)
            for table, values in zip((start, flow, arrival), moments, strict=False):
                table[these, : values.shape[1]] = values / 1e6 + before
                table[these, values.shape[1] :] = values[:, -1:] / 1e6 + before
            share[these, : moments[3].shape[1]] = moments[3]
        return Timeline(row, start, flow, arrival, arrival, share)


@dataclass(frozen=True, slots=True)
class _Times:
    """The times of a phase at a size, from its beginning; without a width, at constant rates."""

    alpha_us: Fraction
    time_us: Fraction
    width_us: Fraction | None
    begin_us: Fraction = Fraction(0)


def _common_times(phases: Sequence[Forest]) -> CommonTimes | None:
    """Return the times of phases in common slots; None if they follow each other."""
    slots = [one.plan.slots for one in phases if one.plan is not None]
    both = [one for one in slots if one is not None and one.common]
    if len(both) < 2:
        return None
    return CommonTimes(Allreduce(phases[0], phases[1]), (both[0], both[1]))


class _Phase:
    def __init__(self, forest: Forest) -> None:
        assert forest.plan is not None
        self.forest, self._plan = forest, forest.plan
        self._rates = RepeatedTimes(forest)
        self._slots = None if self._plan.slots is None else SlotTimes(forest, self._plan.slots)

    @property
    def most_rows(self) -> int:
        """The most rows of slots of a tree."""
        slots = self._plan.slots
        return 1 if slots is None else int(np.bincount(slots.tree).max())

    def at(self, size: Fraction, alpha_us: Fraction) -> _Times | None:
        if self._slots is not None:
            found = self._slots.at(size, alpha_us)
            return None if found is None else _Times(alpha_us, found[1], found[0])
        plan = self._plan
        if size == plan.size_bytes and alpha_us == plan.alpha_us:
            return _Times(alpha_us, plan.time_us, None)
        return _Times(alpha_us, self._rates.at(size, alpha_us), None)

    def moments(
        self, times: _Times, program: Program, these: npt.NDArray[np.int64]
    ) -> tuple[_Floats, _Floats, _Floats, _Floats]:
        """Return start, flow and arrival in us, and the shares of rows, of some transfers."""
        forest, rows = self.forest, self._rows(times)
        child = (program.tail if forest.reduction else program.head)[these].astype(np.int64)
        batch = _batches(forest, program, these)
        late = _latencies(program, times.alpha_us)[program.path[these]][:, None]
        start = rows.start_us[batch[:, None], np.arange(rows.parts.shape[1]), child[:, None]]
        flow = start + late
        return start, flow, flow + rows.long_us[batch][:, None], rows.parts[batch] / PARTS

    def _rows(self, times: _Times) -> _Rows:
        if times.width_us is None:
            return self._constant(times)
        slots, width = self._plan.slots, float(times.width_us)
        assert slots is not None
        place = _places(slots)
        shape = (self.forest.num_batches, self.most_rows)
        parts, start = np.zeros(shape), np.zeros((*shape, self.forest.parent.shape[1]))
        parts[slots.tree, place] = slots.parts
        start[slots.tree, place] = slots.slot * width
        return _Rows(start, np.full(shape[0], width), parts)

    def _constant(self, times: _Times) -> _Rows:
        """Return one row for each tree: hops start when the first data arrive."""
        forest = self.forest
        arrive = self._rates.arrivals(times.alpha_us)
        latest = arrive.max(axis=1, keepdims=True)
        long = float(times.time_us) - latest[:, 0]
        above = np.where(forest.parent < 0, 0, forest.parent)
        start = np.take_along_axis(arrive, above.astype(np.int64), axis=1)
        if forest.reduction:  # backwards in time; what is farthest from the root starts first
            start = latest - arrive
        return _Rows(start[:, None, :], long, np.full((len(arrive), 1), float(PARTS)))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """When hops start, by batch, row and rank; how long the hops of a batch are; parts of rows."""

    start_us: _Floats
    long_us: _Floats
    parts: _Floats


def _places(slots: Slots) -> npt.NDArray[np.int64]:
    """Return the place of each row among those of its tree."""
    order = np.argsort(slots.tree, kind="stable")
    first = np.searchsorted(slots.tree[order], slots.tree[order])
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.arange(len(order)) - first
    return found


def _batches(
    forest: Forest, program: Program, these: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the batch of each transfer: batches of a root are intervals of its shard."""
    units = program.chunks.whole // (sum(forest.weights) * forest.k)
    order = np.argsort(forest.root, kind="stable")
    trees = forest.multiplicity[order] * units
    before = np.cumsum(program.chunks.size) - program.chunks.size
    at = before[program.chunk[these]] + program.first[these]
    return np.asarray(order[np.searchsorted(np.cumsum(trees) - trees, at, side="right") - 1])


def _latencies(program: Program, alpha_us: Fraction) -> _Floats:
    """Return the latency of each path of a program, in us."""
    topology, paths = program.topology, program.paths
    late = {
        (link.tail, link.head): link.latency_us
        + (alpha_us if topology.nodes[link.tail].is_gpu else 0)
        for link in topology.links
    }
    walks = (paths.nodes(place) for place in range(len(paths)))
    return np.array([float(sum(late[ends] for ends in pairwise(walk))) for walk in walks])
