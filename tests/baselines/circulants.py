"""Circulants by hand: GPU i is linked both ways to i + s for every stride s."""

from forestcoll.topology import Topology
from tests.hand_networks import network_of


def circulant(nodes: int, *strides: int) -> Topology:
    names = " ".join(f"gpu{i}@.{i}" for i in range(nodes))
    links = [f"gpu{i} - gpu{(i + stride) % nodes}" for stride in strides for i in range(nodes)]
    return network_of(names, ", ".join(links), f"C({nodes},{strides})")
