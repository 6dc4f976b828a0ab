"""Certificates: proofs of an optimum that need only addition to check.

Problem: prove, to a reader without this package, that a rate is reached and none is faster.
Input:   a topology, a collective, optionally a number of trees.
Output:  links, the bottleneck cut or prices, and the trees over each link of a forest that attains
         the bound. If the given k does not attain it: the cut or prices that limit k.
Cost:    as a factored forest and its routes.
Source:  ForestColl sections 2 and 5.5; checked by :mod:`forestcoll.schedule.verification`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, cast

from forestcoll.core.fixed_k import FixedK, fixed_k
from forestcoll.core.optimality import optimum
from forestcoll.errors import UnsupportedError
from forestcoll.generation import Progress, generate
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.allreduce_certificate import (
    AllreduceCertificate,
    AllreduceGpu,
    AllreduceLimit,
    AllreduceLink,
    AllreduceShared,
    SetPrice,
    SwitchPotential,
)
from forestcoll.problem.certificate_document import (
    AnyCertificate,
    Certificate,
    CertifiedGpu,
    CertifiedLink,
    CutPrice,
    ForwardingPrice,
    LimitOfK,
    LimitPrice,
    OptimumCut,
    OptimumPrices,
    PricedLimitOfK,
    SharedLimit,
    SharedLink,
)
from forestcoll.problem.cuts import Cut
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.options import Options
from forestcoll.problem.rate_bound import RateBound
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.topology.shared_capacity import SharedCapacity
from forestcoll.topology.spec import Network, as_topology

__all__ = ["certify"]


def certify(
    topology: Network,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    **given: Any,
) -> AnyCertificate:
    """Certify the optimum of a collective, or the best with k trees per unit of weight.

    Parameters
    ----------
    topology, options, progress, **given
        As for :func:`forestcoll.generation.generate`.

    Returns
    -------
    Certificate or AllreduceCertificate
        For an allreduce, the certificate of the best schedule found, with a bound that it need not
        attain.

    Raises
    ------
    UnsupportedError
        For a single GPU, which has nothing to do.
    ForestCollError
        As :func:`forestcoll.generation.generate`.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> certificate = certify(load_topology("ring:nodes=4"))
    >>> certificate.k, str(certificate.optimum.inverse_rate), certificate.links[0].trees
    (2, '3/2', 3)
    """
    topology = as_topology(topology)
    if topology.num_compute == 1:
        raise UnsupportedError(f"{topology.name} has a single GPU: there is nothing to certify")
    asked = replace(Options.of(options, given), factored=True)
    made = generate(topology, asked, progress=progress).schedule
    forest = cast("FactoredForest | Allreduce[FactoredForest]", made)
    if isinstance(forest, Allreduce):
        return _of_allreduce(forest)
    loads = _loads(forest)
    congestion = max(
        *(loads[link.tail, link.head] / link.bandwidth_gb_s for link in topology.links),
        *(_load(group, loads) / group.bandwidth_gb_s for group in topology.shared),
    )
    best, limit = _bounds(forest, congestion)
    names = [node.name for node in topology.nodes]
    return Certificate(
        network=topology.name,
        collective=cast("Literal['allgather']", forest.collective),
        k=forest.k,
        congestion=congestion,
        time_s_per_gb=congestion / (forest.k * sum(forest.weights)),
        optimum=_optimum(best),
        fixed_k=None if limit is None else _limit(limit),
        gpus=[
            CertifiedGpu(name=names[v], weight=weight, trees=forest.k * weight)
            for v, weight in zip(topology.compute, forest.weights, strict=True)
        ],
        forwarding=[node.name for node in topology.nodes if node.is_switch],
        links=[
            CertifiedLink(
                tail=names[link.tail],
                head=names[link.head],
                bandwidth_gb_s=link.bandwidth_gb_s,
                trees=loads[link.tail, link.head],
            )
            for link in topology.links
        ],
        shared=[
            SharedLimit(
                name=group.name,
                links=[SharedLink(tail=names[u], head=names[v]) for u, v in group.links],
                bandwidth_gb_s=group.bandwidth_gb_s,
                trees=_load(group, loads),
            )
            for group in topology.shared
        ],
    )


def _of_allreduce(schedule: Allreduce[FactoredForest]) -> AllreduceCertificate:
    """Certify an allreduce and its bound."""
    topology, claim = schedule.topology, schedule.bound
    assert claim is not None  # None only for a single GPU
    bound = AllreduceBound.of(
        topology, claim.sets, claim.potentials, weights=claim.weights, shared=claim.shared
    )
    names = [node.name for node in topology.nodes]
    reduce, gather = (_loads(phase) for phase in schedule.phases)
    return AllreduceCertificate(
        network=topology.name,
        k_reduce=schedule.reduce.k,
        k_gather=schedule.gather.k,
        time_s_per_gb=schedule.time_s_per_gb,
        bound=AllreduceLimit(
            algbw_gb_s=bound.algbw_gb_s,
            proportions=bool(bound.weights),
            sets=[
                SetPrice(nodes=[names[v] for v in one.nodes], gather=one.gather, reduce=one.reduce)
                for one in bound.sets
            ],
            potentials=[
                SwitchPotential(switch=names[one.switch], gather=one.gather, reduce=one.reduce)
                for one in bound.potentials
            ],
            shared=[LimitPrice(name=one.name, price=one.price) for one in bound.shared],
        ),
        gpus=[
            AllreduceGpu(name=names[v], weight=weight)
            for v, weight in zip(topology.compute, schedule.gather.weights, strict=True)
        ],
        forwarding=[node.name for node in topology.nodes if node.is_switch],
        links=[
            AllreduceLink(
                tail=names[link.tail],
                head=names[link.head],
                bandwidth_gb_s=link.bandwidth_gb_s,
                reduce=reduce[link.tail, link.head],
                gather=gather[link.tail, link.head],
            )
            for link in topology.links
        ],
        shared=[
            AllreduceShared(
                name=group.name,
                links=[SharedLink(tail=names[u], head=names[v]) for u, v in group.links],
                bandwidth_gb_s=group.bandwidth_gb_s,
            )
            for group in topology.shared
        ],
    )


def _loads(forest: FactoredForest) -> Counter[tuple[int, int]]:
    """Count the trees over each physical link."""
    routes = forest.routes
    loads: Counter[tuple[int, int]] = Counter()
    hops, first = routes.hop.tolist(), routes.first_hop.tolist()
    for path, trees in enumerate(routes.multiplicity.tolist()):
        nodes = hops[first[path] : first[path + 1]]
        for hop in pairwise(nodes):
            loads[hop] += trees
    return loads


def _load(group: SharedCapacity, loads: Counter[tuple[int, int]]) -> int:
    """Count the trees over the links of a shared capacity."""
    return sum(loads[ends] for ends in group.links)


def _bounds(forest: FactoredForest, congestion: Fraction) -> tuple[Optimum, FixedK | None]:
    """Return the optimum and, if the forest does not attain it, the limit of its k."""
    best = forest.optimum or optimum(
        forest.topology, weights=forest.weights, reduction=forest.reduction
    )
    if congestion == forest.k * best.inverse_rate:
        return best, None
    return best, fixed_k(
        forest.topology, forest.k, weights=forest.weights, reduction=forest.reduction
    )


def _optimum(best: Optimum) -> OptimumCut | OptimumPrices:
    if best.prices is not None:
        return OptimumPrices(**_prices(best.prices), inverse_rate=best.inverse_rate)
    cut = best.bottleneck
    return OptimumCut(
        cut=_names(cut, cut.nodes),
        gpus=_names(cut, cut.compute),
        weight=cut.weight,
        bandwidth_gb_s=cut.exit_gb_s,
        inverse_rate=best.inverse_rate,
    )


def _prices(bound: RateBound) -> dict[str, list[Any]]:
    names = [node.name for node in bound.topology.nodes]
    return {
        "cuts": [
            CutPrice(nodes=[names[v] for v in one.nodes], price=one.price) for one in bound.cuts
        ],
        "switches": [
            ForwardingPrice(switch=names[one.switch], price=one.price) for one in bound.switches
        ],
        "shared": [LimitPrice(name=one.name, price=one.price) for one in bound.shared],
    }


def _limit(found: FixedK) -> LimitOfK | PricedLimitOfK:
    if found.prices is not None:
        return PricedLimitOfK(
            **_prices(found.prices),
            congestion=found.bound,
            lacking=Fraction(found.certificate()),
        )
    cut = found.witness
    return LimitOfK(
        cut=_names(cut, cut.nodes),
        gpus=_names(cut, cut.compute),
        weight=cut.weight,
        congestion=found.bound,
        trees_lacking=int(found.certificate()),
    )


def _names(cut: Cut, nodes: Iterable[int]) -> list[str]:
    return [cut.topology.nodes[v].name for v in nodes]
