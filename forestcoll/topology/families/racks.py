"""Racks of NVLink switches: GB200 and GB300 NVL72, and Vera Rubin NVL144.

A tray has four GPUs: tray t of rack r is GPUs b{r}.gpu{4t} to b{r}.gpu{4t + 3}. A rack of which 64
GPUs are used, as schedulers like powers of two, has ``gpus_per_rack=64``; dead trays, switch chips
and NICs are left out by ``--without 'b0.gpu1[2-5]'``, ``--without b0.nvswitch7``.
"""

from __future__ import annotations

from typing import Annotated

from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.families.constants import GB200_NIC, GB200_NVLINK_PLANE
from forestcoll.topology.families.fabric import FabricText, join_boxes
from forestcoll.topology.families.family import family
from forestcoll.topology.families.machine_table import MACHINE_CONSTANTS
from forestcoll.topology.families.machines import racks_of_planes
from forestcoll.topology.families.values import Amount, Count, Flag
from forestcoll.topology.numbers import Exact, exact

__all__ = ["gb200_nvl72", "gb300_nvl72", "vr_nvl144"]

GPUS_OF_A_RACK = 72
CHIPS = 18
RUBIN_CHIPS = 36

Racks = Annotated[int, Count("number of racks")]
Gpus = Annotated[int, Count("GPUs of a rack that are used, the first ones", maximum=GPUS_OF_A_RACK)]
Plane = Annotated[Exact, Amount("GB/s from a GPU to one NVLink switch chip")]
Nic = Annotated[Exact, Amount("GB/s of one NIC")]
Nvls = Annotated[bool, Flag("NVLink switches can multicast and aggregate (NVLS)")]
Fabric = Annotated[str, FabricText("network between racks")]


@family
def gb200_nvl72(
    racks: Racks = 1,
    gpus_per_rack: Gpus = GPUS_OF_A_RACK,
    plane_bandwidth: Plane = GB200_NVLINK_PLANE.value,
    nic_bandwidth: Nic = GB200_NIC.value,
    nvls: Nvls = True,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """NVIDIA GB200 NVL72: racks of 72 GPUs on 18 NVLink switch chips, a NIC a GPU."""
    counts = (racks, gpus_per_rack, CHIPS)
    return _racks("gb200_nvl72", counts, (plane_bandwidth, nic_bandwidth), 1, fabric, nvls=nvls)


@family
def gb300_nvl72(
    racks: Racks = 1,
    gpus_per_rack: Gpus = GPUS_OF_A_RACK,
    plane_bandwidth: Plane = GB200_NVLINK_PLANE.value,
    nic_bandwidth: Nic = MACHINE_CONSTANTS["GB300_NIC"].value,
    nvls: Nvls = True,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """NVIDIA GB300 NVL72: as GB200 NVL72, with NICs of twice the bandwidth."""
    counts = (racks, gpus_per_rack, CHIPS)
    return _racks("gb300_nvl72", counts, (plane_bandwidth, nic_bandwidth), 1, fabric, nvls=nvls)


@family
def vr_nvl144(
    racks: Racks = 1,
    gpus_per_rack: Gpus = GPUS_OF_A_RACK,
    plane_bandwidth: Plane = MACHINE_CONSTANTS["RUBIN_PLANE"].value,
    nic_bandwidth: Nic = MACHINE_CONSTANTS["RUBIN_NIC"].value,
    nvls: Nvls = True,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """NVIDIA Vera Rubin NVL144: racks of 72 GPUs (of two dies) on 36 NVLink switch chips.

    A GPU is a package, as its dies share its links. It has two NICs.
    """
    counts = (racks, gpus_per_rack, RUBIN_CHIPS)
    return _racks("vr_nvl144", counts, (plane_bandwidth, nic_bandwidth), 2, fabric, nvls=nvls)


def _racks(
    name: str,
    counts: tuple[int, int, int],
    bandwidths: tuple[Exact, Exact],
    nics: int,
    fabric: str,
    *,
    nvls: bool,
) -> TopologyBuilder:
    """Make racks; ``bandwidths`` are to a switch chip and of each of the GPU's NICs."""
    racks, gpus_per_rack, chips = counts
    plane_bandwidth, nic_bandwidth = bandwidths
    gpus = racks * gpus_per_rack
    expect_size(gpus + racks * chips, 2 * gpus * (chips + nics), name)
    builder = TopologyBuilder()
    each = exact(nic_bandwidth, "nic_bandwidth")
    own = racks_of_planes(builder, counts, plane_bandwidth, nvls=nvls)
    ports = [[(gpu, each) for gpu in rack for _ in range(nics)] for rack in own]
    join_boxes(builder, ports, fabric)
    return builder
