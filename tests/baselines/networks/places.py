"""Where the GPUs of a ring are."""

from forestcoll.topology import Topology


def places(topology: Topology, ring: tuple[int, ...]) -> list[tuple[int | None, int | None]]:
    """The (box, index) of each GPU of a ring."""
    return [(topology.nodes[gpu].box, topology.nodes[gpu].index) for gpu in ring]
