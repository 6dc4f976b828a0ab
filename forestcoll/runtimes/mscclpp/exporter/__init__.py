"""Export of programs to MSCCL++ execution plans.

To read, in the order of the passes after ``transfer_pieces`` and ``data_layout``:
``switch_pieces`` (through switches), ``data_actions`` (puts, sums and copies, with their order),
``port_transfers`` (between boxes), ``packet_transfers`` (LL), ``teams`` (threadblocks of actions),
``block_links`` (signals, channels, semaphores), ``block_programs`` (operations),
``loader_limits``; then ``mscclpp_exporter``, which runs all.
"""

from forestcoll.runtimes.mscclpp.exporter.mscclpp_exporter import MscclppOptions, to_mscclpp

__all__ = ["MscclppOptions", "to_mscclpp"]
