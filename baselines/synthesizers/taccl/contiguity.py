"""TACCL stage 3, contiguity: chunks that are sent together from box to box.

Problem: a message of n chunks pays the latency once, but starts only when the last chunk is there.
Output:  the messages, with the start and the arrival of each.
Cost:    an integer program with a variable for each run of chunks that may be a message.
Source:  Shah et al., TACCL (NSDI 2023), section 4.3 and the rules of its public code: chunks that
         follow each other on a link between boxes may form a message of at most six. A message
         takes alpha + n beta. Its chunks start together; the public code omits this condition.
         A message is not interrupted on a port that its link shares with others.

If links between boxes have no latency, single chunks are optimal: a message split into its chunks
starts no later and arrives no later. Then there is no search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from baselines.synthesizers.taccl.exact_times import (
    Message,
    Timetable,
    sequences,
    singly,
    timetable,
)
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.ordering import Transfer
from forestcoll.errors import (
    InfeasibleError,
    InvalidParameterError,
    SolverError,
    TimeLimitError,
)
from forestcoll.solver.linear_program import Program, Settings, Solution
from forestcoll.solver.solve import solve

__all__ = ["MOST_TOGETHER", "Contiguity", "best_messages"]

MOST_TOGETHER = 6
"""Largest number of chunks in a message."""

_SPAN = 1000
"""Makespan without messages in units of the program, a size for which solvers are accurate."""

MOST_RUNS = 20_000
"""Largest number of runs for which a program is written."""


@dataclass(frozen=True, slots=True)
class Contiguity:
    """The best times found, and the solver's lower bound on the makespan."""

    times: Timetable
    bound_us: float


def best_messages(
    network: LogicalNetwork, order: Sequence[Transfer], settings: Settings
) -> Contiguity:
    """Find which chunks to send together.

    At the time limit it returns the best solution found, or single chunks if there is none.
    """
    alone = timetable(network, order, singly(order))
    assert alone is not None, "an order waits for nothing behind it"
    runs = _runs(network, order)
    if not runs:
        # With routes, orders and messages fixed, longest paths are the optimum (`exact_times`).
        return Contiguity(alone, float(alone.finish_us))
    if len(runs) > MOST_RUNS:
        return Contiguity(alone, 0.0)
    unit = alone.finish_us / _SPAN
    program = _Program(network, order, runs, unit)
    try:
        found = solve(program.written(), settings)
    except TimeLimitError as error:
        if not isinstance(error.incumbent, Solution):
            return Contiguity(alone, 0.0)
        found = error.incumbent
    except (InfeasibleError, SolverError, InvalidParameterError):
        return Contiguity(alone, 0.0)  # in floats; alone is always possible
    # The program is in floats: its messages are timed again, exactly.
    times = timetable(network, order, program.messages(found.x))
    if times is None or times.finish_us >= alone.finish_us:
        times = alone
    return Contiguity(times, max(found.bound * float(unit), 0.0))


Run = tuple[int, ...]
"""Places in the order of two or more transfers that may form one message."""


def _runs(network: LogicalNetwork, order: Sequence[Transfer]) -> list[Run]:
    """List the runs of neighbours on links with a latency that no port interrupts."""
    place = {transfer: n for n, transfer in enumerate(order)}
    links = len(network.links)
    rows = [[place[one] for one in row] for row in sequences(network, order)]
    parted = {  # neighbours on a link between which a port does something else
        (one, other) for row in rows[links:] for one, other in _parted(row, order)
    }
    found = []
    for link, row in zip(network.links, rows, strict=False):
        if not link.remote or not link.latency_us:
            continue
        for first in range(len(row)):
            for last in range(first + 1, min(first + MOST_TOGETHER, len(row))):
                # Longer runs from `first` contain this interruption, too.
                if (row[last - 1], row[last]) in parted:
                    break
                found.append(tuple(row[first : last + 1]))
    return found


def _parted(row: Sequence[int], order: Sequence[Transfer]) -> list[tuple[int, int]]:
    before: dict[int, int] = {}
    pairs = []
    for at, one in enumerate(row):
        link = order[one].link
        if link in before and before[link] != at - 1:
            pairs.append((row[before[link]], one))
        before[link] = at
    return pairs


