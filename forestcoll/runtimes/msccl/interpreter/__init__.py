"""MSCCL interpreter: execute any algorithm on the CPU and check it.

To read: ``merged_steps`` (steps as the executor keeps them), ``call_sizes``, ``actions`` (steps in
transfers), ``fifos``, ``flags`` and ``step_precedence`` (their order), ``deadlocks``;
``buffer_cells``, ``chunk_units`` (single chunks), ``races``; ``runtime_limits``; then
``msccl_interpreter``, which runs all checks.
"""

from forestcoll.runtimes.msccl.interpreter.msccl_interpreter import interpret

__all__ = ["interpret"]
