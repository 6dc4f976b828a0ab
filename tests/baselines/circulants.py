"""Circulants by hand: GPU i is linked both ways to i + s for every stride s."""

from forestcoll.topology import Topology, TopologyBuilder

__all__ = ["circulant"]


def circulant(nodes: int, *strides: int) -> Topology:
    builder = TopologyBuilder()
    for i in range(nodes):
        builder.gpu(f"gpu{i}", index=i)
    for stride in strides:
        for i in range(nodes):
            builder.link(f"gpu{i}", f"gpu{(i + stride) % nodes}", 1)
    return builder.build(f"C({nodes},{strides})")
