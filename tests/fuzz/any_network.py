"""Networks that are damaged in one direction, or whose links share capacities.

Small random ones and real machines, with dead and slow directions, half-duplex wires and buses. For
each of them

- the optimum is that of an outside linear program, to 1e-6, and exact in fractions;
- a schedule attains it, says ``verify``, and with few trees what fixed k promises;
- the certificate is accepted by ``verify`` and false ones are refused;
- with less bandwidth nothing is faster.
"""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from forestcoll import certify, fixed_k, generate, optimum, verify, verify_certificate
from forestcoll.errors import CapacityOverflowError, DisconnectedError, VerificationError
from forestcoll.problem.certificate_document import OptimumPrices
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.verification.prices import priced_inverse_rate
from forestcoll.topology import SharedCapacity, Topology, load_topology
from tests.core.any_network.flow_program import optimal_rate
from tests.core.any_network.networks import damaged_network, with_less
from tests.fuzz.check import OnStage, Outcome

COLLECTIVES = ("allgather", "allgather", "reduce-scatter", "broadcast", "reduce")

MACHINES = (
    "dgx_a100:boxes=2",
    "dgx_h100:boxes=3",
    "mi250:boxes=1",
    "fat_tree:leaves=3,hosts=2,spines=2",
    "torus:dims=3x3",
    "rail_optimized:boxes=2,gpus_per_box=3",
)

MOST_NODES = 24
"""Of networks that are given to the outside program."""

TOLERANCE = 1e-6
"""Of the outside program, which is in floats."""


# --- networks ------------------------------------------------------------------------------------


def one_way(chance: random.Random) -> Topology:
    """A random directed network with dead and slowed links."""
    return _small(chance, groups=False)


def shared(chance: random.Random) -> Topology:
    """The same, some of whose links share capacities."""
    return _small(chance, groups=True)


def _small(chance: random.Random, *, groups: bool) -> Topology:
    while True:
        made = damaged_network(chance.randrange(10**9), groups=groups)
        if made is not None:
            return made[0]


def machines(chance: random.Random) -> Topology:
    """A real machine, some of whose links are dead or slow in one direction, or half-duplex."""
    whole = load_topology(chance.choice(MACHINES))
    links = list(whole.links)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(links))
        if chance.random() < 0.5:
            del links[at]
        else:
            links[at] = replace(links[at], bandwidth_gb_s=links[at].bandwidth_gb_s / 2)
    network = Topology(whole.name, whole.nodes, tuple(links))
    if chance.random() < 0.5:
        return network
    return replace(network, shared=tuple(_wires(network, chance)))


def _wires(network: Topology, chance: random.Random) -> list[SharedCapacity]:
    """Make the cables of some nodes half-duplex, or what they send and receive a shared limit."""
    node = chance.choice(range(len(network.nodes)))
    touching = [(e.tail, e.head) for e in network.links if node in (e.tail, e.head)]
    width = {(e.tail, e.head): e.bandwidth_gb_s for e in network.links}
    if chance.random() < 0.5:
        total = sum((width[ends] for ends in touching), start=Fraction(0))
        return [SharedCapacity("node", tuple(touching), total / 2)]
    return [
        SharedCapacity(f"wire {number}", (ends, ends[::-1]), width[ends])
        for number, ends in enumerate(touching)
        if ends[::-1] in width and ends < ends[::-1]
    ]


KINDS: Mapping[str, Callable[[random.Random], Topology]] = {
    "one-way": one_way,
    "shared": shared,
    "machines": machines,
}
"""Networks by name."""


# --- checks --------------------------------------------------------------------------------------


