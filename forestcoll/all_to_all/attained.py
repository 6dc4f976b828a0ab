"""A flow schedule beside the best bound known, both exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.pipelined import flow_of_loads

__all__ = ["MOST", "Attained"]

MOST = 2**62
"""Limit of the weights of all paths together; sums of them then fit 64 bits."""


@dataclass(frozen=True)
class Attained:
    """A schedule of some amounts, and a bound on all schedules of them."""

    schedule: FlowSchedule
    bound: PriceBound
    # of each link, in the schedule's weights, if they are known before the paths are
    loads: Sequence[int] | None = None

    @cached_property
    def congestion(self) -> Fraction:
        """The largest load over bandwidth, in units of the amounts per GB/s."""
        schedule = self.schedule
        if self.loads is not None:
            return flow_of_loads(schedule.topology, self.loads, schedule.whole).time_s_per_gb
        from forestcoll.schedule.cost_model import cost  # most makers of schedules know the loads

        size = schedule.topology.num_compute if schedule.demand is None else schedule.demand.bytes
        return cost(schedule).time_s_per_gb * size

    @property
    def is_optimal(self) -> bool:
        """Whether the schedule attains the bound."""
        return self.congestion == self.bound.inverse_rate
