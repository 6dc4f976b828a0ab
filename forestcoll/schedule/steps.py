"""Step schedules: transfers in numbered steps, with or without a clock.

Tree-flow schedules are pipelined; a step schedule has synchronous steps. The sender of a transfer
has the data before the step begins, and the receiver has it when the step ends. A schedule made in
continuous time, or in epochs, also has a clock: the start and end of each transfer, for one size of
the data.

The two *ends* of a transfer are nodes, numbered as in :attr:`Topology.ends`: a GPU by its rank, the
i-th of the other nodes by N + i. A GPU keeps the data that it gets, and so does a switch marked
``stores``. Any other switch passes data on at once. It does so in the next step (with a clock: from
the moment of arrival), or in the same step, as the data comes in and no faster. A switch marked
``multicast`` may send data to several ends, or add data from several ends, each to the first sum
with which it can leave. Any other switch sends data once. Sums are complete at GPUs, not at
switches.

From end to end a transfer may pass through switches and GPUs. These only forward, in the same step:
they neither keep nor add data, and all links of the path carry it at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.problem.demand import Demand
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.equality import ByValue
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.sends import (
    Chunks,
    Intervals,
    Sends,
    ascending,
)
from forestcoll.topology.describe import counted
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology

__all__ = [
    "COLLECTIVES", "REDUCTIONS", "WEIGHTED", "StepSchedule",
]  # fmt: skip

COLLECTIVES = (
    "allgather",
    "broadcast",
    "reduce-scatter",
    "reduce",
    "allreduce",
    "all-to-all",
)
"""Collectives of step schedules."""

REDUCTIONS = ("reduce-scatter", "reduce", "allreduce")
"""Collectives that sum up data."""

WEIGHTED = ("allgather", "reduce-scatter")
"""Collectives in which the parts of the GPUs may differ."""


def _all_minus_one(column: npt.NDArray[np.int32] | None, sends: Sends) -> bool:
    """Whether a column of the transfers is missing or -1 for all of them."""
    return column is not None and column.shape == sends.step.shape and bool((column == -1).all())


@dataclass(frozen=True, eq=False, repr=False)
class StepSchedule(ByValue, InBrief):
    """Transfers in steps, with their chunks and routes.

    Parameters
    ----------
    method : str
        The name of the baseline that made it.
    collective : str
        One of ``COLLECTIVES``.
    sends : Sends
        With a clock the steps only number the starts: transfers of one step start together.
    routes : Routes
        The physical paths from end to end; logical links join ends, not only ranks. A transfer that
        names no path is divided over those of its logical link in proportion to their
        multiplicities (equal-cost multipath as a fluid).
    weights : tuple of int
        One for each rank, from 0 up, without a common divisor: rank r has w(r) parts of the data.
        All 1 if not given; others only in an allgather or reduce-scatter.
    demand : Demand, optional
        In an all-to-all of any amounts: who needs what. Chunk c is the demand's chunk c, with its
        source as root; its target is -1 where several GPUs need it. The data M is all bytes of the
        demand.
    """

    topology: Topology = field(hash=False)
    method: str
    collective: str
    chunks: Chunks = field(repr=False)
    sends: Sends = field(repr=False)
    routes: Routes = field(repr=False)
    clock: Clock | None = field(default=None, repr=False)
    weights: tuple[int, ...] = field(default=(), repr=False)
    demand: Demand | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1,) * self.topology.num_compute)

    def in_a_line(self) -> str:
        """Return the method, the collective, the network and the number of steps."""
        steps = counted(self.num_steps, "step")
        return f"{self.method} {self.collective} on {self.topology.name}: {steps}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with the numbers of chunks and transfers."""
        return {
            "topology": self.topology.name,
            "method": self.method,
            "collective": self.collective,
            "demand": None if self.demand is None else self.demand.name,
            "chunks": len(self.chunks.size),
            "transfers": len(self.sends),
            "steps": self.num_steps,
        }

    @property
    def num_steps(self) -> int:
        """Number of steps."""
        return int(self.sends.step[-1]) + 1 if len(self.sends) else 0

    @property
    def reduction(self) -> bool:
        """Whether it sums up."""
        return self.collective in REDUCTIONS

    def in_short(self) -> StepSchedule:
        """Return the canonical form of the schedule, without redundant columns.

        Transfers of one step are in the order of :meth:`Sends.in_order`. Arrays of different
        lengths are all kept.
        """
        ordered = self._in_order()
        sends, clock = ordered.sends, ordered.clock
        interval = None if self._sends_whole_chunks() else sends.interval
        path = None if _all_minus_one(sends.path, sends) else sends.path
        if clock is not None and _all_minus_one(clock.message, sends):
            clock = replace(clock, message=None)
        return replace(self, sends=replace(sends, interval=interval, path=path), clock=clock)

    def _in_order(self) -> StepSchedule:
        """Sort the transfers and their times, if they are not sorted."""
        sends, interval, clock = self.sends, self.sends.interval, self.clock
        keys: list[npt.NDArray[Any]] = [sends.step, sends.chunk, sends.tail, sends.head]
        keys += [] if interval is None else [interval.first]
        others = [sends.reduce, *([] if interval is None else [interval.amount])]
        optional = [] if clock is None else [clock.start, clock.end, clock.left, clock.message]
        others += [column for column in (*optional, sends.path) if column is not None]
        # Columns of different lengths cannot be sorted together; ``verify`` reports them.
        if len({column.shape for column in [*keys, *others]}) > 1 or ascending(keys):
            return self
        order = np.lexsort(keys[::-1])
        return replace(self, sends=sends.taken(order), clock=clock and clock.taken(order))

    def _sends_whole_chunks(self) -> bool:
        interval, chunk, size = self.sends.interval, self.sends.chunk, self.chunks.size
        if interval is None or interval.first.shape != chunk.shape or interval.first.any():
            return False
        if len(chunk) and not 0 <= chunk.min() <= chunk.max() < len(size):
            return False
        return np.array_equal(interval.amount, size[chunk])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StepSchedule):
            return NotImplemented
        # One schedule can be written in several ways: default columns given or left out, and the
        # transfers of a step in any order.
        return ByValue.__eq__(self.in_short(), other.in_short())

    def __hash__(self) -> int:
        return ByValue.__hash__(self.in_short())

    @property
    def intervals(self) -> Intervals:
        """Return the interval of each transfer, also of whole chunks."""
        return self.sends.intervals(self.chunks)
