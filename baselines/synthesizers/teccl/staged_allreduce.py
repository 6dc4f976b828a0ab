"""The paper's allreduce: an all-to-all of parts, then an allgather of their sums.

Problem: every GPU gets the sum of all GPUs' data. A demand for each stage: GPU s has a part of
         shard d for GPU d; GPU d has the sum of shard d for all others.
Input:   a topology, the size of the data M, chunks C of each shard.
Output:  two step schedules: an all-to-all and an allgather.
Cost:    in sequence a program for each stage; together one program with the chunks of both.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 8: "TE-CCL supports ALLREDUCE implicitly through
         the combination of ALLTOALL and ALLGATHER", or "utilizing multiple demand matrices, each
         representing an intermediate stage"; the computation costs nothing.

:func:`paper_allreduce` solves both stages, each in its fewest epochs. :func:`joint_allreduce`
solves them in one program: a GPU sends its sum once it has all parts, even if others still wait for
theirs. A chunk of a sum depends on the parts of this chunk only.

The stages do not combine into one schedule of an allreduce: there GPUs add arrivals to their own
data, so parts could not pass through them unchanged.
:func:`baselines.synthesizers.teccl.teccl.generate` reverses an allgather instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from baselines.interface.search import Report, Search
from baselines.interface.supported import check_whole
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.instance.commodities import Demand, demand_of
from baselines.synthesizers.teccl.milp.horizon import fewest_epochs
from baselines.synthesizers.teccl.splitting import Stage, split
from baselines.synthesizers.teccl.task import Task
from baselines.synthesizers.teccl.teccl import generate
from baselines.synthesizers.teccl.tenants import check_together
from forestcoll.errors import VerificationError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification import verify
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import refuse_shared

__all__ = ["StagedAllreduce", "check_stages", "joint_allreduce", "paper_allreduce"]


@dataclass(frozen=True)
class StagedAllreduce:
    """Both stages of an allreduce.

    Parameters
    ----------
    scatter : StepSchedule
        An all-to-all: every GPU receives the parts of its shard.
    gather : StepSchedule
        An allgather of the sums.
    together : bool
        Whether both are on one clock. If not, the second begins when the first has ended.
    epochs, bound : int, optional
        If both are on one clock, the epochs, and the proved lower bound on them.
    """

    scatter: StepSchedule
    gather: StepSchedule
    together: bool = False
    epochs: int | None = None
    bound: int | None = None

    @property
    def finish_us(self) -> Fraction:
        """When the last transfer ends."""
        clocks = (self.scatter.clock, self.gather.clock)
        ends = [clock.finish_us for clock in clocks if clock is not None]
        return max(ends) if self.together else sum(ends, Fraction(0))


def paper_allreduce(
    topology: Topology, *, limits: Limits | None = None, **asked: Any
) -> StagedAllreduce:
    """Make both stages in sequence; parameters and errors as of ``generate``.

    The time is shared evenly.

    Examples
    --------
    >>> from forestcoll import load_topology
    >>> paper_allreduce(load_topology("ring:nodes=4"), size_bytes=4000).finish_us
    Fraction(4, 1)
    """
    limits = (limits or Limits()).shared(2)
    scatter = generate(topology, "all-to-all", limits=limits, **asked)
    return StagedAllreduce(scatter, generate(topology, "allgather", limits=limits, **asked))


def joint_allreduce(
    topology: Topology,
    *,
    size_bytes: int = 10**9,
    chunks: int = 1,
    epoch: str = "fastest",
    crossing: str = "through",
    switches: str = "nodes",
    solver: str = "cp-sat",
    work: float | None = None,
    limits: Limits | None = None,
    report: Report | None = None,
) -> StagedAllreduce:
    """Make both stages at once, in the fewest epochs; parameters and errors as of ``generate``.

    Examples
    --------
    Every GPU of a ring of four waits for the part from opposite, so nothing is gained there:

    >>> from forestcoll import load_topology
    >>> joint_allreduce(load_topology("ring:nodes=4"), size_bytes=4000).finish_us
    Fraction(4, 1)
    """
    check_size(topology)
    check_whole("teccl", topology)
    refuse_shared(topology, "the clock of teccl")
    task = Task(
        collective="allgather",
        root=0,
        size_bytes=size_bytes,
        chunks=chunks,
        epoch=epoch,
        crossing=crossing,
        switches=switches,
        solver=solver,
    )
    both = _stages(topology.num_compute, size_bytes, chunks)
    joined = replace(Demand.joined(both), after=_after(topology.num_compute, chunks))
    network = task.network(topology, joined)

    def tell(found: int | None, bound: int) -> None:
        if report is not None:
            status = "open" if found is None else "optimal" if found == bound else "feasible"
            name = f"epochs of both stages, crossing {crossing}"
            report(Search(name, status, found, bound, "epochs", solver))

    most = math.inf if work is None else work
    found = fewest_epochs(network, joined, solver, limits or Limits(), tell, most)
    whole = schedule_of(network, joined, found.kept, "allgather", size_bytes)
    names = ("all-to-all", "allgather")
    stages = [Stage(name, size_bytes, each) for name, each in zip(names, both, strict=True)]
    scatter, gather = split(whole, stages)
    return StagedAllreduce(scatter, gather, True, found.epochs, found.bound)


def _stages(gpus: int, size_bytes: int, chunks: int) -> list[Demand]:
    return [demand_of(gpus, name, chunks, size_bytes) for name in ("all-to-all", "allgather")]


def _after(gpus: int, chunks: int) -> tuple[tuple[int, ...], ...]:
    """Return the chunks that each chunk sums up, as numbered in both demands together."""
    parts: list[list[int]] = [[] for _ in range(gpus * chunks)]
    pairs = [(source, to) for source in range(gpus) for to in range(gpus) if source != to]
    for number, (_, to) in enumerate(pairs):
        for chunk in range(chunks):
            parts[to * chunks + chunk].append(number * chunks + chunk)
    return ((),) * (len(pairs) * chunks) + tuple(map(tuple, parts))


def check_stages(made: StagedAllreduce) -> None:
    """Prove both stages, alone and together, and that every sum is complete before it is sent.

    Raises
    ------
    VerificationError
        With the first violation.
    """
    for stage in (made.scatter, made.gather):
        verify(stage)
    if not made.together:
        return
    check_together(made.scatter.topology, (made.scatter, made.gather))
    complete = _complete(made.scatter)
    clock, sends, root = made.gather.clock, made.gather.sends, made.gather.chunks.root
    assert clock is not None
    own = np.flatnonzero(sends.tail == root[sends.chunk])
    chunks = len(made.gather.chunks) // made.gather.topology.num_compute
    for send in own.tolist():
        rank, chunk = int(sends.tail[send]), int(sends.chunk[send]) % chunks
        start = int(clock.start[send]) * clock.tick_us
        if start < complete[rank, chunk]:
            raise VerificationError(
                f"rank {rank} sends the sum of chunk {chunk} from {start} us on; its last part "
                f"arrives at {complete[rank, chunk]} us"
            )


def _complete(scatter: StepSchedule) -> dict[tuple[int, int], Fraction]:
    """Return when the last part of each chunk has arrived at its rank, in microseconds."""
    clock, sends, target = scatter.clock, scatter.sends, scatter.chunks.target
    gpus = scatter.topology.num_compute
    assert clock is not None
    chunks = len(scatter.chunks) // (gpus * (gpus - 1))
    complete: dict[tuple[int, int], Fraction] = {}
    for send in np.flatnonzero(sends.head == target[sends.chunk]).tolist():
        at = int(sends.head[send]), int(sends.chunk[send]) % chunks
        end = int(clock.end[send]) * clock.tick_us
        complete[at] = max(end, complete.get(at, end))
    return complete
