"""Importers of files that describe a whole network.

To read: ``astra_sim_network`` and ``simai_topology`` (simulators); ``graph_parts`` (attributes that
make a network), ``graphml_input`` and ``dot_input``.
"""
