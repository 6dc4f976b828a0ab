"""Channels that NCCL chose: the rings and trees of a run, from its files.

To read: ``chosen_channels`` (the types), ``nccl_graph`` (NCCL_GRAPH_DUMP_FILE), ``nccl_log``
(NCCL_DEBUG=INFO) and ``channel_files`` (either).
"""
