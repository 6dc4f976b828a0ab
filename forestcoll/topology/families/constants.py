"""Hardware constants of the machine families, each with its source.

Runtimes, vendors and papers disagree on some of them (an MI250 xGMI link is 36 GB/s to RCCL and
50 GB/s to its vendor; A100 NVLink is 240 GB/s to NCCL and 300 GB/s to its vendor), so each is
also a parameter of the families that use it. Bandwidths are in GB/s (1e9 bytes per second) and
per direction, latencies in microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

__all__ = [
    "A100_NIC", "A100_NVSWITCH", "A800_NIC", "A800_NVSWITCH", "CONSTANTS", "DGX1_LINKS",
    "DGX1_NVLINK_LATENCY", "DGX2_NIC", "DGX2_NIC_LATENCY", "DGX2_NVSWITCH", "DGX2_NVSWITCH_LATENCY",
    "GB200_NIC", "GB200_NVLINK_PLANE", "GPUS_PER_DGX", "H100_NIC", "H100_NVSWITCH", "H800_NIC",
    "H800_NVSWITCH", "HOST_MEMORY", "MI250_GPU_LATENCY", "MI250_IB", "MI250_PAIR_SWITCH",
    "MI250_SWITCH_LATENCY", "MI250_XGMI", "MI250_XGMI_LINKS", "NDV2_NIC", "NDV2_NIC_LATENCY",
    "PCIE_LANE", "SOCKET_LINK", "V100_NVLINK", "Confidence", "Constant",
]  # fmt: skip


Confidence = Literal[
    "data sheet", "vendor documentation", "runtime source", "paper", "secondary page", "derived"
]
"""How far a number can be trusted: what kind of source prints it, or that none does."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A hardware number with its meaning and source, and what kind of source that is."""

    value: Fraction
    unit: str
    meaning: str
    source: str
    confidence: Confidence


GPUS_PER_DGX = 8
"""GPUs, and NICs for the compute network, in a DGX A100 or DGX H100 (their data sheets)."""

A100_NVSWITCH = Constant(
    Fraction(300),
    "GB/s per direction",
    "an A100 to the NVSwitches of its box",
    "NVIDIA A100 data sheet: NVLink 600 GB/s, both directions; ForestColl figure 1",
    "data sheet",
)
A100_NIC = Constant(
    Fraction(25),
    "GB/s per direction",
    "one of the 8 InfiniBand NICs of a DGX A100",
    "NVIDIA DGX A100 data sheet: 8 ConnectX-6 at 200 Gb/s; ForestColl figure 1",
    "data sheet",
)
H100_NVSWITCH = Constant(
    Fraction(450),
    "GB/s per direction",
    "an H100 to the NVSwitches of its box",
    "NVIDIA H100 data sheet (SXM): NVLink 900 GB/s, both directions; ForestColl section 6.3",
    "data sheet",
)
H100_NIC = Constant(
    Fraction(50),
    "GB/s per direction",
    "one of the 8 InfiniBand NICs of a DGX H100",
    "NVIDIA DGX H100 data sheet: 8 ConnectX-7 at 400 Gb/s; ForestColl section 6.3",
    "data sheet",
)
A800_NVSWITCH = Constant(
    Fraction(180),
    "GB/s per direction",
    "an A800 to the NVSwitches of its box",
    "SyCCL's test bed of 4 x 8 A800, as public summaries of its section 7 have it (NVIDIA prints "
    "400 GB/s, both directions: 200)",
    "secondary page",
)
A800_NIC = Constant(
    Fraction(25),
    "GB/s per direction",
    "one of the 4 NICs of a box of 8 A800",
    "SyCCL's test bed of 4 x 8 A800, as public summaries of its section 7 have it: 4 NICs at "
    "200 Gb/s",
    "secondary page",
)
H800_NVSWITCH = Constant(
    Fraction(200),
    "GB/s per direction",
    "an H800 to the NVSwitches of its box",
    "NVIDIA H800: NVLink 400 GB/s, both directions (SyCCL's own number is not at hand)",
    "data sheet",
)
H800_NIC = Constant(
    Fraction(50),
    "GB/s per direction",
    "one of the 8 NICs of a box of 8 H800, each on its rail",
    "SyCCL's simulated network of 64 x 8 H800, by public summaries of its section 7: 8 NICs "
    "at 400 Gb/s",
    "secondary page",
)
GB200_NVLINK_PLANE = Constant(
    Fraction(50),
    "GB/s per direction",
    "from a GPU of a GB200 NVL72 to one of its NVLink switch chips",
    "NVIDIA: fifth NVLink, 900 GB/s a GPU in each direction; 18 chips, one link of each GPU to "
    "each, is what the counts of switch trays and ports leave",
    "derived",
)
GB200_NIC = Constant(
    Fraction(50),
    "GB/s per direction",
    "the NIC of a GPU in a GB200 NVL72",
    "NVIDIA GB200 NVL72: ConnectX-7 at 400 Gb/s",
    "data sheet",
)
MI250_XGMI = Constant(
    Fraction(50),
    "GB/s per direction",
    "one xGMI (Infinity Fabric) link between two MI250 GPUs (dies)",
    "AMD Instinct MI250 microarchitecture, ROCm documentation: 25 GT/s on 16 lanes; "
    "ForestColl figure 9",
    "vendor documentation",
)
MI250_IB = Constant(
    Fraction(16),
    "GB/s per direction",
    "an MI250 GPU's share of the 8 InfiniBand NICs of its box",
    "ForestColl figures 1 and 9: 256 GB/s a box of 16 GPUs (8 NICs at 200 Gb/s, which RCCL's "
    "topo_16p1h.xml has, would be 12.5)",
    "paper",
)

