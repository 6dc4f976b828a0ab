"""Simulations of a schedule at each size, beside the least time of any schedule.

The best number of pipeline chunks takes ten to thirty simulations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Self

from baselines.interface.method import Schedule
from forestcoll.compilation import compile_program
from forestcoll.cut_over_time.simulated_bound import SimulatedBound
from forestcoll.errors import InvalidParameterError, UnsupportedError, VerificationError
from forestcoll.forest_over_time.planned_simulation import PlannedSimulator
from forestcoll.schedule.simulate import (
    AlphaBeta,
    Simulation,
    Simulator,
    best_chunk_count,
)
from forestcoll.topology import Topology
from forestcoll.topology.numbers import exact

__all__ = ["BEST", "Assumptions", "Simulated"]

BEST = "best"
"""The number of pipeline chunks with the least time, among those tried."""

_LONGEST_US = 10**9
"""1000 s, as for the latency of a hop."""

_SLACK = 1e-9
"""Tolerance for floating point: the share by which a simulation may be below its bound."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Assumptions of simulations.

    Raises
    ------
    InvalidParameterError
        If the constant is negative, or above 1000 s.
    """

    model: AlphaBeta = field(default_factory=AlphaBeta)
    pipeline_chunks: int | None = None  # the best number if not given
    # constant time of every run, such as the start of kernels: the epsilon of the BFB paper (NSDI
    # 2025, appendix A.2)
    constant_us: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not 0 <= self.constant_us <= _LONGEST_US:
            raise InvalidParameterError(
                f"constant is {self.constant_us} us; it must be from 0 to {_LONGEST_US} us"
            )

    @classmethod
    def of(cls, given: Mapping[str, str | int]) -> Self:
        """Read them from plain data: the parameters of an AlphaBeta, pipeline chunks and
        constant_us.

        Any of them may be left out.

        Raises
        ------
        InvalidParameterError
            If a number is out of range.
        """
        pipeline_chunks = given.get("pipeline_chunks", BEST)
        constant = exact(given.get("constant_us", 0), "constant")
        own = ("pipeline_chunks", "constant_us")
        known = {name: value for name, value in given.items() if name not in own}
        model = AlphaBeta(**known)  # type: ignore[arg-type]
        return cls(model, None if pipeline_chunks == BEST else int(pipeline_chunks), constant)


@dataclass(frozen=True)
class Simulated:
    """Simulations of one schedule."""

    schedule: Schedule  # it has passed forestcoll.schedule.verify
    assumptions: Assumptions
    topology: Topology
    root: int | None = None  # rank of the root of a broadcast or reduce
    # of each rank: its part of the data; all the same if not given
    weights: tuple[int, ...] | None = None
    rate_gb_s: Fraction | None = None  # upper bound on the rate of any schedule, if known
    _known: dict[int, Simulation] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _lowered(self) -> Simulator | str:
        """The simulator, or why there is none."""
        try:
            return Simulator(compile_program(self.schedule))
        except UnsupportedError as error:
            return str(error).removeprefix("unsupported: ")

    @property
    def remark(self) -> str:
        """Why there are no simulations; empty if there are."""
        return self._lowered if isinstance(self._lowered, str) else ""

    def at(self, size_bytes: int) -> Simulation | None:
        """Return the simulation of a size; None if the schedule cannot be compiled.

        Raises
        ------
        VerificationError
            If it is below the bound.
        """
        if isinstance(self._lowered, str):
            return None
        if size_bytes not in self._known:
            found = self._run(self._lowered, size_bytes)
            constant_s = float(self.assumptions.constant_us) / 1e6
            self._known[size_bytes] = self._checked(
                replace(found, time_s=found.time_s + constant_s)
            )
        return self._known[size_bytes]

    def least_s(self, size_bytes: int) -> float:
        """Return the known lower bound on the time of any schedule, in seconds."""
        return self._bound.least_s(size_bytes)

    def over_bound(self, size_bytes: int) -> float | None:
        """Return the simulated time as a multiple of the bound; None without either."""
        found, least = self.at(size_bytes), self.least_s(size_bytes)
        return found.time_s / least if found and least and self.rate_gb_s is not None else None

    @cached_property
    def _bound(self) -> SimulatedBound:
        return SimulatedBound(
            self.topology,
            self.schedule.collective,
            self.assumptions.model,
            self.root,
            self.weights,
            self.rate_gb_s,
        )

    @cached_property
    def _planned(self) -> PlannedSimulator | None:
        return PlannedSimulator.of(self.schedule)

    def _run(self, simulator: Simulator, size_bytes: int) -> Simulation:
        model, pipeline_chunks = self.assumptions.model, self.assumptions.pipeline_chunks
        if pipeline_chunks is None:
            shared = best_chunk_count(simulator, size_bytes, model)
            planned = self._planned and self._planned.run(size_bytes, model)
            return min(planned or shared, shared, key=lambda one: one.time_s)
        return simulator.run(size_bytes, model, pipeline_chunks)

    def _checked(self, found: Simulation) -> Simulation:
        least = self.least_s(found.size_bytes)
        if found.time_s < least * (1 - _SLACK):
            raise VerificationError(
                f"{found.size_bytes} bytes take {found.time_s} s in the simulation, less than the "
                f"lower bound of {least} s; one of the two is wrong, so please report this"
            )
        return found
