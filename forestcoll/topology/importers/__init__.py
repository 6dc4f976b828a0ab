"""Import of networks from files of other tools.

To read: ``host`` and ``fabric`` (what files describe), ``link_rates`` (bandwidths of links that
files count), ``formats`` (which format), ``cluster`` (machines and fabric joined) and
``import_files``. Machines: ``nccl_topology``, by ``xml_elements``. Fabrics: ``described_fabric``.
Whole networks: ``teccl_input``, ``taccl_input``, by ``section``.
"""
