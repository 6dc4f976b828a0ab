"""What an algorithm of MSCCL does, executed on the CPU with real buffers: right, or what is wrong.

To read: ``findings``; ``merged_steps`` (steps as the executor keeps them), ``call_sizes``,
``actions`` (steps in transfers), ``order/`` (what comes before what); ``cells`` (buffers),
``multisets``, ``execution``, ``collective_results``; ``races``; ``runtime_limits``; and
``interpreter``, which is all of it.
"""

from forestcoll.schedule.interpret.findings import Finding, Findings, Kind, Place
from forestcoll.schedule.interpret.interpreter import interpret

__all__ = ["Finding", "Findings", "Kind", "Place", "interpret"]
