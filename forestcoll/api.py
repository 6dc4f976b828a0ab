"""Public functions that accept a schedule, a result of ``generate`` or a schedule file.

The modules that do the work accept schedules only, and some of them know no collectives.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, cast, overload

import numpy as np

from forestcoll.compilation import compile_program as lower_schedule
from forestcoll.core.assembly import expand as expand_schedule
from forestcoll.core.fixed_k import FixedK, fixed_k
from forestcoll.core.optimality import optimum as optimum_of_weights
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.forest_over_time.planned_simulation import PlannedSimulator
from forestcoll.generation import Generated, generate
from forestcoll.in_network.collectives import InNetwork
from forestcoll.in_network.pruning import multicast as multicast_schedule
from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.optimum import Optimum
from forestcoll.problem.sizes import read_size
from forestcoll.problem.weights import Weights, weights_for
from forestcoll.schedule.allreduce import Allreduce, AnyForest, AnySchedule, TreeSchedule
from forestcoll.schedule.cost_model import Cost
from forestcoll.schedule.cost_model import cost as cost_of_schedule
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.files import read_schedule
from forestcoll.schedule.files import write_schedule as write_schedule_file
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import (
    AlphaBeta,
    Priority,
    Sharing,
    Simulation,
    Simulator,
    best_chunk_count,
)
from forestcoll.schedule.simulate.alpha_beta import DEFAULT_ALPHA_US
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification import AllreduceVerdict, FlowVerdict, StepVerdict, Verdict
from forestcoll.schedule.verification import verify as verify_schedule
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact
from forestcoll.topology.spec import Network, as_topology
from forestcoll.tree_latency import Latency
from forestcoll.tree_latency import latency as latency_of_schedule
from forestcoll.what_if.replanning import Replanned
from forestcoll.what_if.replanning import replan as replan_schedule

__all__ = [
    "compile_program", "cost", "expand", "latency", "multicast", "optimum", "replan", "schedule_in",
    "simulate", "verify", "write_schedule",
]  # fmt: skip

File: TypeAlias = str | os.PathLike[str]
"""The path of a schedule file."""

Result: TypeAlias = Generated | InNetwork
"""The result types that hold a schedule; ``InNetwork`` belongs to earlier versions."""

AnyVerdict: TypeAlias = Verdict | AllreduceVerdict | StepVerdict | FlowVerdict

_REDUCTIONS = ("reduce-scatter", "reduce")


@overload
def optimum(  # type: ignore[overload-overlap]  # an allreduce is no other str
    topology: Network,
    *,
    collective: Literal["allreduce"],
    root: str | int | None = None,
    weights: Weights | None = None,
    k: None = None,
    reduction: Literal[False] = False,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> AllreduceBound: ...
@overload
def optimum(
    topology: Network,
    *,
    collective: str | None = None,
    root: str | int | None = None,
    weights: Weights | None = None,
    k: None = None,
    reduction: bool = False,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Optimum: ...
@overload
def optimum(
    topology: Network,
    *,
    collective: str | None = None,
    root: str | int | None = None,
    weights: Weights | None = None,
    k: int,
    reduction: bool = False,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> FixedK: ...
def optimum(
    topology: Network,
    *,
    collective: str | None = None,
    root: str | int | None = None,
    weights: Weights | None = None,
    k: int | None = None,
    reduction: bool = False,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Optimum | FixedK | AllreduceBound:
    """Find the exact optimum of a collective on a network, and the cut that proves it.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    collective : str, optional
        "allgather", "reduce-scatter", "broadcast", "reduce" or "allreduce"; an allgather if not
        given, or with ``reduction`` a reduce-scatter.
    root : str or int, optional
        Name or rank of the GPU that a broadcast starts from, or that a reduce ends at.
    weights : mapping or sequence, optional
        How much of the data each GPU has, as for :func:`forestcoll.generate`.
    k : int, optional
        Trees per unit of weight. If given, find the best rate with exactly this many, as
        :func:`forestcoll.fixed_k` does.
    reduction : bool
        Whether data is summed up on its way to the roots. A named collective implies it.
    threads : int
        The largest number of threads; the result does not depend on it.
    progress : callable, optional
        Called with (GPUs passed, GPUs in all) now and then; may raise to stop the search.

    Returns
    -------
    Optimum, FixedK or AllreduceBound
        FixedK if k is given. For an allreduce a bound on every allreduce of its ``model``, which
        names what sums up; :func:`forestcoll.generate` makes the schedule that attains it, or
        reports the gap.

    Raises
    ------
    UnsupportedError
        For an unknown collective, an allreduce of a single GPU, and an allreduce of k trees.
    InvalidParameterError
        If ``reduction`` is given but the collective reduces nothing; otherwise as
        :func:`forestcoll.generate`.
    InvalidTopologyError, CapacityOverflowError
        As :func:`forestcoll.generate`.

    Examples
    --------
    >>> float(optimum("dgx_a100:boxes=4").algbw_gb_s)
    266.6666666666667
    >>> optimum("ring:nodes=4", collective="broadcast", root="gpu2").algbw_gb_s
    Fraction(2, 1)
    >>> optimum("mi250:boxes=2", k=3).algbw_gb_s
    Fraction(2400, 7)
    >>> best = optimum("dgx_a100:boxes=4", collective="allreduce")
    >>> best.algbw_gb_s, best.model
    (Fraction(400, 3), 'each piece summed up at one GPU; switches only forward')
    """
    topology = as_topology(topology)
    if reduction and collective is not None and collective not in _REDUCTIONS:
        raise InvalidParameterError(f"reduction is given, but {collective} is none; leave it out")
    if collective == "allreduce":
        if k is not None:
            raise UnsupportedError(
                "an allreduce has no bound of its own for k trees; leave k out, or ask for its "
                "phases, reduce-scatter and allgather"
            )
        return _allreduce_bound(topology, root, weights, threads)
    name = collective or ("reduce-scatter" if reduction else "allgather")
    asked = weights_for(topology, name, root=root, weights=weights)
    whole = None if root is None and weights is None else asked
    reduction = name in _REDUCTIONS
    if k is not None:
        return fixed_k(
            topology, k, weights=whole, reduction=reduction, threads=threads, progress=progress
        )
    return optimum_of_weights(
        topology, weights=whole, reduction=reduction, threads=threads, progress=progress
    )


def _allreduce_bound(
    topology: Topology, root: str | int | None, weights: Weights | None, threads: int
) -> AllreduceBound:
    """Return the bound that proves the best allreduce; its schedule is made on the way."""
    made = generate(
        topology,
        collective="allreduce",
        root=root,
        weights=weights,
        threads=threads,
        factored=True,
    ).schedule
    assert isinstance(made, Allreduce)
    if made.bound is None:
        raise UnsupportedError(f"{topology.name} has a single GPU, whose allreduce takes no time")
    return made.bound


def cost(schedule: AnySchedule | Result | File) -> Cost:
    """Compute the theoretical cost of a schedule, a result or a schedule file; does not verify it.

    See :func:`forestcoll.schedule.cost`.
    """
    return cost_of_schedule(schedule_in(schedule))


def compile_program(
    schedule: AnySchedule | Result | File, pipeline_chunks: int = 1, *, loopback: bool = True
) -> Program:
    """Compile a schedule, a result or a schedule file to a program; does not verify it.

    See :func:`forestcoll.compilation.compile_program`.
    """
    return lower_schedule(schedule_in(schedule), pipeline_chunks, loopback=loopback)


def expand(
    schedule: AnySchedule | Result | File, *, progress: Callable[[int, int], None] | None = None
) -> Forest | Allreduce[Forest]:
    """Write out the trees of a factored schedule, a result or a schedule file.

    See :func:`forestcoll.core.assembly.expand`.
    """
    factored = cast("Forest | FactoredForest", schedule_in(schedule))
    return expand_schedule(factored, progress=progress)


def multicast(
    schedule: AnySchedule | Result | File,
) -> MulticastForest | Allreduce[MulticastForest]:
    """Use in-network multicast and reduction in a schedule, a result or a schedule file.

    Only switches marked ``multicast`` do so; see :func:`forestcoll.in_network.pruning.multicast`.
    """
    return multicast_schedule(cast("Forest", schedule_in(schedule)))


def replan(schedule: AnySchedule | Result | File, topology: Network, **options: Any) -> Replanned:
    """Replan a schedule, a result or a schedule file for a network that has changed.

    Parameters, options and errors are those of :func:`forestcoll.what_if.replanning.replan`.
    """
    return replan_schedule(schedule_in(schedule), topology, **options)


def write_schedule(schedule: AnySchedule | Result, path: str | os.PathLike[str]) -> None:
    """Write a schedule, or the schedule of a result, to a file.

    See :func:`forestcoll.schedule.write_schedule`.
    """
    write_schedule_file(schedule_in(schedule), path)


def latency(schedule: AnySchedule | Result | File, *, physical: bool = True) -> Latency:
    """Measure depths and numbers of a schedule's trees, with proven lower bounds.

    See :func:`forestcoll.tree_latency.latency`; a file is not verified first.
    """
    return latency_of_schedule(schedule_in(schedule), physical=physical)


def simulate(
    schedule: AnySchedule | Result | File,
    size: int | str,
    *,
    alpha_us: Exact = DEFAULT_ALPHA_US,
    gamma_s_per_gb: Exact = 0,
    sharing: Sharing | Literal["fair", "fifo"] = Sharing.FAIR,
    pipeline_chunks: int | Literal["best"] = "best",
    lockstep: bool = False,
    keep_clock: bool = False,
    window: int | Literal["unlimited"] = 1,
    chunk_cost_us: Exact = 0,
    message_cost_us: Exact = 0,
    efficiency: Exact = 1,
    priority: Priority | Literal["equal", "critical-path"] = Priority.EQUAL,
    plan: bool = True,
    bins: int = 0,
    timeline: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Simulate the time that a schedule or a schedule file takes for a size; does not verify it.

    For many sizes of one schedule, compile it once and keep a
    :class:`forestcoll.schedule.simulate.Simulator`.

    Parameters
    ----------
    schedule : any schedule, a result that holds it, or the path of its file
    size : int or str
        Bytes, or a text such as "64MB" (1 MB is 2^20 bytes).
    alpha_us, gamma_s_per_gb, sharing, lockstep, keep_clock, window, chunk_cost_us,
    message_cost_us, efficiency, priority
        The model, as in :class:`forestcoll.schedule.simulate.AlphaBeta`.
    pipeline_chunks : int or "best"
        The number of chunks that the data is cut into, or the best number of those tried.
    plan : bool
        Whether a schedule with a time plan keeps to it, if pipeline chunks are "best", no ``bins``
        are asked for, and the model has only what a plan has: alpha and the efficiency.
    bins, timeline, progress
        As in :meth:`forestcoll.schedule.simulate.Simulator.run`.

    Raises
    ------
    InvalidParameterError
        If the size, the model or the number of pipeline chunks makes no sense.
    InvalidScheduleError
        If there is no such file, or it holds no schedule.
    UnsupportedError, VerificationError
        If the schedule cannot be compiled, or the compilation finds a fault in it.

    Examples
    --------
    >>> import forestcoll
    >>> found = forestcoll.simulate(forestcoll.generate("ring:nodes=4"), "1MB", alpha_us=5)
    >>> found.pipeline_chunks, round(found.time_s * 1e6, 3)
    (1, 403.216)
    """
    model = AlphaBeta(
        alpha_us=alpha_us,
        gamma_s_per_gb=gamma_s_per_gb,
        sharing=sharing,
        lockstep=lockstep,
        keep_clock=keep_clock,
        window=window,
        chunk_cost_us=chunk_cost_us,
        message_cost_us=message_cost_us,
        efficiency=efficiency,
        priority=priority,
    )
    try:
        size_bytes = read_size(size.item() if isinstance(size, np.integer) else size)
    except ValueError as error:
        raise InvalidParameterError(f"size {error}") from None
    asked = schedule_in(schedule)
    program = lower_schedule(asked)
    simulator = Simulator(program)
    if pipeline_chunks == "best":
        planned = PlannedSimulator.of(asked) if plan and not bins else None
        if planned and (found := planned.run(size_bytes, model, program if timeline else None)):
            return found
        best = best_chunk_count(simulator, size_bytes, model, progress=progress)
        if not (bins or timeline):
            return best
        pipeline_chunks = best.pipeline_chunks
    return simulator.run(
        size_bytes, model, pipeline_chunks, bins=bins, timeline=timeline, progress=progress
    )


