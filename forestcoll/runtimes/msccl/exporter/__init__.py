"""Export of programs to MSCCL algorithms.

To read, in the order of the passes: ``transfer_pieces``, ``data_layout`` (chunks in buffers),
``piece_order`` (one order, which cannot deadlock), ``channels`` (with threadblocks),
``piece_values`` and ``buffer_operations`` (reads and writes of buffers), ``threadblock_actions``
(joined, and split to size), ``waits`` (which prevent races), ``executor_limits``; then
``export_options``, ``algorithm_draft`` (all passes for one number of channels) and
``msccl_exporter`` (tries numbers of channels until one fits).
"""

from forestcoll.runtimes.msccl.exporter.export_options import MscclOptions
from forestcoll.runtimes.msccl.exporter.msccl_exporter import to_msccl

__all__ = ["MscclOptions", "to_msccl"]
