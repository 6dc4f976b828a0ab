"""Lower bound on the simulated time of a collective at each size.

Problem: before which time can no simulation of any schedule end?
Input:   a topology, a collective, the model of the simulation; optionally a bound on the rate.
Output:  seconds.
Cost:    that of :mod:`forestcoll.cut_over_time.time_search`; sizes share their work.
Source:  docs/mathematics/time-bound.md. The larger of the bottleneck cut over time and of the data
         at the bound on the rate, after a delay; latencies as simulations pay them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from forestcoll.cut_over_time.simulated_latencies import simulated_latencies
from forestcoll.cut_over_time.time_search import LeastTimes
from forestcoll.schedule.simulate import AlphaBeta
from forestcoll.topology import Topology

__all__ = ["SimulatedBound"]


class SimulatedBound:
    """Lower bound on the simulated time of any schedule.

    Parameters
    ----------
    topology : Topology
    collective : str
    model : AlphaBeta
        Its alpha; all its other costs make schedules slower.
    root : int, optional
        Rank of the root of a broadcast or reduce; the rank with a weight, or 0, if not given.
    weights : sequence of int, optional
        Relative shard sizes of an allgather or reduce-scatter, by rank; equal if not given.
    rate_gb_s : Fraction, optional
        A bound on the rate of any schedule.
    """

    def __init__(
        self,
        topology: Topology,
        collective: str,
        model: AlphaBeta,
        root: int | None = None,
        weights: Sequence[int] | None = None,
        rate_gb_s: Fraction | None = None,
    ) -> None:
        self._topology, self._collective, self._alpha_us = topology, collective, model.alpha
        self._root = None
        if collective in ("broadcast", "reduce"):
            holders = [rank for rank, weight in enumerate(weights or ()) if weight]
            self._root = holders[0] if root is None and holders else root or 0
        self._weights = weights if collective in ("allgather", "reduce-scatter") else None
        self._rate_gb_s = rate_gb_s

    @cached_property
    def _times(self) -> LeastTimes:
        return LeastTimes(
            simulated_latencies(self._topology, self._alpha_us),
            self._collective,
            0,
            root=self._root,
            weights=self._weights,
            # The search for paths of all pairs takes longer than simulations.
            with_rate=self._rate_gb_s is None and self._collective != "all-to-all",
        )

    def least_s(self, size_bytes: int) -> float:
        """Return the bound for a size, in seconds; 0 where nothing moves."""
        if self._topology.num_compute < 2 or size_bytes < 1:
            return 0.0
        least = self._times.bound(size_bytes, one_pass=False).time_us
        if self._rate_gb_s is not None:
            by_rate = size_bytes / (1000 * self._rate_gb_s)
            least = max(least, self._times.delay_us + by_rate)
        return float(least) / 10**6
