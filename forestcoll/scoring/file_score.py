"""How fast a runtime's file is on a network, beside the optimum.

Problem: anybody's MSCCL XML: is it right, and how near is it to the bound?
Input:   an algorithm, a topology whose GPUs are its ranks, in their order.
Output:  what is wrong with it; else the loads of its transfers, exact algbw flowing, the bound.
Cost:    that of executing it, of the optimum, and of :mod:`forestcoll.scoring.least_hops`.
Source:  own. The bound is ForestColl's optimum (section 5.2) of the collective on this network.

The model: every transfer goes as the file has it, over the paths of ``least_hops``, all pieces at
once; threadblocks, channels and latencies take no time. A cut of the network bounds whatever
crosses it, so no file that is right is above the optimum.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.core.optimality import optimum
from forestcoll.core.partition_bound import best_known_bound
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule.interpret import Findings, interpret
from forestcoll.schedule.msccl.algorithm import ALIASES, COLLECTIVES, Algorithm
from forestcoll.scoring.least_hops import loads_between
from forestcoll.topology.model import Topology

__all__ = ["FileScore", "score"]

_SENDING = ("s", "rcs", "rrs", "rrcs")


@dataclass(frozen=True, slots=True)
class FileScore:
    """What a file is worth on a network.

    Parameters
    ----------
    findings : Findings
        Whether it is right.
    algbw_gb_s : Fraction, optional
        Of data that flows; None if the file is wrong or nothing is sent.
    busiest_link : tuple of str, optional
    at_most_gb_s : Fraction, optional
        What no file that is right is above; None of an allreduce.
    rooted_at_most_gb_s : Fraction, optional
        Of an allreduce: what none is above that sums each piece up at one GPU.
    loads : tuple of Fraction
        Over each link of the topology: the share of the data.
    """

    findings: Findings
    algbw_gb_s: Fraction | None = None
    busiest_link: tuple[str, str] | None = None
    at_most_gb_s: Fraction | None = None
    rooted_at_most_gb_s: Fraction | None = None
    loads: tuple[Fraction, ...] = field(default=(), repr=False)

    @property
    def share_of_optimum(self) -> Fraction | None:
        """Of what is possible at most; 1 if it is optimal."""
        if self.algbw_gb_s is None or self.at_most_gb_s is None:
            return None
        return self.algbw_gb_s / self.at_most_gb_s


def score(algorithm: Algorithm, topology: Topology, *, root: int | None = None) -> FileScore:
    """Execute an algorithm, and measure it on a network.

    Parameters
    ----------
    algorithm : Algorithm
    topology : Topology
        With as many GPUs; rank r of the algorithm is GPU r of it.
    root : int, optional
        Of a broadcast or reduce, if it is not plain.

    Raises
    ------
    InvalidParameterError
        If the network has another number of GPUs.
    UnsupportedError
        Of an all-to-all, or if no switches lead from a GPU to one that it sends to.
    ForestCollError
        As of :func:`forestcoll.schedule.interpret.interpret` and
        :func:`forestcoll.core.optimality.optimum`.
    """
    gpus = len(algorithm.gpus)
    if gpus != topology.num_compute:
        raise InvalidParameterError(
            f"{algorithm.name} is for {gpus} GPUs, and {topology.name} has {topology.num_compute}; "
            "give the network that it is for"
        )
    collective = COLLECTIVES[ALIASES.get(algorithm.collective, algorithm.collective)]
    if collective == "all-to-all":
        raise UnsupportedError("unsupported: an all-to-all is not scored; check-xml executes it")
    found = interpret(algorithm, root=root)
    if not found.is_right:
        return FileScore(found)
    loads = tuple(loads_between(topology, _sent(algorithm)))
    algbw, busiest = _flowing(topology, loads)
    best, rooted = _bounds(topology, collective, _weights(algorithm, collective, root))
    return FileScore(found, algbw, busiest, best, rooted, loads)


def _sent(algorithm: Algorithm) -> Mapping[tuple[int, int], Fraction]:
    """Return the share of the data that each GPU sends to each other."""
    chunks: dict[tuple[int, int], int] = {}
    for rank, gpu in enumerate(algorithm.gpus):
        for block in gpu.threadblocks:
            pair = rank, block.send
            many = sum(one.count for one in block.instructions if one.kind in _SENDING)
            if many:
                chunks[pair] = chunks.get(pair, 0) + many
    return {pair: Fraction(many, algorithm.chunks_per_loop) for pair, many in chunks.items()}


def _flowing(
    topology: Topology, loads: tuple[Fraction, ...]
) -> tuple[Fraction | None, tuple[str, str] | None]:
    busy = [load / e.bandwidth_gb_s for load, e in zip(loads, topology.links, strict=True)]
    slowest = max(busy, default=Fraction(0))
    if not slowest:
        return None, None
    link = topology.links[busy.index(slowest)]
    return 1 / slowest, (topology.nodes[link.tail].name, topology.nodes[link.head].name)


def _weights(algorithm: Algorithm, collective: str, given: int | None) -> list[int] | None:
    """Return who has, or gets, the data of a broadcast or reduce that is right; None if all."""
    if collective not in ("broadcast", "reduce"):
        return None
    ranks, pairs = range(len(algorithm.gpus)), _sent(algorithm)
    busy = {head if collective == "broadcast" else tail for tail, head in pairs}
    root = next(rank for rank in ranks if rank not in busy) if given is None else given
    return [int(rank == root) for rank in ranks]


def _bounds(
    topology: Topology, collective: str, weights: list[int] | None
) -> tuple[Fraction | None, Fraction | None]:
    """Return the optimum, or of an allreduce the bound on those that sum up at one GPU."""
    if topology.num_compute == 1:
        return None, None
    if collective == "allreduce":
        bound = best_known_bound(topology)
        return None, None if bound is None else bound.algbw_gb_s
    reduction = collective in ("reduce", "reduce-scatter")
    return optimum(topology, weights=weights, reduction=reduction).algbw_gb_s, None