V100_NVLINK = Constant(
    Fraction(25),
    "GB/s per direction",
    "one of the 6 NVLinks of a V100",
    "NVIDIA V100 data sheet (SXM2): NVLink 300 GB/s, both directions; TE-CCL figure 14",
    "data sheet",
)
DGX1_NVLINK_LATENCY = Constant(
    Fraction(7, 10),
    "us",
    "two GPUs of a DGX-1 or an NDv2 chassis to each other",
    "TE-CCL section 6.1 for DGX1; its published code has it for NDv2 too",
    "paper",
)
NDV2_NIC = Constant(
    Fraction(25, 2),
    "GB/s per direction",
    "the InfiniBand NIC of an NDv2 chassis",
    "Azure NDv2-series: one NIC at 100 Gb/s; TE-CCL's published code",
    "vendor documentation",
)
NDV2_NIC_LATENCY = Constant(
    Fraction(13, 10),
    "us",
    "each link between an NDv2 chassis and the network",
    "TE-CCL's published code",
    "paper",
)
DGX2_NVSWITCH = Constant(
    Fraction(125),
    "GB/s per direction",
    "a V100 to the NVSwitches of its DGX-2",
    "TE-CCL figure 13 (the data sheet's 6 NVLinks would be 150)",
    "paper",
)
DGX2_NVSWITCH_LATENCY = Constant(
    Fraction(35, 100),
    "us",
    "a V100 to the NVSwitches of its DGX-2, each way",
    "TE-CCL (SIGCOMM 2024) figure 13",
    "paper",
)
DGX2_NIC = Constant(
    Fraction(25, 2),
    "GB/s per direction",
    "a NIC of a DGX-2 to one of another",
    "NVIDIA DGX-2 data sheet: 8 NICs at 100 Gb/s; TE-CCL figure 13",
    "data sheet",
)
DGX2_NIC_LATENCY = Constant(
    Fraction(26, 10),
    "us",
    "a NIC of a DGX-2 to one of another",
    "TE-CCL (SIGCOMM 2024) figure 13",
    "paper",
)
MI250_PAIR_SWITCH = Constant(
    Fraction(25),
    "GB/s per direction",
    "every link of the switches between MI250 chassis",
    "TE-CCL (SIGCOMM 2024) figure 15",
    "paper",
)
MI250_GPU_LATENCY = Constant(
    Fraction(6, 10),
    "us",
    "two MI250 GPUs of a chassis to each other",
    "none printed: TE-CCL figure 3 has it for the GPUs of another cloud topology",
    "derived",
)
MI250_SWITCH_LATENCY = Constant(
    Fraction(75, 100),
    "us",
    "every link of the switches between MI250 chassis",
    "none printed: TE-CCL figure 3 has it for GPU to switch in another cloud topology",
    "derived",
)

PCIE_LANE: Mapping[int, Constant] = MappingProxyType(
    {
        generation: Constant(
            Fraction(transfers * 128, 8 * 130),
            "GB/s per direction",
            f"one lane of PCIe {generation}.0",
            f"PCI Express Base Specification {generation}.0: {transfers} GT/s, 128b/130b encoding",
            "vendor documentation",
        )
        for generation, transfers in ((3, 8), (4, 16), (5, 32))
    }
)
"""A PCIe lane by generation; packet headers take some of it."""

