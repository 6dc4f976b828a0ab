"""Score of an MSCCL XML file on a network: correctness and rate, compared with the optimum.

Problem: is a given MSCCL XML file correct, and how near is it to the bound?
Input:   an algorithm, a topology whose GPUs are its ranks, in their order.
Output:  its errors; or the loads of its transfers, the exact pipelined algbw and the bound.
Cost:    that of executing it, of the bound, and of :mod:`forestcoll.runtimes.scoring.least_hops`.
Source:  own. The bound is that of :mod:`forestcoll.runtimes.scoring.file_bounds`.

The model: every transfer of the file takes the paths of ``least_hops``, with all pipeline chunks in
flight. Threadblocks, channels and latencies take no time. These loads are those of a schedule on
the network, so no correct file exceeds the bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InvalidParameterError
from forestcoll.runtimes.interpretation.findings import Findings
from forestcoll.runtimes.msccl.algorithm import ALIASES, COLLECTIVES, Algorithm
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.runtimes.scoring.file_bounds import bound_of
from forestcoll.runtimes.scoring.least_hops import loads_between
from forestcoll.runtimes.scoring.measurement import Measurement, measured
from forestcoll.topology.model import Topology

__all__ = ["FileScore", "score"]

_SENDING = ("s", "rcs", "rrs", "rrcs")


@dataclass(frozen=True, slots=True)
class FileScore:
    """The score of a file on a network.

    Parameters
    ----------
    findings : Findings
        Errors and notes.
    measurement : Measurement, optional
        None if the file is wrong.
    """

    findings: Findings
    measurement: Measurement | None = None


def score(
    algorithm: Algorithm,
    topology: Topology,
    *,
    root: int | None = None,
    order: Sequence[int] | None = None,
) -> FileScore:
    """Execute an algorithm, and measure it on a network.

    Parameters
    ----------
    algorithm : Algorithm
    topology : Topology
        With as many GPUs as the algorithm.
    root : int, optional
        Of a broadcast or reduce, if it cannot be inferred; a rank of the algorithm.
    order : sequence of int, optional
        The GPU of the topology for each rank; by default, rank r is GPU r.

    Raises
    ------
    InvalidParameterError
        If the network has another number of GPUs.
    UnsupportedError
        If no switches lead from a GPU to one that it sends to.
    ForestCollError
        As of :func:`forestcoll.runtimes.interpretation.interpret` and
        :func:`forestcoll.core.optimality.optimum`.
    """
    gpus = len(algorithm.gpus)
    if gpus != topology.num_compute:
        raise InvalidParameterError(
            f"{algorithm.name} is for {gpus} GPUs, and {topology.name} has {topology.num_compute}; "
            "give the network that it is for, or those who take part by --group"
        )
    collective = COLLECTIVES[ALIASES.get(algorithm.collective, algorithm.collective)]
    found = interpret(algorithm, root=root)
    if not found.is_right:
        return FileScore(found)
    place = range(gpus) if order is None else order
    sent = {(place[tail], place[head]): share for (tail, head), share in _sent(algorithm).items()}
    loads = loads_between(topology, sent)
    weights = _weights(algorithm, collective, root)
    if weights is not None:
        weights = [weights[place.index(gpu)] for gpu in range(gpus)]
    bound = bound_of(topology, collective, weights)
    return FileScore(found, measured(topology, loads, bound))


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


def _weights(algorithm: Algorithm, collective: str, given: int | None) -> list[int] | None:
    """Return weights that mark the root of a correct broadcast or reduce; None for others."""
    if collective not in ("broadcast", "reduce"):
        return None
    ranks, pairs = range(len(algorithm.gpus)), _sent(algorithm)
    busy = {head if collective == "broadcast" else tail for tail, head in pairs}
    root = next(rank for rank in ranks if rank not in busy) if given is None else given
    return [int(rank == root) for rank in ranks]
