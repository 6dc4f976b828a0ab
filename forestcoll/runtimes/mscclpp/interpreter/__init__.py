"""MSCCL++ plan interpreter: execute any plan on the CPU and check it.

To read: ``operand_rules`` (operands of operations), ``runtime_limits``, ``buffer_cells`` (cells of
spans), ``nodes`` (events), ``port_queues``, ``program_order`` (within threadblocks),
``synchronisation`` (edges by signals), ``packet_flags`` (by packets), ``deadlocks``;
``data_transfers`` (reads and writes), ``races`` (also across launches), ``packet_slots`` (the same,
of packets); ``mscclpp_interpreter``, which runs all of them.
"""

from forestcoll.runtimes.mscclpp.interpreter.mscclpp_interpreter import (
    interpret_calls,
    interpret_plan,
)

__all__ = ["interpret_calls", "interpret_plan"]
