"""What a schedule costs in theory; the model of time itself is
:mod:`forestcoll.schedule.pipelined`.

To read: ``measures``, then ``step_loads`` (what each step puts on the links).
"""

from forestcoll.schedule.cost_model.measures import (
    Cost,
    Steps,
    cost,
    makespan_s_per_gb,
    synchronous,
)

__all__ = ["Cost", "Steps", "cost", "makespan_s_per_gb", "synchronous"]
