"""Topology families: one function for each, registered in :data:`FAMILIES` by a decorator.

To read: ``family`` (the registry and the decorator), ``family_spec`` (the parser of a name with
parameters), ``values`` (types of parameters), ``wiring`` (GPUs by number), ``fabric`` (networks
between boxes). Machines: ``machines`` and ``chassis`` with the numbers of ``constants``;
``box_machines``, ``racks`` and ``chip_slices`` with those of ``machine_table``. Networks:
``fabrics``, ``gpu_networks``; of GPUs alone ``direct_connect``, ``words``, ``circulants``,
``grids``, ``distance_regular`` and ``expanders``.
"""

# isort: off
# The order of imports is the order of the list that users see.
from forestcoll.topology.families import machines as machines
from forestcoll.topology.families import box_machines as box_machines
from forestcoll.topology.families import racks as racks
from forestcoll.topology.families import chip_slices as chip_slices
from forestcoll.topology.families import chassis as chassis
from forestcoll.topology.families import fabrics as fabrics
from forestcoll.topology.families import gpu_networks as gpu_networks
from forestcoll.topology.families import direct_connect as direct_connect
from forestcoll.topology.families import words as words
from forestcoll.topology.families import circulants as circulants
from forestcoll.topology.families import grids as grids
from forestcoll.topology.families import distance_regular as distance_regular
from forestcoll.topology.families import expanders as expanders

# isort: on
from forestcoll.topology.families.family import FAMILIES, Family
from forestcoll.topology.families.machines import dgx_a100, dgx_h100, mi250, paper_example

__all__ = ["FAMILIES", "Family", "dgx_a100", "dgx_h100", "mi250", "paper_example"]
