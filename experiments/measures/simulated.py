"""Simulations of a schedule, a size after the other, beside the least time that any can take.

Problem: how long a schedule takes for a size of the data, latencies included, in simulation.
Input:   a schedule that has passed the check; what is assumed; the rate that none exceeds.
Output:  a simulation for each size, a bound on it, or a remark where there can be none.
Cost:    one lowering; for each size one simulation, or the ten to thirty of the best pieces.
Source:  ours (:mod:`forestcoll.schedule.simulate`). No schedule is faster than its data through the
         bottleneck, or than the latency of the way between the two GPUs farthest apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Self

from baselines.interface.method import Schedule
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.lowering import lower
from forestcoll.schedule.simulate import (
    AlphaBeta,
    Simulation,
    Simulator,
    best_pieces,
    least_latency_s,
)
from forestcoll.topology import Topology

__all__ = ["BEST", "Assumptions", "Simulated"]

BEST = "best"
"""As many pieces as take the least time, of those that are tried."""

_SLACK = 1e-9
"""For rounding in floating point: the share of its bound that a simulation may be below it."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What simulations assume.

    Parameters
    ----------
    model : AlphaBeta
    pieces : int, optional
        As many as are best if not given.
    """

    model: AlphaBeta = field(default_factory=AlphaBeta)
    pieces: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, str | int]) -> Self:
        """Read them from plain data: the parameters of an AlphaBeta, and pieces; any may be left.

        Raises
        ------
        InvalidParameterError
            If a number is out of range.
        """
        pieces = given.get("pieces", BEST)
        known = {name: value for name, value in given.items() if name != "pieces"}
        return cls(AlphaBeta(**known), None if pieces == BEST else int(pieces))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Simulated:
    """Simulations of one schedule.

    Parameters
    ----------
    schedule : any
        It has passed :func:`forestcoll.schedule.verify`.
    assumptions : Assumptions
    topology : Topology
    root : int, optional
        Rank of the root of a broadcast or reduce.
    weights : tuple of int, optional
        Of each rank: its part of the data; all the same if not given.
    rate_gb_s : Fraction, optional
        What no schedule exceeds, if that is known.
    """

    schedule: Schedule
    assumptions: Assumptions
    topology: Topology
    root: int | None = None
    weights: tuple[int, ...] | None = None
    rate_gb_s: Fraction | None = None
    _known: dict[int, Simulation] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _lowered(self) -> Simulator | str:
        """The simulator, or why there is none."""
        try:
            return Simulator(lower(self.schedule))
        except UnsupportedError as error:
            return str(error).removeprefix("unsupported: ")

    @property
    def remark(self) -> str:
        """Why there are no simulations; empty if there are."""
        return self._lowered if isinstance(self._lowered, str) else ""

    def at(self, size_bytes: int) -> Simulation | None:
        """Return the simulation of a size; None if the schedule cannot be lowered.

        Raises
        ------
        VerificationError
            If it takes less than the bound.
        """
        if isinstance(self._lowered, str):
            return None
        if size_bytes not in self._known:
            self._known[size_bytes] = self._checked(self._run(self._lowered, size_bytes))
        return self._known[size_bytes]

    def least_s(self, size_bytes: int) -> float:
        """Return the seconds that no schedule is below, as far as that is known."""
        by_rate = 0.0
        if self.rate_gb_s is not None:
            by_rate = float(Fraction(size_bytes, 10**9) / self.rate_gb_s)
        return max(by_rate, self._least_latency_s)

    def over_bound(self, size_bytes: int) -> float | None:
        """Return the simulated time as a multiple of the bound; None without either."""
        found, least = self.at(size_bytes), self.least_s(size_bytes)
        return found.time_s / least if found and least and self.rate_gb_s is not None else None

    @cached_property
    def _least_latency_s(self) -> float:
        model, collective = self.assumptions.model, self.schedule.collective
        return least_latency_s(self.topology, collective, model, self.root, self.weights)

    def _run(self, simulator: Simulator, size_bytes: int) -> Simulation:
        model, pieces = self.assumptions.model, self.assumptions.pieces
        if pieces is None:
            return best_pieces(simulator, size_bytes, model)
        return simulator.run(size_bytes, model, pieces)

    def _checked(self, found: Simulation) -> Simulation:
        least = self.least_s(found.size_bytes)
        if found.time_s < least * (1 - _SLACK):
            raise VerificationError(
                f"the simulation takes {found.time_s} s for {found.size_bytes} bytes, but none "
                f"takes less than {least} s: one of the two is wrong; please report this"
            )
        return found
