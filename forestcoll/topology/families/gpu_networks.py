"""Networks of GPUs without boxes: Clos of three layers, dragonflies, HyperX, Slim Fly, two planes.

Every GPU has a NIC, or two, and is put on a leaf or router; ``fabric`` joins them as it joins
boxes. A GPU's box is its leaf or router. Bandwidths are exact and in GB/s per direction.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated

from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.families.fabric import Fabric, join_boxes
from forestcoll.topology.families.fabric.fabric_text import MOST_SWITCHES
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Amount, Count, Either, Flag, Sizes
from forestcoll.topology.numbers import Exact, exact

__all__ = ["clos", "dragonfly", "dragonfly_plus", "dual_plane", "hyperx", "slim_fly"]

_AS_NIC = "as-nic"
_FEWEST = "fewest"

Hosts = Annotated[int, Count("GPUs on each leaf or router", maximum=1024)]
Bandwidth = Annotated[Exact, Amount("GB/s of a NIC, per direction")]
LinkBandwidth = Annotated[
    Exact | str, Either(_AS_NIC, Amount("GB/s of the link between two switches"))
]
Globals = Annotated[
    int | str,
    Either(_FEWEST, Count("links of a switch to other groups", maximum=MOST_SWITCHES)),
]
Multicast = Annotated[bool, Flag("the switches can multicast and aggregate")]


@family
def clos(
    pods: Annotated[int, Count("pods", maximum=1024)],
    leaves: Annotated[int, Count("leaf switches of a pod", maximum=1024)],
    hosts: Hosts,
    spines: Annotated[int, Count("spine switches of a pod", maximum=1024)],
    cores: Annotated[int, Count("core switches, a multiple of the spines", maximum=MOST_SWITCHES)],
    oversubscription: Annotated[Exact, Amount("bandwidth from a leaf down over up")] = 1,
    core_oversubscription: Annotated[
        Exact, Amount("bandwidth from a pod's leaves to its spines over up to the cores")
    ] = 1,
    bandwidth: Bandwidth = 1,
    multicast: Multicast = False,
) -> TopologyBuilder:
    """Clos network of three layers: leaves, spines of a pod, and cores that join the pods.

    Spine j of every pod is on the cores j, j + spines, and so on.
    """
    options = {"pods": pods, "leaves": leaves, "spines": spines, "cores": cores}
    factors = {
        "oversubscription": exact(oversubscription, "oversubscription"),
        "core_oversubscription": exact(core_oversubscription, "core_oversubscription"),
    }
    words = Fabric("clos", options | factors)
    return _network(words, pods * leaves, hosts, bandwidth, multicast=multicast)


@family
def dragonfly(
    groups: Annotated[int, Count("groups", maximum=4096)],
    routers: Annotated[int, Count("routers of a group", maximum=1024)],
    hosts: Hosts,
    global_links: Globals = _FEWEST,
    bandwidth: Bandwidth = 1,
    local_bandwidth: LinkBandwidth = _AS_NIC,
    global_bandwidth: LinkBandwidth = _AS_NIC,
    multicast: Multicast = False,
) -> TopologyBuilder:
    """Dragonfly: groups of routers, each linked to each, and links between all groups.

    Every two groups have equally many links between them.
    """
    options: dict[str, object] = {"groups": groups, "routers": routers}
    options |= {} if global_links == _FEWEST else {"globals": global_links}
    options |= _links(local_bandwidth=local_bandwidth, global_bandwidth=global_bandwidth)
    words = Fabric("dragonfly", options)
    return _network(words, groups * routers, hosts, bandwidth, multicast=multicast)


@family
def dragonfly_plus(
    groups: Annotated[int, Count("groups", maximum=4096)],
    leaves: Annotated[int, Count("leaf switches of a group", maximum=1024)],
    spines: Annotated[int, Count("spine switches of a group", maximum=1024)],
    hosts: Hosts,
    global_links: Globals = _FEWEST,
    oversubscription: Annotated[Exact, Amount("bandwidth from a leaf down over up")] = 1,
    bandwidth: Bandwidth = 1,
    global_bandwidth: LinkBandwidth = _AS_NIC,
    multicast: Multicast = False,
) -> TopologyBuilder:
    """Dragonfly+: groups of leaves and spines, and links between the spines of all groups."""
    options: dict[str, object] = {"groups": groups, "leaves": leaves, "spines": spines}
    options |= {} if global_links == _FEWEST else {"globals": global_links}
    options |= {"oversubscription": exact(oversubscription, "oversubscription")}
    options |= _links(global_bandwidth=global_bandwidth)
    words = Fabric("dragonfly-plus", options)
    return _network(words, groups * leaves, hosts, bandwidth, multicast=multicast)


@family
def hyperx(
    dims: Annotated[tuple[int, ...], Sizes("routers in each dimension", maximum=MOST_SWITCHES)],
    hosts: Hosts,
    bandwidth: Bandwidth = 1,
    link_bandwidth: LinkBandwidth = _AS_NIC,
    multicast: Multicast = False,
) -> TopologyBuilder:
    """HyperX: routers in a grid, each linked to all that differ in one coordinate."""
    words = Fabric("hyperx", {"dims": dims, **_links(link_bandwidth=link_bandwidth)})
    return _network(words, math.prod(dims), hosts, bandwidth, multicast=multicast)


@family
def slim_fly(
    q: Annotated[int, Count("a prime power, not 2: 2 q^2 routers", minimum=3, maximum=89)],
    hosts: Hosts,
    bandwidth: Bandwidth = 1,
    link_bandwidth: LinkBandwidth = _AS_NIC,
    multicast: Multicast = False,
) -> TopologyBuilder:
    """Slim Fly: routers in a McKay-Miller-Siran graph, two hops from each to each.

    With q = 4 w + delta a router has (3 q - delta) / 2 links to others.
    """
    words = Fabric("slim-fly", {"q": q, **_links(link_bandwidth=link_bandwidth)})
    return _network(words, 2 * q * q, hosts, bandwidth, multicast=multicast)


@family
def dual_plane(
    leaves: Annotated[int, Count("leaf switches of a plane", maximum=MOST_SWITCHES)],
    hosts: Hosts,
    spines: Annotated[int, Count("spine switches of a plane", maximum=1024)],
    planes: Annotated[int, Count("planes, a NIC of each GPU on each", maximum=64)] = 2,
    oversubscription: Annotated[Exact, Amount("bandwidth from a leaf down over up")] = 1,
    bandwidth: Bandwidth = 1,
    multicast: Multicast = False,
) -> TopologyBuilder:
    """GPUs with a NIC in each of two planes, which are leaves and spines of their own."""
    options = {
        "leaves": leaves,
        "spines": spines,
        "oversubscription": exact(oversubscription, "oversubscription"),
    }
    words = Fabric("leaf-spine", options, planes)
    return _network(words, leaves, hosts, bandwidth, multicast=multicast)


def _links(**bandwidths: Exact | str) -> Mapping[str, Fraction]:
    """Return the options of bandwidths that are not those of a NIC."""
    return {name: exact(one, name) for name, one in bandwidths.items() if one != _AS_NIC}


def _network(
    words: Fabric, blocks: int, hosts: int, bandwidth: Exact, *, multicast: bool
) -> TopologyBuilder:
    """Make GPUs in blocks of equal size, each with a NIC in every plane, and join them."""
    number = blocks * hosts
    expect_size(number, 2 * number * words.planes, words.kind)
    builder = TopologyBuilder()
    each = exact(bandwidth, "bandwidth")
    ports = []
    for i in range(number):
        name = builder.gpu(f"gpu{i}", i // hosts, i % hosts)
        ports.append([(name, each)] * words.planes)
    join_boxes(builder, ports, str(words), sharp=multicast)
    return builder
