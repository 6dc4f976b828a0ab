"""GPUs and servers that reduce, behind plain switches (parameter servers, optcast)."""

from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.numbers import Exact


def servers(
    hosts: int, speeds: tuple[Exact, ...], nic: Exact = "12.5", leaves: int = 1
) -> Topology:
    """Hosts of one GPU and servers of the given speeds, dealt out to leaves below a spine."""
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"g{i}") for i in range(hosts)]
    adding = [builder.switch(f"r{i}", multicast=True) for i in range(len(speeds))]
    below = [builder.switch(f"leaf{i}") for i in range(leaves)]
    for i, gpu in enumerate(gpus):
        builder.link(gpu, below[i * leaves // hosts], nic)
    for i, (server, speed) in enumerate(zip(adding, speeds, strict=True)):
        builder.link(server, below[i * leaves // len(speeds)], speed)
    if leaves > 1:
        spine = builder.switch("spine")
        for leaf in below:
            builder.link(leaf, spine, 1000)
    return builder.build(f"{hosts} hosts, {len(speeds)} servers, {leaves} leaves")
