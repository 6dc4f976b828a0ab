"""Importers of files that describe a machine.

To read: ``gpu_models`` (kinds of GPUs). NVIDIA: ``nvidia_matrix`` (nvidia-smi topo -m) and
``nvidia_link_status`` (nvidia-smi nvlink --status), joined by ``nvidia_machine``. AMD:
``rocm_topology`` (rocm-smi --showtopo). Any: ``hwloc_topology`` (lstopo),
by ``hwloc_pcie_tree``.
"""
