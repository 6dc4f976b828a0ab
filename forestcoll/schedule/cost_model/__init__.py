"""What a schedule costs in theory; the model of time itself is :mod:`forestcoll.schedule.flowing`.

To read: ``measures``, then ``step_loads`` (what each step puts on the links).
"""

from forestcoll.schedule.cost_model.measures import Cost, Steps, cost, finish_s_per_gb, in_steps

__all__ = ["Cost", "Steps", "cost", "finish_s_per_gb", "in_steps"]
