"""Small networks on which the fastest allreduce is known by hand.

Let S have some GPUs but not all. The parts rooted in S must leave it in the gathering. In the
reduction, what S adds to the parts rooted outside must leave it. Both share the links that leave S,
and every part is rooted inside or outside, so no allreduce is faster than B+(S).
"""

from fractions import Fraction

from forestcoll.topology import Topology
from tests.hand_networks import network_of


def star(*bandwidths: int) -> Topology:
    """GPUs of these bandwidths at one switch."""
    links = (f"gpu{i} - switch: {bandwidth}" for i, bandwidth in enumerate(bandwidths))
    names = f"[switch] gpu0..{len(bandwidths) - 1}"
    return network_of(names, ", ".join(links), f"star {bandwidths}")


def line(nodes: int) -> Topology:
    """GPUs in a row, 1 GB/s each way between neighbours."""
    links = (f"gpu{i} - gpu{i + 1}" for i in range(nodes - 1))
    return network_of(f"gpu0..{nodes - 1}", ", ".join(links), f"line of {nodes}")


def two_boxes(small: int, large: int, inner: int = 10) -> Topology:
    """Boxes of so many GPUs, 10 GB/s each to their switch, with 1 GB/s each way between them.

    ``inner`` takes the place of the 10 GB/s.
    """
    left, right = f"left0..{small - 1}", f"right0..{large - 1}"
    links = f"{left} - left: {inner}, {right} - right: {inner}, left - right"
    return network_of(f"[left] [right] {left} {right}", links, f"boxes of {small} and {large}")


def one_way_detour() -> Topology:
    """Three GPUs in a one-way ring of 2 GB/s, two of them joined both ways at 1 GB/s."""
    return network_of(
        "gpu0..2",
        "gpu0 > gpu1: 3, gpu1 > gpu0, gpu1 > gpu2: 2, gpu2 > gpu0: 2",
        "one-way ring with a detour",
    )


BETTER: tuple[tuple[Topology, Fraction, Fraction], ...] = (
    # A GPU of 1 GB/s is a cut: at most 1. The fast one as only root takes 2 in and sends 2 out.
    # Of the combination, 2 shards enter a slow GPU: x* = 1/2, and N x* / 2 = 3/4.
    (star(1, 1, 2), Fraction(1), Fraction(3, 4)),
    (star(1, 1, 1, 3), Fraction(1), Fraction(2, 3)),
    # Each link is a cut: at most 1. With one root sums go one way and copies the other.
    # 3 shards leave all but an end over one link: x* = 1/3, and N x* / 2 = 2/3.
    (line(4), Fraction(1), Fraction(2, 3)),
    # Node 2 has 2 GB/s each way, a cut: at most 2. For the combination 2 shards enter it: x* = 1.
    (one_way_detour(), Fraction(2), Fraction(3, 2)),
    # All GPUs have equal bandwidth. The link between the boxes is a cut: at most 1. With roots on
    # the left only, it carries the sums of the right box one way and copies the other way.
    # 6 shards cross the link: x* = 1/6, and N x* / 2 = 2/3.
    (two_boxes(2, 6), Fraction(1), Fraction(2, 3)),
)
"""Network, fastest allreduce, and reduce-scatter + allgather, in GB/s."""

RANDOM = [
    *(("directed", seed) for seed in (0, 2, 6, 13, 18, 39)),
    *(("bidirectional", seed) for seed in (3, 4, 6, 9, 11)),
    *(("unbalanced", seed) for seed in (0, 4, 10)),
]
"""Kinds and seeds of random networks that are unlike each other."""
