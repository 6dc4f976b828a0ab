"""What an execution plan of MSCCL++ does, executed on the CPU: right, or what is wrong.

To read: ``operand_rules`` (what operations take), ``plan_limits`` (what the runtime takes),
``plan_cells`` (where spans lie), ``plan_nodes`` (what happens, in which order by the program),
``synchronisation`` (what comes after whose signal), ``plan_deadlocks``; ``data_transfers`` (what is
read and written), ``plan_races`` (and launches); ``plan_interpreter``, which is all of it;
``plan_calls`` (in every way that it may be called).
"""

from forestcoll.schedule.interpret.plans.plan_calls import interpret_calls
from forestcoll.schedule.interpret.plans.plan_interpreter import interpret_plan

__all__ = ["interpret_calls", "interpret_plan"]
