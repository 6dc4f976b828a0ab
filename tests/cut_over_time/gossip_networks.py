"""Small random networks, and bounds on their allreduces beside patterns of messages."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from forestcoll.cut_over_time.gossip_from_root import RootedSets, RootedTimes
from forestcoll.cut_over_time.gossip_over_time import GossipTimes, GpuDistances
from forestcoll.cut_over_time.passes_over_time import PassSets, PassTimes
from forestcoll.cut_over_time.time_search import time_bound
from forestcoll.errors import ForestCollError
from forestcoll.problem.over_time.time_bound import GossipOverTime, PassesOverTime, TimeBound
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.schedule.verification import verify_time_bound
from forestcoll.topology import NodeKind, Topology, TopologyBuilder
from forestcoll.topology.validation import validate
from tests.reference.gossip_program import most_summed

__all__ = [
    "gossip_network", "passes_within_the_program", "random_sets", "within_the_program",
]  # fmt: skip

_CHOICES = 10
"""Random choices of sets for each network."""

_MOST_TICKS = 8  # of the latest moment from which on all sets may send, in us

_ROUNDING = 1e-6


def gossip_network(chance: random.Random, *, shared: bool) -> Topology | None:
    """Return a network of 3 to 5 nodes, 2 to 4 of them GPUs; None if it falls apart.

    Links lead one way, with unlike bandwidths and latencies of 0 to 2, of 1 at least from GPUs; or
    all GPUs have like links to a switch, and pairs of them a wider one. Switches may multicast, and
    a GPU may be outside the group. With ``shared`` some links share capacities.
    """
    builder = TopologyBuilder()
    count = chance.choice((2, 3, 3, 3, 4))
    gpus = [builder.gpu(f"g{n}", chance.randrange(3)) for n in range(count)]
    adds = chance.random() < 0.5
    star = chance.random() < 0.4
    switches = [
        builder.switch(f"s{n}", multicast=adds and not n)
        for n in range(1 if star else chance.randint(count < 3, min(2, 5 - count)))
    ]
    if star:
        ends = [(a, b) for gpu in gpus for a, b in ((gpu, switches[0]), (switches[0], gpu))]
        for pair in zip(gpus[::2], gpus[1::2], strict=False):
            ends += [pair, pair[::-1]] * (chance.random() < 0.7)
        for tail, head in ends:
            builder.arc(tail, head, 1 + ({tail, head} <= {*gpus}), int(tail in gpus))
    else:
        nodes = gpus + switches
        ends = [(a, b) for a in nodes for b in nodes if a != b and chance.random() < 0.6]
        for tail, head in ends:
            rate = Fraction(chance.randint(1, 4), chance.randint(1, 2))
            builder.arc(tail, head, rate, chance.randint(tail in gpus, 2))
    for name in "kl"[: chance.randint(1, 2)] if shared and ends else "":
        held = chance.sample(ends, min(chance.randint(1, 4), len(ends)))
        limit = Fraction(chance.randint(1, 6), chance.randint(1, 3))
        builder.share(name, [f"{tail} -> {head}" for tail, head in held], limit)
    try:
        network = builder.build("small")
        if count == 4 and chance.random() < 0.4:
            relay = replace(network.nodes[-1 - len(switches)], kind=NodeKind.RELAY)
            network = replace(network, nodes=(*network.nodes[:3], relay, *network.nodes[4:]))
        validate(network, "allreduce")
    except ForestCollError:
        return None
    return network


def random_sets(
    network: Topology, chance: random.Random, *, passes: bool = False
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield disjoint sets with a GPU each; switches that only forward may be in none.

    For ``passes`` between them those that multicast may be in none, too.
    """
    for _ in range(_CHOICES):
        count = chance.randint(2, network.num_compute)
        found: list[list[int]] = [[] for _ in range(count)]
        for v, node in enumerate(network.nodes):
            needed = not node.is_switch or (node.multicast and not passes)
            if needed or chance.random() < 0.5:
                chance.choice(found).append(v)
        if all(set(one) & set(network.compute) for one in found):
            yield tuple(map(tuple, found))


