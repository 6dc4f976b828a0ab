"""Regular networks of any size: rings, tori, cubes, complete graphs, fat trees and rails.

Bandwidths are exact and in GB/s per direction. Two nodes that a construction would join twice
(a ring or torus dimension of length 2) are joined by one link.
"""

from __future__ import annotations

import itertools
from typing import Annotated

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.families.constants import (
    GPUS_PER_DGX,
    H100_NIC,
    H100_NVSWITCH,
    H800_NIC,
    H800_NVSWITCH,
)
from forestcoll.topology.families.family import family
from forestcoll.topology.families.machines import Nvls, NvswitchBandwidth, Sharp, nvswitch_box
from forestcoll.topology.families.values import Amount, Count, Either, Flag, Flags, Sizes
from forestcoll.topology.families.wiring import LinkBandwidth, cube, directed, grid, undirected
from forestcoll.topology.numbers import Exact, exact

__all__ = ["complete", "fat_tree", "hgx_h800", "hypercube", "rail_optimized", "ring", "torus"]

_AS_LINKS = "as-links"


@family
def ring(
    nodes: Annotated[int, Count("GPUs in the ring", minimum=2)],
    bandwidth: LinkBandwidth = 1,
    bidirectional: Annotated[bool, Flag("links run both ways, or only from i to i + 1")] = True,
) -> TopologyBuilder:
    """GPUs in a ring, each linked to the next; of two GPUs, one link each way."""
    steps = [(i, (i + 1) % nodes) for i in range(nodes)]
    join = undirected if bidirectional and nodes > 2 else directed
    return join(nodes, steps, bandwidth)


@family
def torus(
    dims: Annotated[tuple[int, ...], Sizes("length of each dimension")],
    bandwidth: LinkBandwidth = 1,
    wrap: Annotated[
        bool | tuple[bool, ...],
        Flags("close each dimension into a ring, or those that are true; false leaves a mesh"),
    ] = True,
    host_bandwidth: Annotated[
        Exact | str,
        Either(_AS_LINKS, Amount("GB/s of all links of a GPU together, in and out each")),
    ] = _AS_LINKS,
) -> TopologyBuilder:
    """Torus, or mesh, of any number of dimensions.

    A dimension of length 1 adds no link. In one of length 2 the step forward and the wrapped step
    back join the same pair: one link stands there, not two, whatever ``wrap`` says. A host
    bandwidth is a shared capacity of the links out of each GPU, and another of those into it.
    Raises InvalidTopologyError if ``wrap`` is for another number of dimensions.
    """
    wraps = wrap if isinstance(wrap, tuple) else (wrap,) * len(dims)
    if len(wraps) != len(dims):
        raise InvalidTopologyError(
            f"torus: wrap is for {len(wraps)} dimensions and dims for {len(dims)}; give one of "
            f"true and false for all, or for each"
        )
    builder, names = grid(dims)
    for place in names:
        for axis, length in enumerate(dims):
            step = place[axis] + 1
            if step < length or (wraps[axis] and length > 2):
                forward = (*place[:axis], step % length, *place[axis + 1 :])
                builder.link(names[place], names[forward], bandwidth)
    for name in names.values() if host_bandwidth != _AS_LINKS and len(names) > 1 else ():
        builder.share(f"{name} out", f"{name} -> *", host_bandwidth)
        builder.share(f"{name} in", f"* -> {name}", host_bandwidth)
    return builder


