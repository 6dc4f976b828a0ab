"""Slices of chips linked to their neighbours: TPUs and Trainium2.

A TPU v4 or v5p pod is made of cubes of 4 x 4 x 4 chips, whose faces optical switches join: a slice
of whole cubes is a torus, a smaller one a mesh. In a TPU v5e or v6e pod of 16 x 16 chips only a
dimension of 16 closes into a ring.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder, expect_size
from forestcoll.topology.families.fabric import FabricText, join_boxes
from forestcoll.topology.families.fabric.switch_graphs import torus_pairs
from forestcoll.topology.families.family import family
from forestcoll.topology.families.machine_table import MACHINE_CONSTANTS
from forestcoll.topology.families.values import Amount, Count, Either, Flags, Sizes
from forestcoll.topology.families.wiring import grid
from forestcoll.topology.numbers import Exact, exact

__all__ = ["tpu_v4", "tpu_v5e", "tpu_v5p", "tpu_v6e", "trn2", "trn2_ultraserver"]

CUBE = 4
POD_SIDE = 16
TRN2_SIDE = 4
INSTANCES = 4

_BY_SIZE = "by-size"

Dims = Annotated[tuple[int, ...], Sizes("chips of the slice in each dimension", maximum=9216)]
Link = Annotated[Exact, Amount("GB/s of one link")]
Wrap = Annotated[
    bool | tuple[bool, ...] | str,
    Either(_BY_SIZE, Flags("close each dimension into a ring, or those that are true")),
]
Nic = Annotated[Exact, Amount("GB/s of a chip's share of the instance's EFA")]
Fabric = Annotated[str, FabricText("network between instances")]


@family
def tpu_v4(
    dims: Dims,
    bandwidth: Link = MACHINE_CONSTANTS["TPU_V4_LINK"].value,
    wrap: Wrap = _BY_SIZE,
) -> TopologyBuilder:
    """Google TPU v4: a slice of three dimensions; whole cubes of 4 x 4 x 4 close into rings."""
    return _slice("tpu_v4", dims, bandwidth, _of_cubes("tpu_v4", dims, wrap))


@family
def tpu_v5p(
    dims: Dims,
    bandwidth: Link = MACHINE_CONSTANTS["TPU_V5P_LINK"].value,
    wrap: Wrap = _BY_SIZE,
) -> TopologyBuilder:
    """Google TPU v5p: a slice of three dimensions; whole cubes of 4 x 4 x 4 close into rings."""
    return _slice("tpu_v5p", dims, bandwidth, _of_cubes("tpu_v5p", dims, wrap))


@family
def tpu_v5e(
    dims: Dims,
    bandwidth: Link = MACHINE_CONSTANTS["TPU_V5E_LINK"].value,
    wrap: Wrap = _BY_SIZE,
) -> TopologyBuilder:
    """Google TPU v5e: a slice of two dimensions; one of 16 closes into a ring."""
    return _slice("tpu_v5e", dims, bandwidth, _of_a_pod("tpu_v5e", dims, wrap))


@family
def tpu_v6e(
    dims: Dims,
    bandwidth: Link = MACHINE_CONSTANTS["TPU_V6E_LINK"].value,
    wrap: Wrap = _BY_SIZE,
) -> TopologyBuilder:
    """Google TPU v6e (Trillium): a slice of two dimensions; one of 16 closes into a ring."""
    return _slice("tpu_v6e", dims, bandwidth, _of_a_pod("tpu_v6e", dims, wrap))


def _of_cubes(name: str, dims: tuple[int, ...], wrap: object) -> Sequence[bool]:
    _expect_dimensions(name, dims, 3)
    return _wraps(name, dims, wrap, [all(length % CUBE == 0 for length in dims)] * 3)


def _of_a_pod(name: str, dims: tuple[int, ...], wrap: object) -> Sequence[bool]:
    _expect_dimensions(name, dims, 2)
    if max(dims) > POD_SIDE:
        raise InvalidTopologyError(
            f"{name}: dims is {'x'.join(map(str, dims))}; a pod has {POD_SIDE}x{POD_SIDE} chips"
        )
    return _wraps(name, dims, wrap, [length == POD_SIDE for length in dims])


def _expect_dimensions(name: str, dims: tuple[int, ...], number: int) -> None:
    if len(dims) != number:
        example = "x".join("4" * number)
        raise InvalidTopologyError(
            f"{name}: dims is {'x'.join(map(str, dims))}; it must have {number} dimensions, such "
            f"as {example}"
        )


def _wraps(name: str, dims: tuple[int, ...], wrap: object, by_size: list[bool]) -> Sequence[bool]:
    if wrap == _BY_SIZE:
        return by_size
    asked = wrap if isinstance(wrap, tuple) else (bool(wrap),) * len(dims)
    if len(asked) != len(dims):
        raise InvalidTopologyError(
            f"{name}: wrap is for {len(asked)} dimensions and dims for {len(dims)}; give one of "
            f"true and false for all, or for each"
        )
    return asked


def _slice(
    name: str, dims: tuple[int, ...], bandwidth: Exact, wraps: Sequence[bool]
) -> TopologyBuilder:
    """Make a grid of chips; a dimension of 2 has one link, as the wrapped one is the same cable."""
    builder, names = grid(dims)
    chips = list(names.values())
    expect_size(len(chips), 2 * len(dims) * len(chips), name)
    for one, other in torus_pairs(dims, tuple(wraps)):
        builder.link(chips[one], chips[other], bandwidth)
    return builder


@family
def trn2(
    boxes: Annotated[int, Count("number of instances")] = 1,
    bandwidth: Link = MACHINE_CONSTANTS["TRN2_LINK"].value,
    nic_bandwidth: Nic = MACHINE_CONSTANTS["TRN2_NIC"].value,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """AWS trn2.48xlarge: 16 Trainium2 in a 4 x 4 torus; link rates are unconfirmed.

    AWS prints 1,024 GB/s a chip and not of what; the default takes it as both directions of four
    links.
    """
    builder = TopologyBuilder()
    ports = [_instance(builder, box, bandwidth) for box in range(boxes)]
    each = exact(nic_bandwidth, "nic_bandwidth")
    join_boxes(builder, [[(chip, each) for chip in box] for box in ports], fabric)
    return builder


@family
def trn2_ultraserver(
    servers: Annotated[int, Count("number of UltraServers")] = 1,
    bandwidth: Link = MACHINE_CONSTANTS["TRN2_LINK"].value,
    ring_bandwidth: Annotated[
        Exact, Amount("GB/s of a link to the chip at the same place of the next instance")
    ] = MACHINE_CONSTANTS["TRN2_RING_LINK"].value,
    nic_bandwidth: Nic = MACHINE_CONSTANTS["TRN2_NIC"].value,
    fabric: Fabric = "single",
) -> TopologyBuilder:
    """AWS Trn2 UltraServer: four trn2 instances, their chips in rings; rates are unconfirmed.

    The chips at one place of the four instances are a ring.
    """
    builder = TopologyBuilder()
    each = exact(nic_bandwidth, "nic_bandwidth")
    ports = []
    for server in range(servers):
        own = [_instance(builder, server * INSTANCES + i, bandwidth) for i in range(INSTANCES)]
        for i, chips in enumerate(own):
            for one, other in zip(chips, own[(i + 1) % INSTANCES], strict=True):
                builder.link(one, other, ring_bandwidth)
        ports.append([(chip, each) for chips in own for chip in chips])
    join_boxes(builder, ports, fabric)
    return builder


def _instance(builder: TopologyBuilder, box: int, bandwidth: Exact) -> list[str]:
    """Add the 16 chips of an instance, in a torus."""
    chips = [builder.gpu(f"b{box}.gpu{i}", box, i) for i in range(TRN2_SIDE**2)]
    for one, other in torus_pairs((TRN2_SIDE, TRN2_SIDE)):
        builder.link(chips[one], chips[other], bandwidth)
    return chips
