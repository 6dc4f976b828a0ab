"""Programs as execution plans of MSCCL++.

To read, in the order of the passes (the first, pieces and their layout, are those of
``export/msccl/``): ``switch_pieces`` (through switches), ``data_actions`` (what is put, added and
copied, after what), ``teams`` (which threadblock does what), ``signals`` (who tells whom, when),
``block_links`` (channels, semaphores), ``block_programs`` (operations), ``loader_limits``; then
``mscclpp_exporter``, which is all of it.
"""

from forestcoll.schedule.export.mscclpp.mscclpp_exporter import MscclppOptions, to_mscclpp

__all__ = ["MscclppOptions", "to_mscclpp"]
