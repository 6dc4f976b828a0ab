"""Machines of 8 GPUs from the table, each registered as a family of boxes.

Every family takes ``boxes``, the GPUs of a box that are used, its bandwidths and ``fabric``. Of a
box with fewer GPUs the first remain, with their links and NICs.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Annotated

from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.families.constants import HOST_MEMORY, SOCKET_LINK
from forestcoll.topology.families.fabric import FabricText, Port, join_boxes
from forestcoll.topology.families.family import family
from forestcoll.topology.families.machine_table import MACHINE_CONSTANTS, MACHINES, BoxMachine
from forestcoll.topology.families.machines import nvswitch_box, pcie_host
from forestcoll.topology.families.values import Amount, Count, Flag
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact, exact

__all__ = ["dgx_spark", "register"]

GPUS_OF_A_BOX = 8
SOCKETS = 2

Boxes = Annotated[int, Count("number of boxes")]
Gpus = Annotated[int, Count("GPUs of a box that are used, the first ones", maximum=GPUS_OF_A_BOX)]
SwitchBandwidth = Annotated[Exact, Amount("GB/s from a GPU to the NVSwitch")]
MeshBandwidth = Annotated[Exact, Amount("GB/s of the link between two GPUs of a box")]
BridgeBandwidth = Annotated[Exact, Amount("GB/s of the NVLink bridges between two cards")]
PcieBandwidth = Annotated[Exact, Amount("GB/s from a card to its socket")]
SocketBandwidth = Annotated[Exact, Amount("GB/s from a socket to the other")]
MemoryBandwidth = Annotated[Exact, Amount("GB/s of transfers through a socket's memory")]
PeerAccess = Annotated[bool, Flag("GPUs read each other's memory over PCIe, past host memory")]
Nic = Annotated[Exact, Amount("GB/s of one NIC")]
Nvls = Annotated[bool, Flag("NVSwitches can multicast and aggregate (NVLS)")]
Fabric = Annotated[str, FabricText("network between boxes")]


def register(machine: BoxMachine) -> Callable[..., Topology]:
    """Enter a machine of the table into the registry of families, under its name."""
    make = {"switch": _switched, "mesh": _meshed, "pcie": _on_pcie}[machine.inside]
    if machine.bridge is not None:
        make = _bridged
    build = make(machine)
    build.__name__ = build.__qualname__ = machine.name
    build.__doc__ = machine.summary
    return family(build)


def _switched(machine: BoxMachine) -> Callable[..., TopologyBuilder]:
    def build(
        boxes: Boxes = 1,
        gpus_per_box: Gpus = GPUS_OF_A_BOX,
        nvswitch_bandwidth: SwitchBandwidth = machine.link.value,
        nic_bandwidth: Nic = machine.nic.value,
        nvls: Nvls = machine.nvls,
        fabric: Fabric = "single",
    ) -> TopologyBuilder:
        expect_size(boxes * gpus_per_box, 4 * boxes * gpus_per_box, machine.name)
        builder = TopologyBuilder()
        gpus = [
            nvswitch_box(builder, box, gpus_per_box, nvswitch_bandwidth, multicast=nvls)
            for box in range(boxes)
        ]
        return _joined(builder, machine, gpus, nic_bandwidth, fabric)

    return build


def _meshed(machine: BoxMachine) -> Callable[..., TopologyBuilder]:
    def build(
        boxes: Boxes = 1,
        gpus_per_box: Gpus = GPUS_OF_A_BOX,
        link_bandwidth: MeshBandwidth = machine.link.value,
        nic_bandwidth: Nic = machine.nic.value,
        fabric: Fabric = "single",
    ) -> TopologyBuilder:
        expect_size(boxes * gpus_per_box, boxes * gpus_per_box**2, machine.name)
        builder = TopologyBuilder()
        gpus = []
        for box in range(boxes):
            gpus.append([builder.gpu(f"b{box}.gpu{i}", box, i) for i in range(gpus_per_box)])
            for one, other in combinations(gpus[box], 2):
                builder.link(one, other, link_bandwidth)
        return _joined(builder, machine, gpus, nic_bandwidth, fabric)

    return build


def _on_pcie(machine: BoxMachine) -> Callable[..., TopologyBuilder]:
    def build(
        boxes: Boxes = 1,
        gpus_per_box: Gpus = GPUS_OF_A_BOX,
        pcie_bandwidth: PcieBandwidth = machine.link.value,
        socket_bandwidth: SocketBandwidth = SOCKET_LINK.value,
        memory_bandwidth: MemoryBandwidth = HOST_MEMORY.value,
        peer_access: PeerAccess = machine.peer_access,
        nic_bandwidth: Nic = machine.nic.value,
        fabric: Fabric = "single",
    ) -> TopologyBuilder:
        builder = TopologyBuilder()
        memory = None if peer_access else memory_bandwidth
        rates = (pcie_bandwidth, socket_bandwidth, memory)
        _pcie_boxes(builder, machine, (boxes, gpus_per_box), rates, nic_bandwidth, fabric)
        return builder

    return build


def _bridged(machine: BoxMachine) -> Callable[..., TopologyBuilder]:
    assert machine.bridge is not None

    def build(
        boxes: Boxes = 1,
        gpus_per_box: Gpus = GPUS_OF_A_BOX,
        bridge_bandwidth: BridgeBandwidth = machine.bridge.value,
        pcie_bandwidth: PcieBandwidth = machine.link.value,
        socket_bandwidth: SocketBandwidth = SOCKET_LINK.value,
        nic_bandwidth: Nic = machine.nic.value,
        fabric: Fabric = "single",
    ) -> TopologyBuilder:
        builder = TopologyBuilder()
        rates = (pcie_bandwidth, socket_bandwidth, None)
        counts = (boxes, gpus_per_box)
        for gpus in _pcie_boxes(builder, machine, counts, rates, nic_bandwidth, fabric):
            for one, other in zip(gpus[::2], gpus[1::2], strict=False):
                builder.link(one, other, bridge_bandwidth)
        return builder

    return build


def _pcie_boxes(
    builder: TopologyBuilder,
    machine: BoxMachine,
    counts: tuple[int, int],
    rates: tuple[Exact, Exact, Exact | None],
    nic_bandwidth: Exact,
    fabric: str,
) -> list[list[str]]:
    """Add boxes of PCIe cards, with NICs on the sockets, and return the GPUs of each.

    ``rates`` are those of a card, of a socket to the other, and of a socket's memory if it is used.
    """
    boxes, gpus_per_box = counts
    expect_size(boxes * gpus_per_box, 4 * boxes * gpus_per_box, machine.name)
    each = exact(nic_bandwidth, "nic_bandwidth")
    found, ports = [], []
    for box in range(boxes):
        sockets = min(SOCKETS, gpus_per_box)
        gpus, hosts = pcie_host(builder, box, (gpus_per_box, sockets), *rates)
        found.append(gpus)
        ports.append([(hosts[i % sockets], each) for i in range(machine.nics)])
    join_boxes(builder, ports, fabric)
    return found


def _joined(
    builder: TopologyBuilder,
    machine: BoxMachine,
    gpus: list[list[str]],
    nic_bandwidth: Exact,
    fabric: str,
) -> TopologyBuilder:
    """Join boxes by the NICs of their GPUs: some for each, or one for some together."""
    each = exact(nic_bandwidth, "nic_bandwidth")
    if machine.nics >= GPUS_OF_A_BOX:
        own = machine.nics // GPUS_OF_A_BOX
        ports = [[(gpu, each) for gpu in names for _ in range(own)] for names in gpus]
    else:
        ports = [
            _shared_nics(builder, box, names, GPUS_OF_A_BOX // machine.nics, each)
            for box, names in enumerate(gpus)
            if len(gpus) > 1
        ]
    join_boxes(builder, ports, fabric)
    return builder


def _shared_nics(
    builder: TopologyBuilder, box: int, gpus: list[str], sharers: int, bandwidth: Exact
) -> list[Port]:
    """Put so many GPUs at a time on a NIC; a GPU's own PCIe link carries what the NIC does."""
    each = exact(bandwidth, "nic_bandwidth")
    count = -(-len(gpus) // sharers)
    nics = [builder.switch(f"b{box}.nic{i}", box, i) for i in range(count)]
    for i, gpu in enumerate(gpus):
        builder.link(gpu, nics[i // sharers], each)
    return [(nic, each) for nic in nics]


for _machine in MACHINES:
    globals()[_machine.name] = register(_machine)


@family
def dgx_spark(
    boxes: Annotated[int, Count("number of DGX Sparks, a GPU each", minimum=2)] = 2,
    link_bandwidth: Annotated[Exact, Amount("GB/s of the ConnectX-7")] = MACHINE_CONSTANTS[
        "SPARK_LINK"
    ].value,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """NVIDIA DGX Spark: two joined by a cable, or more on a switch."""
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"b{box}.gpu0", box, 0) for box in range(boxes)]
    if boxes == 2 and fabric == "single":
        builder.link(gpus[0], gpus[1], link_bandwidth)
    else:
        each = exact(link_bandwidth, "link_bandwidth")
        join_boxes(builder, [[(gpu, each)] for gpu in gpus], fabric)
    return builder
