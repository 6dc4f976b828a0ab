"""Seconds of a collective of some size, on a network by a method.

Problem: the durations of the tasks of an iteration.
Input:   a network and a method of ours or a baseline, simulated with alpha and bandwidths.
Output:  a function from collective and bytes to seconds, which remembers what it was asked.
Cost:    one schedule for each collective, one simulation for each size.
Source:  Zhao et al. (NSDI 2025), appendix A.4: allreduces by T_L and T_B, all-to-alls by a flow.

All-to-alls go by the best rate that is found for the network, whatever the method: most methods
have none. The rate comes with its distance to the bound. The bytes of an all-to-all are those of
one GPU, others those of all data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from baselines.interface.method import Schedule
from baselines.registry import METHODS
from forestcoll.compilation import compile_program
from forestcoll.errors import TimeLimitError, UnknownMethodError
from forestcoll.generation import generate
from forestcoll.schedule import verify
from forestcoll.schedule.simulate import AlphaBeta, Simulator, best_chunk_count
from forestcoll.topology.model import Topology

if TYPE_CHECKING:
    from forestcoll.all_to_all.concurrent_flow import ApproximateFlow
    from forestcoll.all_to_all.linear_optimum import AllToAllOptimum

__all__ = ["OWN", "OnNetwork"]

OWN = "forestcoll"
"""Our own schedules, among the names of methods."""

_GAP = 0.02
_RATE_SECONDS = 120


@dataclass(frozen=True)
class OnNetwork:
    """Simulated times on any network.

    Parameters
    ----------
    topology : Topology
    method : str
        "forestcoll" or the name of a baseline.
    model : AlphaBeta
        In lockstep a step schedule takes T_L + T_B; without it, chunks are pipelined.
    parameters : mapping
        Of a baseline.
    known : mapping
        Verified schedules by collective; others are made when they are needed.
    """

    topology: Topology
    method: str = OWN
    model: AlphaBeta = field(default_factory=AlphaBeta)
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    known: Mapping[str, Schedule] = field(default_factory=dict, repr=False, compare=False)
    _simulators: dict[str, Simulator] = field(default_factory=dict, repr=False, compare=False)
    _flows: list[ApproximateFlow | AllToAllOptimum] = field(
        default_factory=list, repr=False, compare=False
    )
    _seconds: dict[tuple[str, int], float] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a method that is unknown."""
        if self.method != OWN and self.method not in METHODS:
            raise UnknownMethodError(
                f"method is {self.method!r}; it must be {OWN} or one of {', '.join(METHODS)}"
            )

    def __call__(self, collective: str, size: int) -> float:
        """Return the seconds of a collective."""
        key = (collective, size)
        if size == 0 or self.topology.num_compute == 1:
            return 0.0
        if key not in self._seconds:
            self._seconds[key] = (
                self._all_to_all(size)
                if collective == "all-to-all"
                else self._simulated(self._simulator(collective), size)
            )
        return self._seconds[key]

    def _simulated(self, simulator: Simulator, size: int) -> float:
        """Return the time with the best number of pipeline chunks; in lockstep with one."""
        if self.model.lockstep:
            return simulator.run(size, self.model).time_s
        return best_chunk_count(simulator, size, self.model).time_s

    def _simulator(self, collective: str) -> Simulator:
        if collective not in self._simulators:
            made = self.known.get(collective) or self._made(collective)
            self._simulators[collective] = Simulator(compile_program(made))
        return self._simulators[collective]

    def _made(self, collective: str) -> Schedule:
        made = (
            generate(self.topology, collective=collective).schedule
            if self.method == OWN
            else METHODS[self.method].run(self.topology, collective, self.parameters)
        )
        verify(made)
        return made

    def _all_to_all(self, size: int) -> float:
        """Return the time of so many bytes of each GPU, an equal part for every other."""
        if not self._flows:
            self._flows.append(self._flow())
        each = size / self.topology.num_compute
        return each / (self._flows[0].rate_gb_s * 1e9) + float(self.model.alpha_us) / 1e6

    @property
    def all_to_all_gap(self) -> float | None:
        """By what share of the bound the rate of all-to-alls may be too low; None without any."""
        return self._flows[0].gap if self._flows else None

    def _flow(self) -> ApproximateFlow | AllToAllOptimum:
        from forestcoll.all_to_all.concurrent_flow import (
            ApproximateFlow,  # scipy takes half a second
        )
        from forestcoll.all_to_all.near_optimum import near_optimum

        try:
            return near_optimum(self.topology, eps=_GAP, seconds=_RATE_SECONDS)
        except TimeLimitError as late:
            if isinstance(late.incumbent, ApproximateFlow):
                return late.incumbent
            raise
