"""Table of today's machines and instance shapes, with the source of each number.

Vendors print bandwidths of both directions together, in bytes, and of NICs in bits; here all are in
GB/s (1e9 bytes per second) per direction. Each number is also a parameter of the family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from forestcoll.topology.families.constants import (
    A100_NVSWITCH,
    H100_NVSWITCH,
    PCIE_LANE,
    Confidence,
    Constant,
)

__all__ = ["MACHINES", "MACHINE_CONSTANTS", "BoxMachine"]


def _rate(value: str | Fraction, meaning: str, source: str, confidence: Confidence) -> Constant:
    return Constant(Fraction(value), "GB/s per direction", meaning, source, confidence)


_H200 = _rate(
    "450",
    "an H200 to the NVSwitches of its box",
    "NVIDIA H200 data sheet (SXM): NVLink 900 GB/s, both directions",
    "data sheet",
)
_BLACKWELL = _rate(
    "900",
    "a B200 or B300 to the NVSwitches of its box",
    "NVIDIA HGX page: fifth NVLink 1.8 TB/s a GPU, both directions; 18 links of 50",
    "data sheet",
)
_NIC_400 = _rate(
    "50",
    "one of the 8 NICs of a box",
    "NVIDIA DGX H200 and DGX B200 data sheets: 8 ConnectX-7 at 400 Gb/s",
    "data sheet",
)
_NIC_800 = _rate(
    "100",
    "one of the 8 NICs of a box of B300",
    "NVIDIA HGX B300: 8 ConnectX-8 on the baseboard at 800 Gb/s; fibermall.com and acecloud.ai "
    "print the same",
    "secondary page",
)
_MI300X = _rate(
    "64",
    "one Infinity Fabric link between two MI300X or MI325X; every pair of a box has one",
    "AMD: 16 lanes at 32 Gb/s, 128 GB/s a link, both directions, seven links a GPU "
    "(wheelersnetwork.com, January 2024; AMD prints 896 GB/s a GPU)",
    "secondary page",
)
_MI355X = _rate(
    "76.8",
    "one Infinity Fabric link between two MI355X; every pair of a box has one",
    "153.6 GB/s a link, both directions (humeconsulting.co on AMD's MI355X): 38.4 Gb/s a lane",
    "secondary page",
)
_AMD_NIC = _rate(
    "50",
    "one of the 8 NICs of a box of MI300X, MI325X or MI355X",
    "8 NICs at 400 Gb/s, one a GPU, as in Azure's ND MI300X v5 (its documentation: 8 x 400 Gb NDR)",
    "vendor documentation",
)
_GAUDI3_PAIR = _rate(
    "75",
    "a Gaudi 3 to each of the seven others of its box",
    "docs.habana.ai, Intel Gaudi Network Configuration: 21 ports of 200 Gb/s, three to each other",
    "vendor documentation",
)
_GAUDI3_NIC = _rate(
    "25",
    "one of the three ports of a Gaudi 3 out of its box",
    "docs.habana.ai, Intel Gaudi Network Configuration: three ports of 200 Gb/s a card",
    "vendor documentation",
)
_A100_BRIDGE = _rate(
    "300",
    "the NVLink bridges between two A100 PCIe cards",
    "NVIDIA A100 data sheet (PCIe): NVLink bridge for 2 GPUs, 600 GB/s, both directions",
    "data sheet",
)
_H100_BRIDGE = _rate(
    "300",
    "the NVLink bridges between two H100 PCIe cards",
    "NVIDIA H100 data sheet (PCIe): NVLink 600 GB/s, both directions",
    "data sheet",
)
_PCIE_SERVER_NIC = _rate(
    "25",
    "the NIC of a socket in a server of PCIe cards",
    "none printed: servers are sold with NICs of 100 to 400 Gb/s; 200 Gb/s is a stand-in",
    "derived",
)
_PCIE_4 = _rate(
    16 * PCIE_LANE[4].value,
    "a card on 16 lanes of PCIe 4.0",
    "NVIDIA A100 (PCIe), L40S and GeForce RTX 4090 data sheets: PCIe 4.0 x16; constants.PCIE_LANE",
    "data sheet",
)
_PCIE_5 = _rate(
    16 * PCIE_LANE[5].value,
    "a card on 16 lanes of PCIe 5.0",
    "NVIDIA H100 (PCIe), RTX PRO 6000 and GeForce RTX 5090 data sheets: PCIe 5.0 x16; "
    "constants.PCIE_LANE",
    "data sheet",
)
_EFA_100 = _rate(
    "12.5",
    "a network card of AWS P4d and P5",
    "AWS documentation of EFA: 4 cards and 400 Gb/s in a p4d, 32 cards and 3200 Gb/s in a p5",
    "vendor documentation",
)
_EFA_200 = _rate(
    "25",
    "a network card of AWS P5en",
    "AWS: 3200 Gb/s a p5en.48xlarge; 16 EFA devices in meta-pytorch/torchx, named_resources_aws",
    "derived",
)
_A3 = _rate(
    "25",
    "a NIC for GPUs of Google Cloud A3 High and A3 Mega",
    "Google Cloud, GPU network bandwidth: NICs 4 + 1 of 1,000 Gb/s in all (A3 High) and 8 + 1 of "
    "1,800 Gb/s in all (A3 Mega): 200 Gb/s each",
    "vendor documentation",
)
_GCP_CX7 = _rate(
    "50",
    "a NIC for GPUs of Google Cloud A3 Ultra and A4",
    "Google Cloud, GPU network bandwidth: eight ConnectX-7 with 3,200 Gb/s in all",
    "vendor documentation",
)
_AZURE_HDR = _rate(
    "25",
    "the NIC of a GPU in Azure ND A100 v4",
    "Microsoft, ND A100 v4: 1.6 Tb/s a VM, HDR InfiniBand for each GPU (200 Gb/s)",
    "vendor documentation",
)
_AZURE_NDR = _rate(
    "50",
    "the NIC of a GPU in Azure ND H100 v5 and ND MI300X v5",
    "Microsoft, ND H100 v5: 400 Gb/s Quantum-2 CX7 InfiniBand a GPU, 3.2 Tb/s a VM; "
    "ND MI300X v5: 8 x 400 Gb NDR",
    "vendor documentation",
)
_OCI_H100 = _rate(
    "25",
    "one of the 16 NIC ports of OCI BM.GPU.H100.8",
    "16 RDMA devices of this shape in a public latency script (HCA_ARRAY of ib_write_lat.sh); "
    "200 Gb/s each make the 3.2 Tb/s of other clouds' H100 shapes",
    "derived",
)


@dataclass(frozen=True, slots=True)
class BoxMachine:
    """A machine of 8 GPUs, as a family of boxes.

    Parameters
    ----------
    name, summary : str
        The family's name, and its line in the list.
    inside : {"switch", "mesh", "pcie"}
        A switch; a link between every two GPUs; or PCIe, with two sockets.
    link : Constant
        From a GPU to the switch, to each other GPU, or to its socket.
    nics : int
        NICs of a box, dealt out evenly: several to a GPU, or several GPUs to one. On PCIe they are
        on the sockets.
    nic : Constant
        The bandwidth of a NIC.
    nvls : bool
        The switch can multicast and aggregate.
    bridge : Constant, optional
        NVLink between GPUs 2i and 2i + 1.
    peer_access : bool
        On PCIe: GPUs read each other's memory; if not, transfers pass host memory.
    """

    name: str
    summary: str
    inside: Literal["switch", "mesh", "pcie"]
    link: Constant
    nics: int
    nic: Constant
    nvls: bool = False
    bridge: Constant | None = None
    peer_access: bool = True

    @property
    def constants(self) -> tuple[Constant, ...]:
        """The numbers, with their sources."""
        bridge = () if self.bridge is None else (self.bridge,)
        return (self.link, *bridge, self.nic)


_SWITCHED = "8 GPUs on an NVSwitch"

MACHINES: tuple[BoxMachine, ...] = (
    BoxMachine("hgx_h200", f"NVIDIA HGX H200: {_SWITCHED}.",
               "switch", _H200, 8, _NIC_400, nvls=True),
    BoxMachine("hgx_b200", f"NVIDIA HGX B200: {_SWITCHED}.",
               "switch", _BLACKWELL, 8, _NIC_400, nvls=True),
    BoxMachine("hgx_b300", f"NVIDIA HGX B300: {_SWITCHED}.",
               "switch", _BLACKWELL, 8, _NIC_800, nvls=True),
    BoxMachine("mi300x", "AMD MI300X: 8 GPUs linked each to each.", "mesh", _MI300X, 8, _AMD_NIC),
    BoxMachine("mi325x", "AMD MI325X: 8 GPUs linked each to each.", "mesh", _MI300X, 8, _AMD_NIC),
    BoxMachine("mi355x", "AMD MI355X: 8 GPUs linked each to each.", "mesh", _MI355X, 8, _AMD_NIC),
    BoxMachine("gaudi3",
               "Intel Gaudi 3: 8 cards linked each to each, three ports a card out of the box.",
               "mesh", _GAUDI3_PAIR, 24, _GAUDI3_NIC),
    BoxMachine("a100_pcie",
               "NVIDIA A100 PCIe: 8 cards on two sockets, every two with NVLink bridges.",
               "pcie", _PCIE_4, 2, _PCIE_SERVER_NIC, bridge=_A100_BRIDGE),
    BoxMachine("h100_pcie",
               "NVIDIA H100 PCIe: 8 cards on two sockets, every two with NVLink bridges.",
               "pcie", _PCIE_5, 2, _PCIE_SERVER_NIC, bridge=_H100_BRIDGE),
    BoxMachine("l40s", "NVIDIA L40S: 8 cards on two sockets.",
               "pcie", _PCIE_4, 2, _PCIE_SERVER_NIC),
    BoxMachine("rtx_pro_6000", "NVIDIA RTX PRO 6000: 8 cards on two sockets.",
               "pcie", _PCIE_5, 2, _PCIE_SERVER_NIC),
    BoxMachine("rtx_4090",
               "NVIDIA RTX 4090: 8 cards on two sockets, transfers through host memory.",
               "pcie", _PCIE_4, 2, _PCIE_SERVER_NIC, peer_access=False),
    BoxMachine("rtx_5090",
               "NVIDIA RTX 5090: 8 cards on two sockets, transfers through host memory.",
               "pcie", _PCIE_5, 2, _PCIE_SERVER_NIC, peer_access=False),
    BoxMachine("aws_p4d", "AWS p4d.24xlarge: 8 A100s, two to a card.",
               "switch", A100_NVSWITCH, 4, _EFA_100),
    BoxMachine("aws_p5", "AWS p5.48xlarge: 8 H100s with four network cards each.",
               "switch", H100_NVSWITCH, 32, _EFA_100, nvls=True),
    BoxMachine("aws_p5en", "AWS p5en.48xlarge: 8 H200s with two network cards each.",
               "switch", _H200, 16, _EFA_200, nvls=True),
    BoxMachine("gcp_a3_high", "Google Cloud a3-highgpu-8g: 8 H100s, two to a NIC.",
               "switch", H100_NVSWITCH, 4, _A3, nvls=True),
    BoxMachine("gcp_a3_mega", "Google Cloud a3-megagpu-8g: 8 H100s, a NIC each.",
               "switch", H100_NVSWITCH, 8, _A3, nvls=True),
    BoxMachine("gcp_a3_ultra", "Google Cloud a3-ultragpu-8g: 8 H200s, a NIC each.",
               "switch", _H200, 8, _GCP_CX7, nvls=True),
    BoxMachine("gcp_a4", "Google Cloud a4-highgpu-8g: 8 B200s, a NIC each.",
               "switch", _BLACKWELL, 8, _GCP_CX7, nvls=True),
    BoxMachine("azure_nd_a100_v4", "Azure ND A100 v4: 8 A100s, a NIC each.",
               "switch", A100_NVSWITCH, 8, _AZURE_HDR),
    BoxMachine("azure_nd_h100_v5", "Azure ND H100 v5: 8 H100s, a NIC each.",
               "switch", H100_NVSWITCH, 8, _AZURE_NDR, nvls=True),
    BoxMachine("azure_nd_mi300x_v5",
               "Azure ND MI300X v5: 8 MI300Xs linked each to each, a NIC each.",
               "mesh", _MI300X, 8, _AZURE_NDR),
    BoxMachine("oci_h100", "OCI BM.GPU.H100.8: 8 H100s with two NIC ports each.",
               "switch", H100_NVSWITCH, 16, _OCI_H100, nvls=True),
)  # fmt: skip
"""Machines of 8 GPUs, in the order in which people should meet them."""

MACHINE_CONSTANTS: Mapping[str, Constant] = MappingProxyType(
    {
        "GB300_NIC": _rate(
            "100",
            "the NIC of a GPU in a GB300 NVL72",
            "NVIDIA GB300 NVL72: ConnectX-8 at 800 Gb/s a GPU; Google Cloud's A4X Max: four with "
            "3,200 Gb/s",
            "vendor documentation",
        ),
        "RUBIN_PLANE": _rate(
            "50",
            "from a Rubin GPU to one of 36 NVLink switch chips",
            "sixth NVLink, 3.6 TB/s a GPU, both directions, over 36 links (drpranayjha.com); a "
            "chip for each link is what 9 switch trays leave",
            "derived",
        ),
        "RUBIN_NIC": _rate(
            "100",
            "one of the two NICs of a Rubin GPU",
            "two ConnectX-9 at 800 Gb/s a GPU (wheelersnetwork.com, GTC DC 2025)",
            "secondary page",
        ),
        "SPARK_LINK": _rate(
            "25",
            "a DGX Spark to another, or to a switch",
            "ConnectX-7 of 200 Gb/s; servethehome.com measures 160 to 198 Gb/s over both ports",
            "secondary page",
        ),
        "TPU_V4_LINK": _rate(
            "50",
            "one of the six ICI links of a TPU v4",
            "Jouppi et al., TPU v4 (ISCA 2023): six links of 50 GB/s; Google Cloud prints 24 TB/s "
            "for the bisection of a pod, 512 links",
            "paper",
        ),
        "TPU_V5P_LINK": _rate(
            "100",
            "one of the six ICI links of a TPU v5p",
            "Google Cloud, TPU v5p: 1200 GB/s a chip, both directions",
            "vendor documentation",
        ),
        "TPU_V5E_LINK": _rate(
            "50",
            "one of the four ICI links of a TPU v5e",
            "Google Cloud, TPU v5e: 400 GB/s a chip, both directions, 4 ports; a pod's bisection "
            "of 1.6 TB/s is that of 32 such links",
            "vendor documentation",
        ),
        "TPU_V6E_LINK": _rate(
            "100",
            "one of the four ICI links of a TPU v6e",
            "Google Cloud, TPU v6e: 800 GB/s a chip, both directions, 4 ports; a pod's bisection "
            "of 3.2 TB/s is that of 32 such links",
            "vendor documentation",
        ),
        "TRN2_LINK": _rate(
            "128",
            "a NeuronLink between two Trainium2 of an instance",
            "unconfirmed: 1,024 GB/s a chip in an instance (AWS Neuron, trn2 architecture), if of "
            "both directions, over four links; third parties print 128",
            "derived",
        ),
        "TRN2_RING_LINK": _rate(
            "64",
            "a NeuronLink between Trainium2 of two instances of an UltraServer",
            "unconfirmed: 256 GB/s a chip between instances (AWS Neuron, trn2 architecture), if "
            "of both directions, over two links; third parties print 64",
            "derived",
        ),
        "TRN2_NIC": _rate(
            "25",
            "a Trainium2's share of the EFA of its instance",
            "AWS: 3.2 Tb/s of EFAv3 an instance of 16 chips; shared evenly, as no page says how",
            "derived",
        ),
    }
)
"""Numbers of the machines that are not boxes of 8: racks, desks and slices."""
