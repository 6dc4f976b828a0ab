"""MSCCL++ plan interpreter: execute any plan on the CPU and check it.

To read: ``operand_rules`` (operands of operations), ``plan_limits`` (limits of the runtime),
``plan_cells`` (cells of spans), ``plan_nodes`` (events, in program order), ``synchronisation``
(edges by signals), ``plan_deadlocks``; ``data_transfers`` (reads and writes), ``plan_races``
(also across launches); ``plan_interpreter``, which runs all of them; ``plan_calls`` (every kind of
call).
"""

from forestcoll.runtimes.mscclpp.interpreter.plan_calls import interpret_calls
from forestcoll.runtimes.mscclpp.interpreter.plan_interpreter import interpret_plan

__all__ = ["interpret_calls", "interpret_plan"]
