"""Interpreters of runtime files: execute MSCCL and MSCCL++ programs on the CPU and check them.

To read, for MSCCL algorithms: ``findings``; ``merged_steps`` (steps as the executor keeps them),
``call_sizes``, ``actions`` (steps in transfers), ``order/`` (precedence); ``cells``,
``multisets``, ``one_run``, ``collective_results``; ``roots``; ``races``; ``multiprocessors`` (of
machines), ``runtime_limits``; and ``interpreter``, which runs all of them. For MSCCL++ execution
plans: ``plans/``.
"""

from forestcoll.schedule.interpret.findings import Finding, Findings, Kind, Place
from forestcoll.schedule.interpret.interpreter import interpret
from forestcoll.schedule.interpret.multiprocessors import MACHINES, MOST_BLOCKS, blocks_of
from forestcoll.schedule.interpret.plans import interpret_calls, interpret_plan

__all__ = [
    "MACHINES",
    "MOST_BLOCKS",
    "Finding",
    "Findings",
    "Kind",
    "Place",
    "blocks_of",
    "interpret",
    "interpret_calls",
    "interpret_plan",
]