def within_the_program(seed: int, collective: str = "allreduce") -> Counter[str] | None:
    """Compare all bounds on an allreduce or broadcast with what patterns deliver.

    None without a network, or where nothing is delivered.

    Returns
    -------
    Counter
        How many bounds there were, how many are of gossip, and how many are the very time.

    Raises
    ------
    AssertionError
        If a bound is above a time by which all may be done.
    """
    chance = random.Random(f"gossip {seed}")
    network = gossip_network(chance, shared=seed % 2 == 0)
    if network is None:
        return None
    alpha = chance.randint(0, 1)
    root = None if collective == "allreduce" else 0
    steps = int(time_bound(network, collective, 1, alpha, root=root).time_us)
    steps += chance.randint(1, 2)
    source = None if root is None else network.compute[root]
    size = int(most_summed(network, alpha, steps, source) * (1 - _ROUNDING))
    if not size:
        return None
    bound = time_bound(network, collective, size, alpha, root=root)
    seen = Counter(bounds=1, gossip=isinstance(bound.proof, GossipOverTime))
    for one in (bound, *_by_gossip(bound, chance)):
        assert verify_time_bound(one) == one.time_us <= steps, one.proof
        seen["equal"] += float(one.time_us) > steps * (1 - 1e-3)
        seen["sets"] += 1
    return seen


def passes_within_the_program(seed: int) -> Counter[str] | None:
    """Compare bounds on an allreduce in passes with what patterns of passes deliver.

    None without a network whose switch multicasts, or where nothing is delivered. Counts and errors
    are those of :func:`within_the_program`.
    """
    chance = random.Random(f"passes {seed}")
    network = gossip_network(chance, shared=seed % 2 == 0)
    if network is None or not any(node.multicast for node in network.nodes):
        return None
    alpha = chance.randint(0, 1)
    steps = int(time_bound(network, "allreduce", 1, alpha, one_pass=False).time_us)
    steps += chance.randint(1, 2)
    size = int(most_summed(network, alpha, steps, one_pass=False) * (1 - _ROUNDING))
    if not size:
        return None
    bound = time_bound(network, "allreduce", size, alpha, one_pass=False)
    links = TimedLinks.of(network, bound.alpha_us, reduction=False)
    found = [bound]
    for sets in random_sets(network, chance, passes=True):
        reach = chance.randrange(_MOST_TICKS * links.ticks_per_us)
        for one in (PassTimes(PassSets(network, links, sets), n) for n in (0, reach)):
            time_us = one.least_time(links.amount(Fraction(size))) / links.ticks_per_us
            found.append(replace(bound, time_us=time_us, proof=one.proof))
    seen = Counter(bounds=1, passes=isinstance(bound.proof, PassesOverTime), sets=len(found))
    for one_bound in found:
        assert verify_time_bound(one_bound) == one_bound.time_us <= steps, one_bound.proof
        seen["equal"] += float(one_bound.time_us) > steps * (1 - 1e-3)
    return seen


def _by_gossip(bound: TimeBound, chance: random.Random) -> Iterator[TimeBound]:
    """Yield the bounds of random sets for the same question."""
    root = None if bound.root is None else bound.topology.compute[bound.root]
    links = TimedLinks.of(bound.topology, bound.alpha_us, reduction=False)
    distances = GpuDistances(bound.topology, links)
    amount = links.amount(Fraction(bound.size_bytes))
    for sets in random_sets(bound.topology, chance):
        groups = bound.topology.shared
        for shared in {(), groups, groups[::-1], groups[:1]}:
            found: GossipTimes | RootedTimes = GossipTimes(distances, sets, shared)
            if root is not None:
                since = chance.randrange(_MOST_TICKS * links.ticks_per_us)
                found = RootedTimes(RootedSets(distances, sets, root), since, shared)
            time_us = found.least_time(amount) / links.ticks_per_us
            yield replace(bound, time_us=time_us, proof=found.proof)
