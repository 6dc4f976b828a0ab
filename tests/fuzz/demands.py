"""What is asked for on a network: mostly an allgather, one time in four something else.

A family and a seed decide it, apart from the network, so networks stay what they were.
"""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

from forestcoll.topology import NodeKind, Topology, group

SHARE = 1 / 4
"""Of the networks that are asked for something else than an allgather among all."""

LARGEST_WEIGHT = 5


class Demand(NamedTuple):
    """A collective on a network, as :func:`forestcoll.generation.generate` takes it.

    The network may be another than the one drawn: turned round, or with relays.
    """

    topology: Topology
    collective: str
    options: dict[str, Any]

    @property
    def words(self) -> str:
        """What it is, for people: "broadcast", "weighted allgather", "allgather in a group"."""
        weighted = "weighted " if "weights" in self.options else ""
        relays = any(node.kind is NodeKind.RELAY for node in self.topology.nodes)
        return f"{weighted}{self.collective}{' in a group' if relays else ''}"


def demand_of(family: str, seed: int, topology: Topology) -> Demand:
    """Return what is asked for on the network of a family and a seed."""
    chance = random.Random(f"demand on {family} {seed}")
    if chance.random() >= SHARE:
        return Demand(topology, "allgather", {})
    return DEMANDS[chance.choice(list(DEMANDS))](topology, chance)


def broadcast(topology: Topology, chance: random.Random) -> Demand:
    """All data from one GPU."""
    return Demand(topology, "broadcast", {"root": chance.randrange(topology.num_compute)})


def reduce(topology: Topology, chance: random.Random) -> Demand:
    """All sums to one GPU, on the network reversed: its switches then keep nothing back."""
    return broadcast(topology, chance)._replace(topology=topology.reversed(), collective="reduce")


def reduce_scatter(topology: Topology, _: random.Random) -> Demand:
    """A sum to every GPU, on the network reversed."""
    return Demand(topology.reversed(), "reduce-scatter", {})


def weighted(topology: Topology, chance: random.Random) -> Demand:
    """An allgather of unequal shards, some of them empty."""
    weights = [chance.randint(0, LARGEST_WEIGHT) for _ in topology.compute]
    weights[chance.randrange(len(weights))] = 1
    return Demand(topology, "allgather", {"weights": weights})


def among_some(topology: Topology, chance: random.Random) -> Demand:
    """An allgather in a group; GPUs that send more than they receive cannot only forward."""
    sends = {topology.nodes[v].name: topology.egress_gb_s[v] for v in topology.compute}
    gets = {topology.nodes[v].name: topology.ingress_gb_s[v] for v in topology.compute}
    some = set(chance.sample(list(sends), chance.randint(2, len(sends))))
    members = [name for name in sends if name in some or sends[name] > gets[name]]
    return Demand(group(topology, members), "allgather", {})


DEMANDS: dict[str, Callable[[Topology, random.Random], Demand]] = {
    "broadcast": broadcast,
    "reduce": reduce,
    "reduce-scatter": reduce_scatter,
    "weighted": weighted,
    "group": among_some,
}
"""What else than an allgather among all GPUs may be asked for."""