@overload
def verify(schedule: AnyForest) -> Verdict: ...
@overload
def verify(schedule: Allreduce[Any]) -> AllreduceVerdict: ...
@overload
def verify(schedule: StepSchedule) -> StepVerdict: ...
@overload
def verify(schedule: FlowSchedule) -> FlowVerdict: ...
@overload
def verify(schedule: TreeSchedule | Result) -> Verdict | AllreduceVerdict: ...
@overload
def verify(schedule: TreeSchedule | StepSchedule) -> Verdict | AllreduceVerdict | StepVerdict: ...
@overload
def verify(schedule: AnySchedule | Result | File) -> AnyVerdict: ...
def verify(schedule: AnySchedule | Result | File) -> AnyVerdict:
    """Prove that a schedule does what its collective asks, within its claims.

    Accepts a result of :func:`forestcoll.generate` or a schedule file, too.
    :func:`forestcoll.schedule.verify` lists what is checked; no claim in a file is trusted.

    Raises
    ------
    InvalidScheduleError
        If there is no such file, or it holds no schedule.
    VerificationError
        At the first violation.
    """
    return verify_schedule(schedule_in(schedule))


def schedule_in(schedule: AnySchedule | Result | File) -> AnySchedule:
    """Return the schedule itself, the schedule of a result, or the schedule in a file."""
    if isinstance(schedule, str | os.PathLike):
        return read_schedule(schedule)
    return schedule.schedule if isinstance(schedule, Generated | InNetwork) else schedule
