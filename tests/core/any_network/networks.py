"""Small random networks for which a cut alone does not say what is possible."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.errors import ForestCollError
from forestcoll.topology import Link, SharedCapacity, Topology, TopologyBuilder
from forestcoll.topology.validation import validate
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology


def damaged_network(seed: int, *, groups: bool) -> tuple[Topology, tuple[int, ...]] | None:
    """Return a directed network with dead and slowed links and weights; None if it falls apart.

    With ``groups`` some of its links share capacities.
    """
    chance = random.Random(f"damaged {seed}")
    whole = random_topology(seed, KINDS[seed % len(KINDS)])
    links = [_slowed(link, chance) for link in whole.links if chance.random() > 0.1]
    names = "kl"[: chance.randint(1, 2)]
    shared = [_shared(name, links, chance) for name in names if groups and links]
    network = Topology(whole.name, whole.nodes, tuple(links), tuple(shared))
    weights = tuple(chance.randint(0, 3) for _ in network.compute)
    if not any(weights) or chance.random() < 0.5:
        weights = (1,) * network.num_compute
    try:
        validate(network)
    except ForestCollError:
        return None
    return network, weights


def _slowed(link: Link, chance: random.Random) -> Link:
    if chance.random() > 0.3:
        return link
    factor = Fraction(chance.randint(1, 7), chance.randint(1, 7))
    return replace(link, bandwidth_gb_s=link.bandwidth_gb_s * factor)


def _shared(name: str, links: list[Link], chance: random.Random) -> SharedCapacity:
    """Some links together carry a part of what each by itself could."""
    held = chance.sample(links, min(chance.randint(1, 5), len(links)))
    total = sum((link.bandwidth_gb_s for link in held), start=Fraction(0))
    limit = total * Fraction(chance.randint(1, 6), chance.randint(4, 8))
    return SharedCapacity(name, tuple((link.tail, link.head) for link in held), limit)


def with_less(network: Topology, chance: random.Random) -> Topology:
    """Slow one direction of a link, or tighten a shared capacity."""
    links, shared = list(network.links), list(network.shared)
    if shared and chance.random() < 0.5:
        at = chance.randrange(len(shared))
        shared[at] = replace(shared[at], bandwidth_gb_s=shared[at].bandwidth_gb_s / 2)
    else:
        at = chance.randrange(len(links))
        links[at] = replace(links[at], bandwidth_gb_s=links[at].bandwidth_gb_s / 3)
    return Topology(network.name, network.nodes, tuple(links), tuple(shared))


def fan() -> Topology:
    """Root r sends 1 GB/s to a switch, which could send 1 to each of three GPUs."""
    return network_of("r [s] a b c", "r > s, s > a b c, a b c > r", "fan")


def half_duplex(wires: Sequence[int] = (64, 64, 64, 64)) -> Topology:
    """GPUs at one switch, each by a wire of so many GB/s for both directions together."""
    builder = TopologyBuilder()
    switch = builder.switch("s")
    for number, wire in enumerate(wires):
        gpu = builder.gpu(f"g{number}")
        builder.link(gpu, switch, wire)
        builder.share(f"wire {number}", f"{gpu} - {switch}", wire)
    return builder.build("half duplex")


def four_routes() -> Topology:
    """Four routes from a to b by switches, and a shared limit of 1 GB/s on each pair of them.

    In fractions each route carries 1/2; whole trees take one route only.
    """
    builder = TopologyBuilder()
    a, b = builder.gpu("a"), builder.gpu("b")
    builder.arc(b, a, 4)
    for number in range(4):
        switch = builder.switch(f"s{number}")
        builder.arc(a, switch, 1)
        builder.arc(switch, b, 1)
    for one in range(4):
        for other in range(one):
            links = [f"a -> s{one}", f"a -> s{other}"]
            builder.share(f"routes {other} and {one}", links, 1)
    return builder.build("four routes")
