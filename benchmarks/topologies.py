"""Networks that no family builds: damaged, mixed and multi-level clusters, random graphs.

Everything random follows from a seed. Bandwidths are in GB/s per direction.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from forestcoll.topology import Topology, TopologyBuilder, load_topology
from forestcoll.topology.families.constants import (
    A100_NIC,
    A100_NVSWITCH,
    H100_NIC,
    H100_NVSWITCH,
    MI250_IB,
    MI250_XGMI,
    MI250_XGMI_LINKS,
)
from forestcoll.topology.families.machines import nvswitch_box
from forestcoll.topology.model import Link
from forestcoll.topology.numbers import Exact
from forestcoll.topology.shared_capacity import kept

__all__ = [
    "dead_nics", "dragonfly", "jittered_nics", "loose_boxes", "mixed_boxes", "pods",
    "random_regular", "rescaled", "unequal_mesh",
]  # fmt: skip


def rescaled(topology: Topology, factor: Callable[[Link], Fraction]) -> Topology:
    """Multiply every link's bandwidth; links whose factor is 0 are gone."""
    factors = ((link, factor(link)) for link in topology.links)
    links = tuple(replace(e, bandwidth_gb_s=e.bandwidth_gb_s * by) for e, by in factors if by)
    limits = kept(topology.shared, {(link.tail, link.head) for link in links})
    return Topology(topology.name, topology.nodes, links, limits)


def dead_nics(boxes: int, dead: int, seed: int) -> Topology:
    """DGX A100 of which some NICs, drawn from all, are dead."""
    topology = load_topology(f"dgx_a100:boxes={boxes}")
    gone = set(random.Random(seed).sample(topology.compute, dead))
    ib = topology.position_of["ib"]

    def factor(link: Link) -> Fraction:
        return Fraction(not (ib in (link.tail, link.head) and {link.tail, link.head} & gone))

    return rescaled(topology, factor)


def jittered_nics(
    boxes: int, low: int, high: int, seed: int, nvswitch: Exact = A100_NVSWITCH.value
) -> Topology:
    """DGX A100 whose NICs have each a whole bandwidth of its own between low and high."""
    topology = load_topology(
        f"dgx_a100:boxes={boxes},nvswitch_bandwidth={nvswitch},nic_bandwidth=1"
    )
    chance = random.Random(seed)
    speed = {gpu: chance.randint(low, high) for gpu in topology.compute}
    ib = topology.position_of["ib"]

    def factor(link: Link) -> Fraction:
        on_ib = ib in (link.tail, link.head)
        return Fraction(speed[link.tail if link.head == ib else link.head] if on_ib else 1)

    return rescaled(topology, factor)


def loose_boxes(boxes: int, nvswitch: Exact = 150, nic: Exact = 25) -> Topology:
    """DGX-like boxes whose GPUs are the bottleneck, so that no larger set is tight.

    With the default speeds 175 GB/s enter a GPU, for N - 1 shards, and 200 a box of 8, for N - 8:
    15 % more than the box needs at the GPUs' pace when there are many boxes.
    """
    return load_topology(
        f"dgx_a100:boxes={boxes},nvswitch_bandwidth={nvswitch},nic_bandwidth={nic}"
    )


def mixed_boxes(a100: int, h100: int, mi250: int, switches: int = 1) -> Topology:
    """Boxes of three kinds on one InfiniBand fabric, NICs dealt out to its switches in turn."""
    builder = TopologyBuilder()
    ib = [builder.switch(f"ib{i}") for i in range(switches)]
    boxes = itertools.count()
    for count, nvswitch, nic in (
        (a100, A100_NVSWITCH.value, A100_NIC.value),
        (h100, H100_NVSWITCH.value, H100_NIC.value),
    ):
        for box in itertools.islice(boxes, count):
            gpus = nvswitch_box(builder, box, 8, nvswitch, multicast=False)
            for i, gpu in enumerate(gpus):
                builder.link(gpu, ib[i % switches], nic)
    for box in itertools.islice(boxes, mi250):
        gpus = [builder.gpu(f"b{box}.gpu{i}", box, i) for i in range(16)]
        for links, pairs in MI250_XGMI_LINKS.items():
            for a, b in pairs:
                builder.link(gpus[a], gpus[b], links * MI250_XGMI.value)
        for i, gpu in enumerate(gpus):
            builder.link(gpu, ib[i % switches], MI250_IB.value)
    return builder.build(f"{a100} A100, {h100} H100 and {mi250} MI250 boxes")


def pods(
    pods: int, boxes: int, gpus: int, nvswitch: Exact = 300, nic: Exact = 25, uplink: Exact = 1600
) -> Topology:
    """Three levels: GPUs on their box's NVSwitch and their pod's switch, pods on a spine.

    ``uplink`` is the bandwidth of a pod to the spine.
    """
    builder = TopologyBuilder()
    spine = builder.switch("spine")
    for pod in range(pods):
        switch = builder.switch(f"pod{pod}")
        builder.link(switch, spine, uplink)
        for box in range(pod * boxes, (pod + 1) * boxes):
            for gpu in nvswitch_box(builder, box, gpus, nvswitch, multicast=False):
                builder.link(gpu, switch, nic)
    return builder.build(f"{pods} pods of {boxes} boxes of {gpus}")


def dragonfly(
    groups: int, routers: int, hosts: int, host: Exact = 1, local: Exact = 1, between: Exact = 1
) -> Topology:
    """Groups of routers, all joined inside a group; one link joins each pair of groups.

    The links of a group to the others are dealt out to its routers in turn.
    """
    builder = TopologyBuilder()
    router = [[builder.switch(f"g{g}.r{r}", g, r) for r in range(routers)] for g in range(groups)]
    for g, r, i in itertools.product(range(groups), range(routers), range(hosts)):
        builder.link(builder.gpu(f"g{g}.r{r}.gpu{i}", g, r * hosts + i), router[g][r], host)
    for group in router:
        for a, b in itertools.combinations(group, 2):
            builder.link(a, b, local)
    for g, h in itertools.combinations(range(groups), 2):
        builder.link(router[g][(h - 1) % routers], router[h][g % routers], between)
    return builder.build(f"dragonfly {groups} x {routers} x {hosts}")


def random_regular(nodes: int, degree: int, seed: int) -> Topology:
    """Random regular digraph of GPUs: a sum of random Hamiltonian cycles.

    The first cycle goes in order of the numbers. Where two cycles take the same step, the
    bandwidths add up.
    """
    chance = random.Random(seed)
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"gpu{i}", index=i) for i in range(nodes)]
    for turn in range(degree):
        order = gpus if turn == 0 else chance.sample(gpus, nodes)
        for tail, head in itertools.pairwise([*order, order[0]]):
            builder.arc(tail, head, 1)
    return builder.build(f"random {degree}-regular digraph of {nodes}")


def unequal_mesh(nodes: int, seed: int, low: int = 1, high: int = 1000) -> Topology:
    """GPUs that are all joined in pairs, each pair by a cable of a whole bandwidth of its own."""
    chance = random.Random(seed)
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"gpu{i}", index=i) for i in range(nodes)]
    for a, b in itertools.combinations(gpus, 2):
        builder.link(a, b, chance.randint(low, high))
    return builder.build(f"mesh of {nodes}, cables of {low} to {high}")
