"""Machines as TE-CCL models them: chassis whose links have latencies.

Source: TE-CCL (SIGCOMM 2024), table 2 and figures 13 to 15; ``constants`` has the numbers and their
sources. The wiring follows its published code, without two slips: here all GPUs are GPUs (there
GPU 0 of two NDv2 chassis counts as a switch), and all links of a switch have one bandwidth.
Latencies are in microseconds. With one chassis there is no network between them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.constants import (
    DGX1_LINKS,
    DGX1_NVLINK_LATENCY,
    DGX2_NIC,
    DGX2_NIC_LATENCY,
    DGX2_NVSWITCH,
    DGX2_NVSWITCH_LATENCY,
    MI250_GPU_LATENCY,
    MI250_PAIR_SWITCH,
    MI250_SWITCH_LATENCY,
    MI250_XGMI,
    MI250_XGMI_LINKS,
    NDV2_NIC,
    NDV2_NIC_LATENCY,
    V100_NVLINK,
)
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Amount, Choice, Count, Flag, Latency
from forestcoll.topology.numbers import Exact, exact

__all__ = ["dgx1", "dgx2", "mi250_teccl", "ndv2"]

GPUS_OF_DGX1 = 8
GPUS_OF_DGX2 = 16
GPUS_OF_MI250 = 16

Chassis = Annotated[int, Count("number of chassis")]
NvlinkBandwidth = Annotated[Exact, Amount("GB/s of one NVLink; a pair of GPUs has one or two")]
NvlinkLatency = Annotated[Exact, Latency("us of a link between two GPUs")]
NicBandwidth = Annotated[Exact, Amount("GB/s of one NIC")]
Multicast = Annotated[bool, Flag("the switches can multicast")]


@family
def dgx1(
    nvlink_bandwidth: NvlinkBandwidth = V100_NVLINK.value,
    nvlink_latency: NvlinkLatency = DGX1_NVLINK_LATENCY.value,
) -> TopologyBuilder:
    """NVIDIA DGX-1: 8 V100s wired to each other by NVLink, a hybrid cube mesh."""
    builder = TopologyBuilder()
    _hybrid_cube_mesh(builder, 0, nvlink_bandwidth, nvlink_latency)
    return builder


@family
def ndv2(
    chassis: Chassis,
    nvlink_bandwidth: NvlinkBandwidth = V100_NVLINK.value,
    nvlink_latency: NvlinkLatency = DGX1_NVLINK_LATENCY.value,
    nic_bandwidth: NicBandwidth = NDV2_NIC.value,
    nic_latency: Annotated[
        Exact, Latency("us of a link between chassis, or from a chassis to the switch and back")
    ] = NDV2_NIC_LATENCY.value,
    between: Annotated[
        Literal["switch", "direct"],
        Choice("what joins chassis: a switch, or for two of them links", ("switch", "direct")),
    ] = "switch",
    multicast: Multicast = False,
) -> TopologyBuilder:
    """Azure NDv2: chassis wired as a DGX-1; GPU 0 of each sends to the others, GPU 1 receives.

    Two chassis have a switch between them in the paper, links from GPU 0 of one to GPU 1 of the
    other in its published code (``between="direct"``): the same bandwidth at half the latency.
    """
    if between == "direct" and chassis > 2:
        raise InvalidTopologyError(
            f"ndv2: between is 'direct' with chassis {chassis}; the one NIC of a chassis has one "
            f"link, so it must be 'switch', or chassis at most 2"
        )
    builder = TopologyBuilder()
    gpus = [
        _hybrid_cube_mesh(builder, number, nvlink_bandwidth, nvlink_latency)
        for number in range(chassis)
    ]
    if between == "switch" and chassis > 1:
        ib = builder.switch("ib", multicast=multicast)
        for names in gpus:
            builder.arc(names[0], ib, nic_bandwidth, nic_latency)
            builder.arc(ib, names[1], nic_bandwidth, nic_latency)
    elif chassis > 1:
        for one, other in (gpus, gpus[::-1]):
            builder.arc(one[0], other[1], nic_bandwidth, nic_latency)
    return builder


@family
def dgx2(
    chassis: Annotated[
        int, Count("number of chassis; a third finds no NIC free to be wired to", maximum=2)
    ],
    nvswitch_bandwidth: Annotated[
        Exact, Amount("GB/s from a GPU to the NVSwitch")
    ] = DGX2_NVSWITCH.value,
    nvswitch_latency: Annotated[
        Exact, Latency("us from a GPU to the NVSwitch, and back")
    ] = DGX2_NVSWITCH_LATENCY.value,
    nic_bandwidth: NicBandwidth = DGX2_NIC.value,
    nic_latency: Annotated[Exact, Latency("us from a NIC to another")] = DGX2_NIC_LATENCY.value,
    multicast: Multicast = False,
) -> TopologyBuilder:
    """NVIDIA DGX-2: chassis of 16 V100s on an NVSwitch; odd GPUs send across, even ones receive.

    GPU 2i + 1 of a chassis has a link to GPU 2i of the other. For a third chassis it would need
    another NIC, or a network that the paper does not describe.
    """
    builder = TopologyBuilder()
    gpus: list[list[str]] = []
    for number in range(chassis):
        names = _gpus(builder, number, GPUS_OF_DGX2)
        nvswitch = builder.switch(f"b{number}.nvswitch", number, multicast=multicast)
        for gpu in names:
            builder.link(gpu, nvswitch, nvswitch_bandwidth, nvswitch_latency)
        gpus.append(names)
    if chassis == 2:
        for one, other in (gpus, gpus[::-1]):
            for even in range(0, GPUS_OF_DGX2, 2):
                builder.arc(one[even + 1], other[even], nic_bandwidth, nic_latency)
    return builder


@family
def mi250_teccl(
    chassis: Chassis,
    xgmi_bandwidth: Annotated[Exact, Amount("GB/s of one xGMI link")] = MI250_XGMI.value,
    xgmi_latency: Annotated[
        Exact, Latency("us of a link between two GPUs")
    ] = MI250_GPU_LATENCY.value,
    switch_bandwidth: Annotated[
        Exact, Amount("GB/s of every link of a switch")
    ] = MI250_PAIR_SWITCH.value,
    switch_latency: Annotated[
        Exact, Latency("us of every link of a switch")
    ] = MI250_SWITCH_LATENCY.value,
    multicast: Multicast = False,
) -> TopologyBuilder:
    """TE-CCL's AMD: the xGMI of ``mi250``, every two GPUs on a switch, all those on another.

    The paper prints no latency for it; the defaults are those of another cloud topology there.
    """
    builder = TopologyBuilder()
    xgmi = exact(xgmi_bandwidth, "xgmi_bandwidth")
    gpus: list[list[str]] = []
    for number in range(chassis):
        names = _gpus(builder, number, GPUS_OF_MI250)
        for count, pairs in MI250_XGMI_LINKS.items():
            for a, b in pairs:
                builder.link(names[a], names[b], count * xgmi, xgmi_latency)
        gpus.append(names)
    if chassis > 1:
        between = builder.switch("switch", multicast=multicast)
        for number, names in enumerate(gpus):
            for pair in range(GPUS_OF_MI250 // 2):
                small = builder.switch(f"b{number}.switch{pair}", number, pair, multicast=multicast)
                builder.link(small, between, switch_bandwidth, switch_latency)
                for gpu in names[2 * pair : 2 * pair + 2]:
                    builder.link(gpu, small, switch_bandwidth, switch_latency)
    return builder


def _gpus(builder: TopologyBuilder, chassis: int, count: int) -> list[str]:
    return [builder.gpu(f"b{chassis}.gpu{i}", chassis, i) for i in range(count)]


def _hybrid_cube_mesh(
    builder: TopologyBuilder, chassis: int, nvlink_bandwidth: Exact, latency: Exact
) -> list[str]:
    nvlink = exact(nvlink_bandwidth, "nvlink_bandwidth")
    names = _gpus(builder, chassis, GPUS_OF_DGX1)
    for count, pairs in DGX1_LINKS.items():
        for a, b in pairs:
            builder.link(names[a], names[b], count * nvlink, latency)
    return names
