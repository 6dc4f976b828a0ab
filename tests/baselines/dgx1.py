"""NVIDIA DGX-1 with V100 GPUs: the hybrid cube mesh, six NVLinks a GPU.

Source: ``nvidia-smi topo -m`` of such a machine, NV# being the number of NVLinks between two GPUs;
25 GB/s per NVLink and direction (NVLink 2).
"""

from forestcoll.topology import Topology, TopologyBuilder

NVLINK_GB_S = 25

NVLINKS = (
    (0, 1, 1, 2, 2, 0, 0, 0),
    (1, 0, 2, 1, 0, 2, 0, 0),
    (1, 2, 0, 2, 0, 0, 1, 0),
    (2, 1, 2, 0, 0, 0, 0, 1),
    (2, 0, 0, 0, 0, 1, 1, 2),
    (0, 2, 0, 0, 1, 0, 2, 1),
    (0, 0, 1, 0, 1, 2, 0, 2),
    (0, 0, 0, 1, 2, 1, 2, 0),
)
"""Between every two GPUs."""


def dgx1() -> Topology:
    """GPUs 0 to 7 and their NVLinks."""
    builder = TopologyBuilder()
    for gpu in range(8):
        builder.gpu(f"gpu{gpu}", box=0, index=gpu)
    for a, row in enumerate(NVLINKS):
        for b, links in enumerate(row[:a]):
            if links:
                builder.link(f"gpu{b}", f"gpu{a}", links * NVLINK_GB_S)
    return builder.build("DGX-1")
