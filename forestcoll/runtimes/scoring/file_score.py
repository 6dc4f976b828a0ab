"""Score of a file on a network: correctness and rate, compared with the optimum.

Problem: is a given MSCCL XML file, or another synthesizer's output, correct, and how near is it to
         the bound?
Input:   an algorithm, or transfers read from a file; a topology with as many GPUs.
Output:  its errors; or the loads of its transfers, the exact pipelined algbw and the bound.
Cost:    that of executing the file, or of ``verify``; of the bound, and of ``least_hops``.
Source:  own. The bound is that of :mod:`forestcoll.runtimes.scoring.file_bounds`.

The model: every transfer of an MSCCL file takes the paths of ``least_hops``, with all pipeline
chunks in flight. Threadblocks, channels and latencies take no time. These loads are those of a
schedule on the network, so no correct file exceeds the bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InvalidParameterError, VerificationError
from forestcoll.problem.demand import Demand
from forestcoll.runtimes.interpretation.findings import Findings
from forestcoll.runtimes.msccl.algorithm import ALIASES, COLLECTIVES, Algorithm
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.runtimes.scoring.demand_slots import SECONDS, demand_bound, slots_of
from forestcoll.runtimes.scoring.file_bounds import Measurement, bound_of, measured
from forestcoll.runtimes.scoring.least_hops import loads_between
from forestcoll.runtimes.scoring.other_tools.tool_schedule import as_the_file_has_it, tool_schedule
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolTransfers
from forestcoll.schedule.cost_model import cost
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification import verify
from forestcoll.topology.model import Topology

__all__ = ["FileScore", "PeerScore", "score", "score_transfers"]


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
    demand: Demand | None = None,
    seconds: float = SECONDS,
) -> FileScore:
    """Execute an algorithm, and measure it on a network.

    Parameters
    ----------
    topology : Topology
        With as many GPUs as the algorithm.
    root : int, optional
        Of a broadcast or reduce, if it cannot be inferred; a rank of the algorithm.
    order : sequence of int, optional
        The GPU of the topology for each rank; by default, rank r is GPU r.
    demand : Demand, optional
        Of an all-to-all, as of :func:`forestcoll.runtimes.scoring.demand_slots.slots_of`.
    seconds : float
        For the bound of a demand, where it needs a program.

    Raises
    ------
    InvalidParameterError
        If the network has another number of GPUs, or a demand is none of the file.
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
    place = range(gpus) if order is None else order
    slots = None if demand is None else slots_of(algorithm, collective, demand, place)
    found = interpret(algorithm, root=root, pairs=None if slots is None else slots.chunks)
    if not found.is_right:
        return FileScore(found)
    sent = {(place[tail], place[head]): share for (tail, head), share in _sent(algorithm).items()}
    loads = loads_between(topology, sent)
    if demand is not None and slots is not None:
        data = slots.share * algorithm.chunks_per_loop
        bound = demand_bound(topology, demand, seconds)
        return FileScore(found, measured(topology, [load * data for load in loads], bound))
    weights = _weights(algorithm, collective, root)
    if weights is not None:
        weights = [weights[place.index(gpu)] for gpu in range(gpus)]
    bound = bound_of(topology, collective, weights)
    return FileScore(found, measured(topology, loads, bound))


def _sent(algorithm: Algorithm) -> Mapping[tuple[int, int], Fraction]:
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


@dataclass(frozen=True, slots=True)
class PeerScore:
    """The score of transfers on a network.

    Parameters
    ----------
    wrong : str, optional
        The counter-example of ``verify``, with the file's own names added.
    measurement : Measurement, optional
        None if the transfers are wrong.
    """

    schedule: StepSchedule
    wrong: str | None = None
    measurement: Measurement | None = None


def score_transfers(
    transfers: ToolTransfers, topology: Topology, order: Sequence[int] | None = None
) -> PeerScore:
    """Verify transfers and measure them on a network.

    Parameters
    ----------
    order : sequence of int, optional
        The rank in the topology of each GPU of the file; by default, the same number.

    Raises
    ------
    ForestCollError
        As of :func:`forestcoll.runtimes.scoring.other_tools.tool_schedule.tool_schedule` and
        :func:`forestcoll.core.optimality.optimum`.
    """
    schedule = tool_schedule(transfers, topology, order)
    try:
        verify(schedule)
    except VerificationError as failure:
        return PeerScore(schedule, wrong=as_the_file_has_it(transfers, str(failure)))
    root = transfers.root
    if root is not None and order is not None:
        root = order[root]
    weights = None if root is None else [int(rank == root) for rank in range(len(transfers.gpus))]
    bound = bound_of(topology, transfers.collective, weights)
    return PeerScore(schedule, measurement=measured(topology, _loads(schedule), bound))


def _loads(schedule: StepSchedule) -> list[Fraction]:
    if not len(schedule.sends):
        return [Fraction(0)] * len(schedule.topology.links)
    taken = cost(schedule)
    return [Fraction(load, taken.whole) for load in taken.loads]
