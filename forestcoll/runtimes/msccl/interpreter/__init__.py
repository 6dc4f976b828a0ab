"""MSCCL interpreter: execute any algorithm on the CPU and check it.

To read: ``merged_steps`` (steps as the executor keeps them), ``call_sizes``, ``actions`` (steps in
transfers), ``fifos`` and ``step_precedence`` (their order, also by flags), ``deadlocks``;
``buffer_cells`` (and the chunks that actions move), ``races``; ``runtime_limits``; then
``msccl_interpreter``, which runs all checks.
"""

from forestcoll.runtimes.msccl.interpreter.msccl_interpreter import interpret

__all__ = ["interpret"]
