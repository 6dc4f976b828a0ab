"""Hardware constants: every number the machine families use, with where it comes from.

Runtimes, vendors and papers disagree on some of them (an MI250 xGMI link is 36 GB/s to RCCL and
50 GB/s to its vendor; A100 NVLink is 240 GB/s to NCCL and 300 GB/s to its vendor), so each is
also a parameter of the families that use it. Bandwidths are in GB/s (1e9 bytes per second) and
per direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

__all__ = [
    "A100_NIC",
    "A100_NVSWITCH",
    "CONSTANTS",
    "GPUS_PER_DGX",
    "H100_NIC",
    "H100_NVSWITCH",
    "MI250_IB",
    "MI250_XGMI",
    "MI250_XGMI_LINKS",
    "Constant",
]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number about hardware, what it measures, and who says so."""

    value: Fraction
    unit: str
    meaning: str
    source: str


GPUS_PER_DGX = 8
"""GPUs, and NICs for the compute network, in a DGX A100 or DGX H100 (their data sheets)."""

A100_NVSWITCH = Constant(
    Fraction(300),
    "GB/s per direction",
    "an A100 to the NVSwitches of its box",
    "NVIDIA A100 data sheet: NVLink 600 GB/s, both directions; ForestColl figure 1",
)
A100_NIC = Constant(
    Fraction(25),
    "GB/s per direction",
    "one of the 8 InfiniBand NICs of a DGX A100",
    "NVIDIA DGX A100 data sheet: 8 ConnectX-6 at 200 Gb/s; ForestColl figure 1",
)
H100_NVSWITCH = Constant(
    Fraction(450),
    "GB/s per direction",
    "an H100 to the NVSwitches of its box",
    "NVIDIA H100 data sheet (SXM): NVLink 900 GB/s, both directions; ForestColl section 6.3",
)
H100_NIC = Constant(
    Fraction(50),
    "GB/s per direction",
    "one of the 8 InfiniBand NICs of a DGX H100",
    "NVIDIA DGX H100 data sheet: 8 ConnectX-7 at 400 Gb/s; ForestColl section 6.3",
)
MI250_XGMI = Constant(
    Fraction(50),
    "GB/s per direction",
    "one xGMI (Infinity Fabric) link between two MI250 GPUs (dies)",
    "AMD Instinct MI250 microarchitecture, ROCm documentation: 25 GT/s on 16 lanes; "
    "ForestColl figure 9",
)
MI250_IB = Constant(
    Fraction(16),
    "GB/s per direction",
    "an MI250 GPU's share of the 8 InfiniBand NICs of its box",
    "ForestColl figures 1 and 9: 256 GB/s a box of 16 GPUs (8 NICs at 200 Gb/s, which RCCL's "
    "topo_16p1h.xml has, would be 12.5)",
)

CONSTANTS: Mapping[str, Constant] = MappingProxyType(
    {
        "A100_NVSWITCH": A100_NVSWITCH,
        "A100_NIC": A100_NIC,
        "H100_NVSWITCH": H100_NVSWITCH,
        "H100_NIC": H100_NIC,
        "MI250_XGMI": MI250_XGMI,
        "MI250_IB": MI250_IB,
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
