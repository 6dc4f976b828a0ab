"""Score of a file on a network: correctness and rate, compared with the optimum.

Problem: is a given MSCCL XML file or MSCCL++ plan correct, and how near is it to the bound?
Input:   a file of a runtime; a topology with as many GPUs; the machine, if its threadblocks count.
Output:  its errors; or the loads of its transfers, the exact pipelined algbw and the bound.
Cost:    that of executing the file; of the bound, and of ``least_hops``.
Source:  own. The bound is that of :mod:`forestcoll.runtimes.scoring.file_bounds`.

The model: every transfer of a runtime's file takes the paths of ``least_hops``, with all pipeline
chunks in flight. The rate is that of the slowest link or, with a machine, of the busiest
threadblock. Latencies take no time. These loads are those of a schedule on the network, so no
correct file exceeds the bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.demand import Demand
from forestcoll.runtimes.interpretation.findings import Findings
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.runtimes.mscclpp.execution_plan import COLLECTIVES, Plan
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.scoring.demand_slots import SECONDS, demand_bound, slots_of
from forestcoll.runtimes.scoring.file_bounds import Measurement, bound_of, measured
from forestcoll.runtimes.scoring.least_hops import Pair, loads_between
from forestcoll.runtimes.scoring.sent_data import RuntimeFile, call_chunks, collective_of, sent_by
from forestcoll.runtimes.scoring.threadblock_rates import MachineRate
from forestcoll.runtimes.scoring.threadblock_work import BusiestThreadblock, busiest_threadblock
from forestcoll.topology.model import Topology

__all__ = ["FileScore", "score"]


@dataclass(frozen=True, slots=True)
class FileScore:
    """The score of a file on a network.

    Parameters
    ----------
    findings : Findings
        Errors and notes.
    measurement : Measurement, optional
        By links alone; None if the file is wrong.
    threadblock : BusiestThreadblock, optional
        None without a machine, or if the file is wrong.
    """

    findings: Findings
    measurement: Measurement | None = None
    threadblock: BusiestThreadblock | None = None

    @property
    def algbw_gb_s(self) -> Fraction | None:
        """The rate that links and threadblocks allow; None if nothing is sent or it is wrong."""
        limits = (self.measurement, self.threadblock)
        rates = [one.algbw_gb_s for one in limits if one is not None]
        return min((rate for rate in rates if rate is not None), default=None)

    @property
    def share(self) -> Fraction | None:
        """The rate over the bound."""
        if self.measurement is None:
            return None
        return replace(self.measurement, algbw_gb_s=self.algbw_gb_s).share


def score(
    file: RuntimeFile,
    topology: Topology,
    *,
    root: int | None = None,
    order: Sequence[int] | None = None,
    demand: Demand | None = None,
    seconds: float = SECONDS,
    machine: MachineRate | None = None,
) -> FileScore:
    """Execute a file of MSCCL or MSCCL++, and measure it on a network.

    Parameters
    ----------
    file : Algorithm or Plan
    topology : Topology
        With as many GPUs as the file.
    root : int, optional
        Of a broadcast or reduce, if it cannot be inferred; a rank of the file.
    order : sequence of int, optional
        The GPU of the topology for each rank; by default, rank r is GPU r.
    demand : Demand, optional
        Of an all-to-all, as of :func:`forestcoll.runtimes.scoring.demand_slots.slots_of`.
    seconds : float
        For the bound of a demand, where it needs a program.
    machine : MachineRate, optional
        Of :data:`forestcoll.runtimes.scoring.threadblock_rates.THREADBLOCK_RATES`; without one,
        threadblocks take no time.

    Raises
    ------
    InvalidParameterError
        If the network has another number of GPUs, or a demand is none of the file.
    UnsupportedError
        If no switches lead from a GPU to one that it sends to, or a plan uses switch channels.
    ForestCollError
        As of the interpreters of both runtimes, and of
        :func:`forestcoll.core.optimality.optimum`.
    """
    gpus = len(file.gpus)
    if gpus != topology.num_compute:
        raise InvalidParameterError(
            f"{file.name} is for {gpus} GPUs, and {topology.name} has {topology.num_compute}; "
            "give the network that it is for, or those who take part by --group"
        )
    collective = collective_of(file)
    place = range(gpus) if order is None else order
    slots = None if demand is None else slots_of(file, demand, place)
    most_blocks = None if machine is None else machine.most_blocks
    found = _executed(file, root, most_blocks, None if slots is None else slots.chunks)
    if not found.is_right:
        return FileScore(found)
    part = Fraction(1, call_chunks(file)) if slots is None else slots.share
    busiest = None if machine is None else busiest_threadblock(file, machine, part)
    sent = sent_by(file)
    loads = loads_between(
        topology, {(place[tail], place[head]): share for (tail, head), share in sent.items()}
    )
    if demand is not None and slots is not None:
        data = slots.share * call_chunks(file)
        bound = demand_bound(topology, demand, seconds)
        by_links = measured(topology, [load * data for load in loads], bound)
        return FileScore(found, by_links, busiest)
    weights = _weights(gpus, sent, collective, root)
    if weights is not None:
        weights = [weights[place.index(gpu)] for gpu in range(gpus)]
    bound = bound_of(topology, collective, weights)
    return FileScore(found, measured(topology, loads, bound), busiest)


def _executed(
    file: RuntimeFile,
    root: int | None,
    most_blocks: int | None,
    pairs: tuple[tuple[int, ...], ...] | None,
) -> Findings:
    if isinstance(file, Plan):
        if file.collective not in COLLECTIVES:
            raise InvalidParameterError(
                f"the collective is {file.collective[:40]!r}, of which it is not known what is "
                f"due; known are {', '.join(COLLECTIVES)}"
            )
        return interpret_plan(file, root=root, most_blocks=most_blocks, pairs=pairs)
    return interpret(file, root=root, most_blocks=most_blocks, pairs=pairs)


def _weights(
    gpus: int, sent: Mapping[Pair, Fraction], collective: str, given: int | None
) -> list[int] | None:
    """Return weights that mark the root of a correct broadcast or reduce; None for others."""
    if collective not in ("broadcast", "reduce"):
        return None
    busy = {head if collective == "broadcast" else tail for tail, head in sent}
    root = next(rank for rank in range(gpus) if rank not in busy) if given is None else given
    return [int(rank == root) for rank in range(gpus)]
