"""Export of programs to MSCCL algorithms.

To read, in the order of the passes after ``transfer_pieces`` and ``data_layout``: ``piece_order``
(one order, which cannot deadlock), ``channels`` (with threadblocks), ``buffer_operations`` (reads
and writes of buffers), ``threadblock_actions`` (joined, and split to size), ``waits`` (which
prevent races), ``executor_limits``; then ``msccl_exporter``, which tries all passes with several
numbers of channels until one fits.
"""

from forestcoll.runtimes.msccl.exporter.msccl_exporter import MscclOptions, to_msccl

__all__ = ["MscclOptions", "to_msccl"]
