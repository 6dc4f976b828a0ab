"""Programs as algorithms of MSCCL.

To read, in the order of the passes: ``transfer_pieces``, ``data_layout`` (chunks in buffers),
``piece_order`` (one order, which cannot deadlock), ``channels`` (with threadblocks),
``piece_values`` and ``buffer_operations`` (what is read and written where), ``threadblock_actions``
(put together and cut to size), ``waits`` (so that nothing races), ``executor_limits``; then
``export_options``, ``algorithm_draft`` (all of it for some channels, ended where a limit is
broken) and ``msccl_exporter`` (for those that fit).
"""

from forestcoll.schedule.export.msccl.export_options import MscclOptions
from forestcoll.schedule.export.msccl.msccl_exporter import to_msccl

__all__ = ["MscclOptions", "to_msccl"]
