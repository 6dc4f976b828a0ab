"""Ports of boxes, which share the data, and boxes whose ports are unlike.

To read: ``port_side`` (data divided over the ports of one direction). Then ports behind other
switches, missing, or dead one way: ``nic_chains`` (NICs that are nodes, behind PCIe switches),
``hub_division`` (data between boxes over several hubs), ``one_way_ports`` (GPUs with a dead
direction to their switch).
"""
