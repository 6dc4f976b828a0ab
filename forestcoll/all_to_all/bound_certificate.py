"""Certificates of all-to-alls and demands: the least time, with the prices that prove it.

Problem: state the bound of a demand so that a reader without this package can add it up.
Input:   a network, a demand; seconds.
Output:  the demand, and all links with their prices.
Cost:    that of the bound.
Source:  :mod:`forestcoll.problem.price_bound`; checked by
         :mod:`forestcoll.schedule.verification.certificates.demand_prices`.
"""

from __future__ import annotations

from forestcoll.all_to_all.best_flow import SECONDS
from forestcoll.all_to_all.multicast_bounds import demand_bounds
from forestcoll.problem.all_to_all_certificate import (
    AllToAllCertificate,
    CertifiedChunk,
    PricedLink,
    PricedShared,
)
from forestcoll.problem.certificate_entries import SharedLink
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.topology.spec import Network, as_topology

__all__ = ["certificate_of", "certify_demand"]


def certify_demand(
    topology: Network, demand: Demand | None = None, *, seconds: float = SECONDS
) -> AllToAllCertificate:
    """Certify the best bound known on the time of a demand; of equal parts if it is None.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    seconds : float
        For the program, where one is needed.

    Raises
    ------
    DisconnectedError, TimeLimitError, UnsupportedError
        As :func:`forestcoll.all_to_all.multicast_bounds.demand_bounds`.

    Examples
    --------
    >>> from forestcoll.schedule import verify_certificate
    >>> made = certify_demand("dgx_a100:boxes=2")
    >>> made.least_ns, verify_certificate(made).at_most_gb_s
    (Fraction(8, 25), Fraction(50, 1))
    """
    return certificate_of(demand_bounds(as_topology(topology), demand, seconds=seconds).least)


def certificate_of(bound: PriceBound) -> AllToAllCertificate:
    """Write a bound as a certificate."""
    topology, demand = bound.topology, bound.demand
    names = [node.name for node in topology.nodes]
    gpus = [names[node] for node in topology.compute]
    links = len(topology.links)
    return AllToAllCertificate(
        network=topology.name,
        demand="all-to-all" if demand is None else demand.name,
        least_ns=bound.inverse_rate,
        chunks=None if demand is None else _chunks(demand, gpus),
        gpus=gpus,
        forwarding=[node.name for node in topology.nodes if node.is_switch],
        links=[
            PricedLink(
                tail=names[link.tail],
                head=names[link.head],
                bandwidth_gb_s=link.bandwidth_gb_s,
                price=price,
            )
            for link, price in zip(topology.links, bound.price, strict=False)
        ],
        shared=[
            PricedShared(
                name=group.name,
                links=[SharedLink(tail=names[u], head=names[v]) for u, v in group.links],
                bandwidth_gb_s=group.bandwidth_gb_s,
                price=price,
            )
            for group, price in zip(topology.shared, bound.price[links:], strict=True)
        ],
    )


def _chunks(demand: Demand, gpus: list[str]) -> list[CertifiedChunk]:
    return [
        CertifiedChunk(tail=gpus[source], head=[gpus[one] for one in targets], size=size)
        for source, size, targets in map(demand.chunk, range(demand.num_chunks))
    ]