HOST_MEMORY = Constant(
    Fraction("153.6"),
    "GB/s",
    "transfers from GPU to GPU through the memory of a socket, each of which is written and read",
    "half of 8 channels of DDR5-4800, 307.2 GB/s, of an Intel Xeon Platinum 8480+: two of them "
    "hold the 8 RTX 5090 of NVIDIA/nccl issue 1639",
    "derived",
)
SOCKET_LINK = Constant(
    Fraction("153.6"),
    "GB/s per direction",
    "an Intel Xeon Platinum 8480+ to the other one of its board",
    "4 links of UPI 2.0 at 16 GT/s: 24 lanes of which 64 of 80 bits are data, 38.4 GB/s each (NCCL "
    "counts on 22 in all, SRP_QPI_BW, but 28 are measured in NVIDIA/nccl issue 1639)",
    "derived",
)

CONSTANTS: Mapping[str, Constant] = MappingProxyType(
    {
        "A100_NVSWITCH": A100_NVSWITCH,
        "A100_NIC": A100_NIC,
        "H100_NVSWITCH": H100_NVSWITCH,
        "H100_NIC": H100_NIC,
        "A800_NVSWITCH": A800_NVSWITCH,
        "A800_NIC": A800_NIC,
        "H800_NVSWITCH": H800_NVSWITCH,
        "H800_NIC": H800_NIC,
        "GB200_NVLINK_PLANE": GB200_NVLINK_PLANE,
        "GB200_NIC": GB200_NIC,
        "MI250_XGMI": MI250_XGMI,
        "MI250_IB": MI250_IB,
        "V100_NVLINK": V100_NVLINK,
        "DGX1_NVLINK_LATENCY": DGX1_NVLINK_LATENCY,
        "NDV2_NIC": NDV2_NIC,
        "NDV2_NIC_LATENCY": NDV2_NIC_LATENCY,
        "DGX2_NVSWITCH": DGX2_NVSWITCH,
        "DGX2_NVSWITCH_LATENCY": DGX2_NVSWITCH_LATENCY,
        "DGX2_NIC": DGX2_NIC,
        "DGX2_NIC_LATENCY": DGX2_NIC_LATENCY,
        "MI250_PAIR_SWITCH": MI250_PAIR_SWITCH,
        "MI250_GPU_LATENCY": MI250_GPU_LATENCY,
        "MI250_SWITCH_LATENCY": MI250_SWITCH_LATENCY,
        **{f"PCIE_{generation}_LANE": lane for generation, lane in PCIE_LANE.items()},
        "HOST_MEMORY": HOST_MEMORY,
        "SOCKET_LINK": SOCKET_LINK,
    }
)
"""All of the above, for tables and reports."""

# The wiring of ForestColl figure 9(a), numbered as in the authors' published code; the xGMI part
# of RCCL's topo_16p1h.xml is the same graph, weights included, up to the order of the GPUs.
# The pairs with 4 links are the two GPUs of an OAM; every GPU has 7 links in all.
MI250_XGMI_LINKS: Mapping[int, tuple[tuple[int, int], ...]] = MappingProxyType(
    {
        4: ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (14, 15)),
        2: ((0, 4), (3, 7), (8, 12), (11, 15)),
        1: (
            *((0, 8), (1, 5), (1, 9), (1, 10), (2, 6), (2, 9), (2, 10), (3, 11)),
            *((4, 6), (5, 6), (5, 7), (9, 13), (10, 14), (12, 14), (13, 14), (13, 15)),
        ),
    }
)
"""Pairs of GPUs of an MI250 box, by the number of xGMI links between them."""

# NVIDIA's hybrid cube mesh, numbered as in TE-CCL's published code.
DGX1_LINKS: Mapping[int, tuple[tuple[int, int], ...]] = MappingProxyType(
    {
        2: ((0, 1), (0, 4), (1, 3), (2, 3), (2, 6), (4, 5), (5, 7), (6, 7)),
        1: ((0, 2), (0, 3), (1, 2), (1, 5), (3, 7), (4, 6), (4, 7), (5, 6)),
    }
)
"""Pairs of GPUs of a DGX-1, by the number of NVLinks between them."""
