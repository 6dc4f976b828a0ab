"""Topologies of real machines, and the paper's running example.

Source: ForestColl section 6 and figures 1, 5 and 9; ``constants`` has the numbers and sources.
Every function takes exact numbers (int, Fraction, or text such as "12.5"), in GB/s per direction.
With one box there is no network between boxes, and it is left out. ``fabric`` names that network.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Annotated, Literal

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.families.constants import (
    A100_NIC,
    A100_NVSWITCH,
    A800_NIC,
    A800_NVSWITCH,
    GB200_NIC,
    GB200_NVLINK_PLANE,
    GPUS_PER_DGX,
    H100_NIC,
    H100_NVSWITCH,
    HOST_MEMORY,
    MI250_IB,
    MI250_XGMI,
    MI250_XGMI_LINKS,
    PCIE_LANE,
    SOCKET_LINK,
)
from forestcoll.topology.families.fabric import FabricText, Port, join_boxes
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Amount, Choice, Count, Flag
from forestcoll.topology.numbers import Exact, exact

__all__ = [
    "Boxes", "Fabric", "NicBandwidth", "Nvls", "NvswitchBandwidth", "Sharp", "dgx_a100", "dgx_h100",
    "hgx_a800", "mi250", "nvl72", "nvswitch_box", "paper_example", "pcie_box", "pcie_host",
    "racks_of_planes", "with_bandwidth",
]  # fmt: skip


Boxes = Annotated[int, Count("number of boxes")]
IbSwitches = Annotated[
    Literal[1, 2], Choice("InfiniBand switches; with 2, even and odd NICs on their own", (1, 2))
]
Nics = Annotated[
    Literal["implicit", "nodes"],
    Choice("NICs as a GPU's link to the network, or as nodes behind PCIe", ("implicit", "nodes")),
]
NvswitchBandwidth = Annotated[Exact, Amount("GB/s from a GPU to the NVSwitch")]
NicBandwidth = Annotated[Exact, Amount("GB/s of one NIC")]
Nvls = Annotated[bool, Flag("NVSwitches can multicast and aggregate (NVLS)")]
Sharp = Annotated[bool, Flag("InfiniBand switches can multicast and aggregate (SHARP)")]
Fabric = Annotated[str, FabricText("network between boxes")]


@family
def dgx_a100(
    boxes: Boxes,
    ib_switches: IbSwitches = 1,
    nics: Nics = "implicit",
    nvswitch_bandwidth: NvswitchBandwidth = A100_NVSWITCH.value,
    nic_bandwidth: NicBandwidth = A100_NIC.value,
    sharp: Sharp = False,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """NVIDIA DGX A100: boxes of 8 GPUs on an NVSwitch, joined by InfiniBand.

    With ``nics="nodes"`` every two GPUs share a PCIe switch with two NICs, and the NICs are on
    the InfiniBand switches. A GPU's own PCIe link then carries what one NIC does, as the paper
    counts it (325 GB/s into a GPU), so that both models have the same optimum.
    """
    builder = TopologyBuilder()
    bandwidths = (nvswitch_bandwidth, nic_bandwidth)
    network = _with_ib_switches(fabric, ib_switches)
    _dgx(builder, boxes, network, nics, bandwidths, nvls=False, sharp=sharp)
    return builder


@family
def dgx_h100(
    boxes: Boxes,
    ib_switches: IbSwitches = 1,
    nics: Nics = "implicit",
    nvswitch_bandwidth: NvswitchBandwidth = H100_NVSWITCH.value,
    nic_bandwidth: NicBandwidth = H100_NIC.value,
    nvls: Nvls = True,
    sharp: Sharp = False,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """NVIDIA DGX H100: as DGX A100, faster, with an NVSwitch that can multicast (NVLS)."""
    builder = TopologyBuilder()
    bandwidths = (nvswitch_bandwidth, nic_bandwidth)
    network = _with_ib_switches(fabric, ib_switches)
    _dgx(builder, boxes, network, nics, bandwidths, nvls=nvls, sharp=sharp)
    return builder


@family
def hgx_a800(
    boxes: Boxes,
    nvswitch_bandwidth: NvswitchBandwidth = A800_NVSWITCH.value,
    nic_bandwidth: NicBandwidth = A800_NIC.value,
    sharp: Sharp = False,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """SyCCL's test bed: boxes of 8 A800s on an NVSwitch, two GPUs to a NIC on InfiniBand.

    A GPU's own PCIe link carries what the NIC does, as in ``dgx_a100`` with NICs as nodes.
    """
    builder = TopologyBuilder()
    ports: list[list[str]] = []
    for box in range(boxes):
        gpus = nvswitch_box(builder, box, GPUS_PER_DGX, nvswitch_bandwidth, multicast=False)
        count = len(gpus) // 2 if boxes > 1 else 0
        nics = [builder.switch(f"b{box}.nic{i}", box, i) for i in range(count)]
        for i, gpu in enumerate(gpus if nics else ()):
            builder.link(gpu, nics[i // 2], nic_bandwidth)
        ports.append(nics)
    join_boxes(builder, with_bandwidth(ports, nic_bandwidth), fabric, sharp=sharp)
    return builder


@family
def nvl72(
    racks: Annotated[int, Count("number of racks")] = 1,
    gpus_per_rack: Annotated[int, Count("GPUs of a rack")] = 72,
    planes: Annotated[int, Count("NVLink switch chips, a link of each GPU to each")] = 18,
    plane_bandwidth: Annotated[
        Exact, Amount("GB/s from a GPU to one chip")
    ] = GB200_NVLINK_PLANE.value,
    nic_bandwidth: NicBandwidth = GB200_NIC.value,
    nvls: Nvls = True,
    sharp: Sharp = False,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """NVIDIA GB200 NVL72: racks of 72 GPUs on 18 NVLink switch chips, joined by InfiniBand."""
    gpus = racks * gpus_per_rack
    expect_size(gpus + racks * planes, 2 * gpus * (planes + 1), "nvl72")
    builder = TopologyBuilder()
    counts = (racks, gpus_per_rack, planes)
    ports = racks_of_planes(builder, counts, plane_bandwidth, nvls=nvls)
    join_boxes(builder, with_bandwidth(ports, nic_bandwidth), fabric, sharp=sharp)
    return builder


def racks_of_planes(
    builder: TopologyBuilder, counts: tuple[int, int, int], bandwidth: Exact, *, nvls: bool
) -> list[list[str]]:
    """Add racks of GPUs with a link to each of some switch chips; return the GPUs by rack.

    ``counts`` are the racks, the GPUs of a rack and the chips of a rack.
    """
    racks, gpus_per_rack, planes = counts
    ports: list[list[str]] = []
    for rack in range(racks):
        ports.append([builder.gpu(f"b{rack}.gpu{i}", rack, i) for i in range(gpus_per_rack)])
        for plane in range(planes):
            chip = builder.switch(f"b{rack}.nvswitch{plane}", rack, plane, multicast=nvls)
            for gpu in ports[rack]:
                builder.link(gpu, chip, bandwidth)
    return ports


@family
def mi250(
    boxes: Boxes,
    gpus_per_box: Annotated[
        Literal[16, 8], Choice("all GPUs of a box, or GPUs 0 to 7 only", (16, 8))
    ] = 16,
    xgmi_bandwidth: Annotated[Exact, Amount("GB/s of one xGMI link")] = MI250_XGMI.value,
    ib_bandwidth: Annotated[
        Exact, Amount("GB/s from a GPU to the InfiniBand switch")
    ] = MI250_IB.value,
    sharp: Sharp = False,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """AMD MI250: boxes of 16 GPUs wired to each other by xGMI, joined by InfiniBand."""
    builder = TopologyBuilder()
    xgmi = exact(xgmi_bandwidth, "xgmi_bandwidth")
    widths = {count: count * xgmi for count in MI250_XGMI_LINKS}
    ports: list[list[str]] = []
    for box in range(boxes):
        gpus = [builder.gpu(f"b{box}.gpu{i}", box, i) for i in range(gpus_per_box)]
        for count, pairs in MI250_XGMI_LINKS.items():
            for a, b in pairs:
                if b < gpus_per_box:
                    builder.link(gpus[a], gpus[b], widths[count])
        ports.append(gpus)
    join_boxes(builder, with_bandwidth(ports, ib_bandwidth), fabric, sharp=sharp)
    return builder


@family
def paper_example(
    bandwidth: Annotated[Exact, Amount("the b of the figure, in GB/s")] = 1,
    multicast: Annotated[bool, Flag("the switches of the boxes can multicast (figure 8)")] = False,
) -> TopologyBuilder:
    """ForestColl figure 5: two boxes of 4 GPUs, 10b inside a box and b between boxes."""
    builder = TopologyBuilder()
    b = exact(bandwidth, "bandwidth")
    gpus = [builder.gpu(f"c{i}.{j}", box=i - 1, index=j - 1) for i in (1, 2) for j in (1, 2, 3, 4)]
    box_switches = [builder.switch(f"w{i}", box=i - 1, multicast=multicast) for i in (1, 2)]
    between = builder.switch("w0")
    for rank, gpu in enumerate(gpus):
        builder.link(gpu, box_switches[rank // 4], 10 * b)
        builder.link(gpu, between, b)
    return builder


def nvswitch_box(
    builder: TopologyBuilder, box: int, gpus: int, bandwidth: Exact, *, multicast: bool
) -> list[str]:
    """Add one box of GPUs on an NVSwitch and return the names of the GPUs."""
    names = [builder.gpu(f"b{box}.gpu{i}", box, i) for i in range(gpus)]
    nvswitch = builder.switch(f"b{box}.nvswitch", box, multicast=multicast)
    for gpu in names:
        builder.link(gpu, nvswitch, bandwidth)
    return names


def _dgx(
    builder: TopologyBuilder,
    boxes: int,
    fabric: str,
    nics: str,
    bandwidths: tuple[Exact, Exact],
    *,
    nvls: bool,
    sharp: bool,
) -> None:
    """Add boxes, and the network between them; ``bandwidths`` are to the NVSwitch and of a NIC."""
    nvswitch_bandwidth, nic_bandwidth = bandwidths
    ports: list[list[str]] = []
    for box in range(boxes):
        gpus = nvswitch_box(builder, box, GPUS_PER_DGX, nvswitch_bandwidth, multicast=nvls)
        as_nodes = nics == "nodes" and boxes > 1
        ports.append(_pcie(builder, box, gpus, nic_bandwidth) if as_nodes else gpus)
    join_boxes(builder, with_bandwidth(ports, nic_bandwidth), fabric, sharp=sharp)


def with_bandwidth(ports: Sequence[Sequence[str]], bandwidth: Exact) -> list[list[Port]]:
    """Return the NICs of each box with one bandwidth for all."""
    each = exact(bandwidth, "nic_bandwidth")
    return [[(node, each) for node in box] for box in ports]


def _with_ib_switches(fabric: str, ib_switches: int) -> str:
    """Return the network between boxes: two InfiniBand switches are two planes of one switch."""
    if ib_switches == 1:
        return fabric
    if fabric != "single":
        raise InvalidTopologyError(
            f"ib_switches is {ib_switches} and fabric {fabric}; give one of them (two switches are "
            f"fabric=single:planes=2)"
        )
    return f"single:planes={ib_switches}"


def _pcie(builder: TopologyBuilder, box: int, gpus: list[str], bandwidth: Exact) -> list[str]:
    """Put every two GPUs on a PCIe switch with two NICs and return the names of the NICs."""
    pcie = [builder.switch(f"b{box}.pcie{j}", box, j) for j in range(len(gpus) // 2)]
    nics = [builder.switch(f"b{box}.nic{i}", box, i) for i in range(len(gpus))]
    for i, (gpu, nic) in enumerate(zip(gpus, nics, strict=True)):
        builder.link(gpu, pcie[i // 2], bandwidth)
        builder.link(nic, pcie[i // 2], bandwidth)
    return nics


@family
def pcie_box(
    gpus: Annotated[int, Count("GPUs of the box, shared out evenly among the sockets")] = 8,
    sockets: Annotated[int, Count("CPU sockets, each linked to each", maximum=8)] = 1,
    pcie: Annotated[Literal[3, 4, 5], Choice("generation of PCIe", (3, 4, 5))] = 5,
    lanes: Annotated[Literal[1, 2, 4, 8, 16], Choice("PCIe lanes of a GPU", (1, 2, 4, 8, 16))] = 16,
    memory_bandwidth: Annotated[
        Exact, Amount("GB/s of transfers through a socket's memory, each written and read")
    ] = HOST_MEMORY.value,
    socket_bandwidth: Annotated[Exact, Amount("GB/s from a socket to another")] = SOCKET_LINK.value,
    peer_access: Annotated[
        bool, Flag("GPUs read each other's memory over PCIe, past host memory")
    ] = False,
) -> TopologyBuilder:
    """GPUs on PCIe whose transfers pass host memory, as consumer GPUs' do: one box.

    The memory of a socket is a shared capacity of the links from the socket to its GPUs: a transfer
    is counted once, where it is read. Half of what data sheets print is what it can do, as each
    byte is written and read. Raises InvalidTopologyError if there are more sockets than GPUs.
    """
    builder = TopologyBuilder()
    pcie_host(
        builder,
        0,
        (gpus, sockets),
        lanes * PCIE_LANE[pcie].value,
        socket_bandwidth,
        None if peer_access else memory_bandwidth,
    )
    return builder


def pcie_host(
    builder: TopologyBuilder,
    box: int,
    counts: tuple[int, int],
    bandwidth: Exact,
    socket_bandwidth: Exact,
    memory_bandwidth: Exact | None,
) -> tuple[list[str], list[str]]:
    """Add a host with GPUs on PCIe and return the names of the GPUs and of the sockets.

    ``counts`` are GPUs and sockets. Without a memory bandwidth GPUs read each other's memory.
    """
    gpus, sockets = counts
    if sockets > gpus:
        raise InvalidTopologyError(
            f"pcie_box: {sockets} sockets for {gpus} GPUs; every socket needs a GPU"
        )
    hosts = [builder.switch(f"b{box}.socket{i}", box, i) for i in range(sockets)]
    names = []
    for i in range(gpus):
        names.append(builder.gpu(f"b{box}.gpu{i}", box, i))
        builder.link(names[-1], hosts[i * sockets // gpus], bandwidth)
    for one, other in combinations(hosts, 2):
        builder.link(one, other, socket_bandwidth)
    for i, host in enumerate(hosts if memory_bandwidth is not None else ()):
        builder.share(f"b{box}.memory{i}", f"{host} -> b{box}.gpu*", memory_bandwidth or 0)
    return names, hosts
