"""Import of networks from files of other tools.

To read: ``host`` and ``fabric`` (what files describe), ``link_rates`` (bandwidths of links that
files count), ``supplied`` (what files lack), ``file_formats`` (which format), ``join_machines``
(machines and fabric joined) and ``import_files``. By ``text_lines`` and ``xml_elements``:
``machines/``, ``nccl_topology``; ``fabrics/``, ``described_fabric``; ``networks/``,
``teccl_input``, ``taccl_input`` by ``section``. ``channels/`` has what NCCL chose.
"""