def check(topology: Topology, collective: str, demand: Mapping[str, Any], k: int) -> int:
    """Check all that is claimed of a network; return the trees per GPU.

    Raises
    ------
    AssertionError
        If anything is false.
    """
    weights = weights_for(topology, collective, **demand)
    reduction = collective in ("reduce-scatter", "reduce")
    best = optimum(topology, weights=weights, reduction=reduction)
    assert best.is_proved, "the optimum is not what its own prices prove"
    assert priced_inverse_rate(best.bound, copies=False) == best.inverse_rate, "verify disagrees"
    if len(topology.nodes) <= MOST_NODES:
        outside = optimal_rate(topology, weights, reduction=reduction)
        assert abs(float(1 / best.inverse_rate) - outside) <= TOLERANCE * outside, (
            f"x* = {float(1 / best.inverse_rate)}, an outside program says {outside}"
        )
    found = fixed_k(topology, k, weights=weights, reduction=reduction)
    assert found.certificate() > 0, "nothing is lacking below the bound of fixed k"
    assert found.exact or topology.shared, "fixed k is not exact"
    verdict = verify(generate(topology, collective=collective, k=k, **demand).schedule)
    assert found.bound <= verdict.congestion <= found.congestion, "k trees are not as promised"
    _certificates(topology, collective, demand)
    try:
        verdict = verify(generate(topology, collective=collective, **demand).schedule)
    except CapacityOverflowError:  # an exact k of many digits
        return best.k
    assert verdict.optimal, "the schedule is not proved optimal"
    assert verdict.congestion == verdict.k * best.inverse_rate, "the schedule is slower"
    return best.k


def _certificates(topology: Topology, collective: str, demand: Mapping[str, Any]) -> None:
    try:
        certificate = certify(topology, collective=collective, **demand)
    except CapacityOverflowError:
        return
    assert verify_certificate(certificate).optimal, "the certificate proves no optimum"
    claim = certificate.optimum
    false = [claim.model_copy(update={"inverse_rate": claim.inverse_rate * Fraction(999, 1000)})]
    if isinstance(claim, OptimumPrices):
        every = [gpu.name for gpu in certificate.gpus]
        wide = claim.cuts[0].model_copy(update={"nodes": every})
        false.append(claim.model_copy(update={"cuts": [wide, *claim.cuts[1:]]}))
    for wrong in false:
        try:
            verify_certificate(certificate.model_copy(update={"optimum": wrong}))
        except VerificationError:
            continue
        raise AssertionError(f"a false certificate is accepted: {wrong}")


def less_is_never_faster(topology: Topology, chance: random.Random) -> None:
    """Slow one direction of a link, or tighten a shared capacity; whatever k."""
    less = with_less(topology, chance)
    before, after = optimum(topology), optimum(less)
    assert after.inverse_rate >= before.inverse_rate, "less bandwidth raises the optimum"
    assert fixed_k(less, 1).bound >= fixed_k(topology, 1).bound, "less bandwidth helps one tree"


def examine(family: str, seed: int, on_stage: OnStage) -> Outcome:
    """Check a network of a kind and a seed; never raises."""
    began, words, gpus, k = time.perf_counter(), "", 0, 0
    try:
        chance = random.Random(f"any network, {family} {seed}")
        topology = KINDS[family](chance)
        gpus, words = topology.num_compute, chance.choice(COLLECTIVES)
        on_stage(words, gpus)
        demand: dict[str, Any] = {}
        if words in ("broadcast", "reduce"):
            demand["root"] = chance.randrange(gpus)
        elif chance.random() < 0.4:
            demand["weights"] = [*(chance.randint(0, 3) for _ in range(gpus - 1)), 1]
        k = check(topology, words, demand, chance.randint(1, 4))
        on_stage("less bandwidth", gpus)
        less_is_never_faster(topology, chance)
    except DisconnectedError:  # dead links left a GPU alone
        failure = ""
    except Exception as error:  # whatever it is, it is a finding
        failure = f"{type(error).__name__}: {error}"
    else:
        failure = ""
    seconds = time.perf_counter() - began
    return Outcome(family, seed, gpus, k, seconds, {}, failure, words, option="--any-network ")
