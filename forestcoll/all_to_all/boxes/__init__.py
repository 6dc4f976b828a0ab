"""Boxes whose ports lie behind other switches.

To read: ``nic_chains`` (NICs that are nodes, behind PCIe switches).
"""
