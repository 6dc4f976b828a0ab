"""Topology of a PCIe box, with or without peer access between its GPUs.

Problem: consumer GPUs cannot read each other's memory. Every transfer is written to host memory and
         read from there, so the memory's bandwidth limits all transfers together.
Input:   GPUs, sockets, PCIe generation and lanes, bandwidths of memory and between sockets.
Output:  a switch for each socket with its GPUs; a shared capacity for the memory of each socket.
Cost:    linear in the GPUs.
Source:  ``constants`` has the numbers and their sources. NCCL's transport through shared memory has
         its buffers on the receiving side (src/transport/shm.cc: NCCL_SHM_LOCALITY is SHM_RECV_SIDE
         by default). So a transfer between sockets loads the memory of the receiver's socket.
"""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, Literal

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.constants import HOST_MEMORY, PCIE_LANE, SOCKET_LINK
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Amount, Choice, Count, Flag
from forestcoll.topology.numbers import Exact

__all__ = ["pcie_box"]


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
    byte is written and read.

    Raises
    ------
    InvalidTopologyError
        If there are more sockets than GPUs.
    """
    if sockets > gpus:
        raise InvalidTopologyError(
            f"pcie_box: {sockets} sockets for {gpus} GPUs; every socket needs a GPU"
        )
    builder = TopologyBuilder()
    hosts = [builder.switch(f"b0.socket{i}", 0, i) for i in range(sockets)]
    for i in range(gpus):
        host = hosts[i * sockets // gpus]
        builder.link(builder.gpu(f"b0.gpu{i}", 0, i), host, lanes * PCIE_LANE[pcie].value)
    for one, other in combinations(hosts, 2):
        builder.link(one, other, socket_bandwidth)
    if not peer_access:
        for i, host in enumerate(hosts):
            builder.share(f"b0.memory{i}", f"{host} -> b0.gpu*", memory_bandwidth)
    return builder
