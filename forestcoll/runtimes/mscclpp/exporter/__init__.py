"""Export of programs to MSCCL++ execution plans.

To read, in the order of the passes (the first, pieces and their layout, are those of MSCCL too):
``switch_pieces`` (through switches), ``data_actions`` (puts, sums and copies,
with their order), ``teams`` (threadblocks of actions), ``signals`` (between threadblocks),
``block_links`` (channels, semaphores), ``block_programs`` (operations), ``loader_limits``; then
``mscclpp_exporter``, which runs all passes.
"""

from forestcoll.runtimes.mscclpp.exporter.mscclpp_exporter import MscclppOptions, to_mscclpp

__all__ = ["MscclppOptions", "to_mscclpp"]