@family
def hypercube(
    dimension: Annotated[int, Count("2 to this power GPUs", maximum=16)],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Hypercube: GPUs whose numbers differ in one bit are linked."""
    return undirected(2**dimension, cube(dimension), bandwidth)


@family
def complete(
    nodes: Annotated[int, Count("GPUs", minimum=2, maximum=4096)],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Every GPU linked to every other."""
    return undirected(nodes, itertools.combinations(range(nodes), 2), bandwidth)


@family
def fat_tree(
    leaves: Annotated[int, Count("leaf switches", maximum=16_384)],
    hosts: Annotated[int, Count("GPUs on each leaf", maximum=1024)],
    spines: Annotated[int, Count("spine switches", maximum=1024)],
    oversubscription: Annotated[
        Exact, Amount("bandwidth from a leaf down to its GPUs over bandwidth up to the spines")
    ] = 1,
    bandwidth: Annotated[Exact, Amount("GB/s from a GPU to its leaf, per direction")] = 1,
    multicast: Annotated[bool, Flag("the switches can multicast and aggregate")] = False,
) -> TopologyBuilder:
    """GPUs on leaf switches, every leaf on every spine switch; one leaf alone has no spines."""
    expect_size(leaves * hosts, 2 * leaves * (hosts + spines), "fat_tree")
    builder = TopologyBuilder()
    for leaf in range(leaves):
        for i in range(hosts):
            builder.gpu(f"leaf{leaf}.gpu{i}", leaf, i)
    for leaf in range(leaves):
        switch = builder.switch(f"leaf{leaf}", leaf, multicast=multicast)
        for i in range(hosts):
            builder.link(f"leaf{leaf}.gpu{i}", switch, bandwidth)
    if leaves > 1:
        down = hosts * exact(bandwidth, "bandwidth")
        uplink = down / exact(oversubscription, "oversubscription") / spines
        switches = [f"leaf{leaf}" for leaf in range(leaves)]
        _join_to_spines(builder, switches, spines, uplink, multicast=multicast)
    return builder


Spines = Annotated[
    int, Count("switches that join the rails; 0 leaves them apart", minimum=0, maximum=1024)
]
RailBandwidth = Annotated[Exact, Amount("GB/s from a GPU to its rail")]


@family
def rail_optimized(
    boxes: Annotated[int, Count("number of boxes")],
    gpus_per_box: Annotated[int, Count("GPUs in a box, and rails", maximum=1024)] = GPUS_PER_DGX,
    spines: Spines = 0,
    nvswitch_bandwidth: NvswitchBandwidth = H100_NVSWITCH.value,
    rail_bandwidth: RailBandwidth = H100_NIC.value,
    nvls: Nvls = True,
    sharp: Sharp = False,
) -> TopologyBuilder:
    """Boxes with an NVSwitch; GPU i of every box is on rail switch i.

    Spines, if any, take together as much from a rail as its GPUs do (no oversubscription).
    """
    bandwidths = (nvswitch_bandwidth, rail_bandwidth)
    return _rails(boxes, gpus_per_box, spines, bandwidths, nvls=nvls, sharp=sharp)


@family
def hgx_h800(
    boxes: Annotated[int, Count("number of boxes")],
    spines: Spines = 0,
    nvswitch_bandwidth: NvswitchBandwidth = H800_NVSWITCH.value,
    rail_bandwidth: RailBandwidth = H800_NIC.value,
    nvls: Nvls = True,
    sharp: Sharp = False,
) -> TopologyBuilder:
    """SyCCL's simulated network: boxes of 8 H800s on an NVSwitch, 8 rails, as rail_optimized."""
    bandwidths = (nvswitch_bandwidth, rail_bandwidth)
    return _rails(boxes, GPUS_PER_DGX, spines, bandwidths, nvls=nvls, sharp=sharp)


def _rails(
    boxes: int,
    gpus_per_box: int,
    spines: int,
    bandwidths: tuple[Exact, Exact],
    *,
    nvls: bool,
    sharp: bool,
) -> TopologyBuilder:
    """Join boxes rail by rail; ``bandwidths`` are to the NVSwitch and to the rail."""
    nvswitch_bandwidth, rail_bandwidth = bandwidths
    expect_size(boxes * gpus_per_box, 4 * boxes * gpus_per_box, "rail_optimized")
    builder = TopologyBuilder()
    for box in range(boxes):
        nvswitch_box(builder, box, gpus_per_box, nvswitch_bandwidth, multicast=nvls)
    if boxes > 1:
        rails = [builder.switch(f"rail{i}", index=i, multicast=sharp) for i in range(gpus_per_box)]
        for box in range(boxes):
            for i, rail in enumerate(rails):
                builder.link(f"b{box}.gpu{i}", rail, rail_bandwidth)
        if spines:
            uplink = boxes * exact(rail_bandwidth, "rail_bandwidth") / spines
            _join_to_spines(builder, rails, spines, uplink, multicast=sharp)
    return builder


def _join_to_spines(
    builder: TopologyBuilder,
    switches: list[str],
    spines: int,
    bandwidth: Exact,
    *,
    multicast: bool,
) -> None:
    for i in range(spines):
        spine = builder.switch(f"spine{i}", index=i, multicast=multicast)
        for switch in switches:
            builder.link(switch, spine, bandwidth)
