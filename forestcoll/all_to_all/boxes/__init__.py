"""Boxes whose ports are unlike: behind other switches, missing, or dead one way.

To read: ``nic_chains`` (NICs that are nodes, behind PCIe switches), ``hub_division`` (data between
boxes over several hubs), ``one_way_ports`` (GPUs with a dead direction to their switch).
"""
