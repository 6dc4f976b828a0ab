"""Factored forests of clusters and of random networks, and their verdicts."""

from collections.abc import Callable
from dataclasses import asdict
from functools import cache

from forestcoll.errors import VerificationError
from forestcoll.generation import generate
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.verification.dispatch import Verdict, verify
from forestcoll.topology import group, load_topology
from tests.random_topologies import KINDS, random_topology

CLUSTERS = (
    *("dgx_a100:boxes=1", "dgx_a100:boxes=3", "dgx_a100:boxes=32", "dgx_h100:boxes=4"),
    *("mi250:boxes=2", "mi250:boxes=16", "torus:dims=4x4", "paper_example"),
    *("reduce-scatter dgx_a100:boxes=3", "reduce-scatter mi250:boxes=2", "reduce paper_example"),
    *("broadcast dgx_a100:boxes=3", "weighted dgx_a100:boxes=3", "alone ring:nodes=3"),
)

RANDOM = [f"{kind} {seed}" for kind in KINDS for seed in range(12)]

NOT_KNOWN_UNEXPANDED = ("batches", "tree_edges", "depth")


@cache
def factored(name: str) -> FactoredForest:
    """The factored forest of a cluster, of a collective on it, or of "kind seed"."""
    if name in RANDOM:
        kind, seed = name.split()
        return generate(random_topology(int(seed), kind), factored=True).schedule
    what, _, spec = name.rpartition(" ")
    net = load_topology(spec)
    if what == "alone":
        return generate(group(net, [net.nodes[0].name]), factored=True).schedule
    if what == "weighted":
        return generate(
            net, weights=[v % 3 for v in range(net.num_compute)], factored=True
        ).schedule
    forest = generate(
        net,
        collective=what or "allgather",
        root=1 if what in ("broadcast", "reduce") else None,
        factored=True,
    ).schedule
    assert isinstance(forest, FactoredForest)
    return forest


def judged(make: Callable[[], Forest | FactoredForest]) -> Verdict | None:
    """Return the verdict, or None if the forest is rejected, as early as when it is made."""
    try:
        return verify(make())
    except VerificationError:
        return None


def agree(one: Verdict | None, other: Verdict | None) -> bool:
    """Whether two verdicts say the same of what both know."""
    if one is None or other is None:
        return one is other
    mine, yours = asdict(one), asdict(other)
    return all(mine[key] == yours[key] for key in mine if key not in NOT_KNOWN_UNEXPANDED)
