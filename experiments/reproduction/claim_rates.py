"""Rates that decide a claim: the proven optimum, a verified schedule, a baseline, a formula.

Problem: for a network and a collective, the greatest algbw, in GB/s.
Output:  the bound with its reason in words, and the algbw of a schedule that ``verify`` accepted.
         In an all-to-all, algbw counts all that a GPU has, with the part that it keeps.
Source:  the counting of an allreduce among P parts of the GPUs. Of each piece, P - 1 parts must
         send their sums and P - 1 must receive the result; a part alone must send and receive it
         once. The words name one of both only where it equals the proven bound.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction

from baselines import METHODS
from experiments.reproduction.claims import Base, Claim
from forestcoll.all_to_all.best_flow import best_flow
from forestcoll.api import cost, optimum, verify
from forestcoll.errors import InvalidExperimentError
from forestcoll.generation import generate
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule.verification import AllreduceVerdict
from forestcoll.topology import Topology, group, load_topology

__all__ = ["FORMULAS", "Decided", "base_rate", "decided", "network_of", "printed_rate", "swing"]


@dataclass(frozen=True, slots=True)
class Decided:
    """The proven bound in GB/s, what binds in words, and the algbw of a verified schedule."""

    bound: Fraction
    binds: str
    reached: Fraction


def network_of(claim: Claim) -> Topology:
    """Return the network of a claim, with its changes."""
    topology = load_topology(claim.network)
    for links, factor in (claim.scale or {}).items():
        topology = topology.scaled(links, factor)
    if not claim.left_out:
        return topology
    gpus = [node.name for node in topology.nodes if node.kind == "compute"]
    return group(topology, [name for name in gpus if not _matches(name, claim.left_out)])


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def decided(claim: Claim) -> Decided:
    """Return bound and schedule of the claim's network and collective, computed here."""
    return _decided(network_of(claim), claim.collective)


@functools.cache
def _decided(topology: Topology, collective: str) -> Decided:
    if collective == "all-to-all":
        return _decided_all_to_all(topology)
    verified = verify(generate(topology, collective=collective))
    reached = verified.algbw_gb_s
    if reached is None or not verified.optimal:
        raise InvalidExperimentError(f"no optimal {collective} was found on {topology.name}")
    if isinstance(verified, AllreduceVerdict):
        bound = verified.bound_gb_s
        assert bound is not None  # an optimal allreduce has its bound
        return Decided(bound, _what_binds(topology, bound), reached)
    best = optimum(topology, collective=collective)
    return Decided(best.algbw_gb_s, best.what_binds()[0], reached)


def _decided_all_to_all(topology: Topology) -> Decided:
    flow = best_flow(topology)
    verified = verify(flow)
    if verified.algbw_gb_s is None or verified.bound_gb_s is None or not verified.optimal:
        raise InvalidExperimentError(f"no optimal all-to-all was found on {topology.name}")
    binds = PriceBound.of(topology, None, flow.price).in_words()[0]
    return Decided(verified.bound_gb_s, binds, verified.algbw_gb_s)


def _what_binds(topology: Topology, bound: Fraction) -> str:
    """Return what proves the bound of an allreduce, in words."""
    parts = _parts(topology)
    leaving: defaultdict[str, Fraction] = defaultdict(Fraction)
    for link in topology.links:
        if (part := parts.get(link.tail)) is not None and parts.get(link.head) != part:
            leaving[part] += link.bandwidth_gb_s
    least = min(leaving, key=lambda part: leaving[part])
    if leaving[least] == bound:
        return f"all data must leave {least} over {bound} GB/s, and enter it"
    together = sum(leaving.values())
    times = 2 * (len(leaving) - 1)
    if together / times == bound:
        what = f"{least.split()[0]}{'s' if least[0] == 'G' else 'es'}"
        return f"{len(leaving)} {what} must send {times} times the data over {together} GB/s in all"
    return "prices of links, the dual of the allreduce program"


def _parts(topology: Topology) -> dict[int, str]:
    """Return the part of each node in words: its box, or its GPU where there are no two boxes."""
    gpus = {place: node for place, node in enumerate(topology.nodes) if node.kind == "compute"}
    boxes = {node.box for node in gpus.values()}
    if None in boxes or len(boxes) == 1:
        return {place: f"GPU {node.name}" for place, node in gpus.items()}
    numbered = {place: node.box for place, node in enumerate(topology.nodes)}
    return {place: f"box {box}" for place, box in numbered.items() if box is not None}


def base_rate(base: Base | None, collective: str) -> Fraction:
    """Return the rate in GB/s that a claim is a multiple of; 1 without a base."""
    if base is None:
        return Fraction(1)
    if base.rate:
        return Fraction(base.rate)
    if base.optimum:
        return _decided(load_topology(base.optimum), collective).bound
    return _baseline(base.method, base.network, collective)


@functools.cache
def _baseline(method: str, network: str, collective: str) -> Fraction:
    return 1 / cost(METHODS[method].run(network, collective, {})).time_s_per_gb


def printed_rate(claim: Claim) -> Fraction | None:
    """Return the printed rate as a multiple of the claim's base; None where there is none."""
    if claim.by_formula:
        name, _, argument = claim.by_formula.partition(":")
        return FORMULAS[name](argument)
    return Fraction(claim.rate) if claim.rate else None


def swing(dims: str) -> Fraction:
    """Return the allreduce rate of Swing on a torus, in links, by its model of congestion.

    Parameters
    ----------
    dims : str
        Lengths that are powers of two, such as 4x4. Where they differ, the model of the square
        torus of the least length, and equation 3 for the longest, are added.
    """
    lengths = [int(length) for length in dims.split("x")]
    ways, least, most = len(lengths), min(lengths), max(lengths)
    steps = ways * (least.bit_length() - 1)
    one_phase = sum(Fraction(_distance(step // ways), 2 ** (step + 1)) for step in range(steps))
    doublings = most.bit_length() - least.bit_length()
    return ways / (one_phase + Fraction(doublings, 6 * least ** (ways - 1)))


def _distance(step: int) -> int:
    """Return how far apart two partners are: 1, 1, 3, 5, 11, ..."""
    place, stride = 0, 1
    for _ in range(step + 1):
        place, stride = place + stride, -2 * stride
    return abs(place)


FORMULAS: dict[str, Callable[[str], Fraction]] = {"swing": swing}
"""Printed formulas of rates, by the names that ``by_formula`` uses."""