class _Program:
    """Variables: runs (0 or 1), starts, makespan. A transfer in no run goes alone."""

    def __init__(
        self, network: LogicalNetwork, order: Sequence[Transfer], runs: list[Run], unit: Fraction
    ) -> None:
        self.network, self.order, self.runs, self.horizon = network, order, runs, float(_SPAN)
        self.of: list[list[int]] = [[] for _ in order]
        for number, run in enumerate(runs):
            for one in run:
                self.of[one].append(number)
        self.time = len(runs) + len(order)
        self.latency = [float(network.links[each.link].latency_us / unit) for each in order]
        self.busy = [float(network.links[each.link].busy_us / unit) for each in order]
        self.rows: list[tuple[list[int], list[float], float]] = []

    def written(self) -> Program:
        for one in range(len(self.order)):
            if self.of[one]:
                # A transfer is in at most one message.
                self._row(self.of[one], [-1.0] * len(self.of[one]), -1.0)
            self._after(self.time, one)
        self._arrivals()
        self._sequences()
        number = np.repeat(np.arange(len(self.rows)), [len(row[0]) for row in self.rows])
        matrix = sp.coo_array(
            (
                np.concatenate([row[1] for row in self.rows]),
                (number, np.concatenate([row[0] for row in self.rows])),
            ),
            shape=(len(self.rows), self.time + 1),
        )
        size, runs = self.time + 1, len(self.runs)
        # Single chunks take exactly the horizon, so some optimum lies within it.
        upper = np.full(size, self.horizon)
        upper[:runs] = 1.0
        whole = np.zeros(size, dtype=np.bool_)
        whole[:runs] = True
        cost = np.zeros(size)
        cost[self.time] = 1.0
        return Program(
            cost=cost,
            matrix=matrix,
            row_lower=np.array([row[2] for row in self.rows]),
            row_upper=np.full(len(self.rows), np.inf),
            lower=np.zeros(size),
            upper=upper,
            whole=whole,
        )

    def messages(self, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[Message]:
        taken = [run for run, value in zip(self.runs, values, strict=False) if value > 0.5]
        together = {one for run in taken for one in run}
        alone = [(each,) for n, each in enumerate(self.order) if n not in together]
        return [*(tuple(self.order[one] for one in run) for run in taken), *alone]

    def _row(self, columns: list[int], values: list[float], low: float) -> None:
        self.rows.append((columns, values, low))

    def _start(self, one: int) -> int:
        return len(self.runs) + one

    def _after(self, column: int, one: int, unless: Sequence[int] = ()) -> None:
        """State that a time is after the arrival of a transfer, unless a run of some is chosen."""
        # A message of n chunks arrives after alpha + n beta, all chunks together.
        more = [self.busy[one] * (len(self.runs[run]) - 1) for run in self.of[one]]
        columns = [column, self._start(one), *self.of[one]]
        values = [1.0, -1.0, *(-amount for amount in more)]
        # The slack exceeds any right-hand side, so the row is void within a message.
        slack = self.horizon + self.latency[one] + self.busy[one] * MOST_TOGETHER
        for run in unless:
            values[2 + self.of[one].index(run)] += slack
        self._row(columns, values, self.latency[one] + self.busy[one])

    def _arrivals(self) -> None:
        links = self.network.links
        brings = {(one.chunk, links[one.link].head): n for n, one in enumerate(self.order)}
        for n, one in enumerate(self.order):
            feeder = brings.get((one.chunk, links[one.link].tail))
            if feeder is not None:
                self._after(self._start(n), feeder)

    def _sequences(self) -> None:
        """State that links and ports serve one message at a time, which starts as one."""
        place = {transfer: n for n, transfer in enumerate(self.order)}
        for row in sequences(self.network, self.order):
            for one, other in pairwise(place[transfer] for transfer in row):
                both = [run for run in self.of[one] if other in self.runs[run]]
                self._after(self._start(other), one, both)
                if not both:
                    continue
                # Both starts are equal if a message contains both; otherwise the horizon voids the
                # rows.
                for first, then in ((one, other), (other, one)):
                    self._row(
                        [self._start(first), self._start(then), *both],
                        [1.0, -1.0, *[-self.horizon] * len(both)],
                        -self.horizon,
                    )
