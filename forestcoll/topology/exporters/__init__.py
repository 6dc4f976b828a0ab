"""Export of networks to files of other tools.

To read: ``file_exports`` (which format), then the formats: ``graph_text`` (GraphML and DOT),
``astra_sim_dimensions``, ``nccl_machine``, ``rank_files``. ``Topology.to_networkx`` gives a graph
in Python.
"""
