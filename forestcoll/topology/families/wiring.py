"""Builders of direct-connect networks: GPUs by number or grid place, and links between them.

Every link of one network has the same bandwidth: a GPU of degree d and B GB/s in all has links of
B / d. Two links between the same pair become one of twice the bandwidth. Some definitions have
self-loops. They carry nothing and are left out, so their ports stay unused and the GPU has less
bandwidth than the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Annotated

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.values import Amount, Count
from forestcoll.topology.numbers import Exact

__all__ = [
    "MOST_LINKS", "MOST_NODES", "Degree", "LinkBandwidth", "check_links", "check_size", "cube",
    "directed", "gpus", "grid", "undirected",
]  # fmt: skip

MOST_NODES = 100_000
"""Largest number of GPUs of a network whose size is a power of a parameter."""

MOST_LINKS = 20_000_000
"""Largest number of GPUs of any other network."""

Degree = Annotated[int, Count("links out of each GPU", maximum=1024)]
LinkBandwidth = Annotated[Exact, Amount("GB/s of a link, per direction")]


def gpus(nodes: int) -> TopologyBuilder:
    """Begin a network with GPUs by number."""
    builder = TopologyBuilder()
    for i in range(nodes):
        builder.gpu(f"gpu{i}", index=i)
    return builder


def directed(nodes: int, arcs: Iterable[tuple[int, int]], bandwidth: Exact) -> TopologyBuilder:
    """Make GPUs, and links from number to number in one direction."""
    builder = gpus(nodes)
    for tail, head in arcs:
        if tail != head:
            builder.arc(f"gpu{tail}", f"gpu{head}", bandwidth)
    return builder


def undirected(nodes: int, pairs: Iterable[tuple[int, int]], bandwidth: Exact) -> TopologyBuilder:
    """Make GPUs, and links both ways between the two numbers of each pair."""
    builder = gpus(nodes)
    for a, b in pairs:
        builder.link(f"gpu{a}", f"gpu{b}", bandwidth)
    return builder


def grid(dims: tuple[int, ...]) -> tuple[TopologyBuilder, dict[tuple[int, ...], str]]:
    """Begin a network with a GPU at every place of a grid, the last coordinate counting fastest."""
    builder = TopologyBuilder()
    places = itertools.product(*(range(length) for length in dims))
    names = {place: "gpu" + ".".join(map(str, place)) for place in places}
    for index, name in enumerate(names.values()):
        builder.gpu(name, index=index)
    return builder, names


def check_links(nodes: int, degree: int, family: str) -> None:
    """Refuse a network of too many links before they are made."""
    if nodes * degree > MOST_LINKS:
        raise InvalidTopologyError(
            f"{family}: {nodes} nodes of degree {degree} have {nodes * degree} links; at most "
            f"{MOST_LINKS} are allowed, ask for fewer"
        )


def cube(dimension: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of numbers below 2^dimension that differ in one bit."""
    for number, bit in itertools.product(range(2**dimension), range(dimension)):
        if not number >> bit & 1:
            yield number, number | 1 << bit


def check_size(nodes: int, made_of: str) -> int:
    """Return a number of GPUs if it is within the limit; else raise an error."""
    if nodes > MOST_NODES:
        raise InvalidTopologyError(
            f"{made_of} make {nodes} GPUs; at most {MOST_NODES} are allowed, ask for fewer"
        )
    return nodes
