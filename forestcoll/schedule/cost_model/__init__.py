"""Theoretical cost of schedules; :mod:`forestcoll.schedule.pipelined` is the model of time.

To read: ``measures``, then ``step_loads`` (the link loads of each step).
"""

from forestcoll.schedule.cost_model.measures import (
    Cost,
    Steps,
    cost,
    makespan_s_per_gb,
    synchronous,
)

__all__ = ["Cost", "Steps", "cost", "makespan_s_per_gb", "synchronous"]
