"""TE-CCL: collectives as a multi-commodity flow in epochs, with copies, buffers and latencies.

Problem: the fewest epochs in which all chunks reach their destinations.
Input:   a topology; the size of the data M and chunks C; the length of epochs; the switch model.
Output:  a step schedule with a clock.
Cost:    programs of chunks x links x epochs variables; exponential in the worst case. For an
         all-to-all linear programs of sources x links x epochs variables.
Source:  Liu et al., Rethinking Machine Learning Collective Communication as a Multi-Commodity Flow
         Problem (TE-CCL, SIGCOMM 2024), sections 3 and 4, appendices A to F. It uses Gurobi; here
         CP-SAT, HiGHS, or Gurobi if it is installed.
"""

from __future__ import annotations

import math

from baselines.building.composing import collect_steps
from baselines.building.demanded_chunks import given_demand
from baselines.interface.method import Method
from baselines.interface.search import Report
from baselines.interface.supported import check_whole
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.teccl.task import Task
from forestcoll.errors import InvalidParameterError, UnsupportedError, VerificationError
from forestcoll.problem.demand import Demand
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.steps import REDUCTIONS, StepSchedule
from forestcoll.schedule.verification import verify
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import refuse_shared

__all__ = ["METHODS", "generate"]

_COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all")

_REDUCTION = {"allgather": "reduce-scatter", "broadcast": "reduce"}
_SPREAD = {"allreduce": "allgather", **{reduction: of for of, reduction in _REDUCTION.items()}}


def generate(
    topology: Topology,
    collective: str | None = None,
    *,
    demand: Demand | str | None = None,
    size_bytes: int | None = None,
    chunks: int = 1,
    chunk_bytes: int = 0,
    epoch: str = "fastest",
    crossing: str = "through",
    switches: str = "nodes",
    buffer: int = 0,
    buffering: str = "passing",
    slow: str = "",
    milp: bool = False,
    windows: bool = True,
    epochs: int | str = 0,
    objective: str = "epochs",
    gap: float = 0.0,
    round_epochs: int = 0,
    solver: str = "cp-sat",
    work: float | None = None,
    symmetry: bool = False,
    root: str | int | None = None,
    limits: Limits | None = None,
    report: Report | None = None,
) -> StepSchedule:
    """Find a schedule of the fewest epochs.

    Parameters
    ----------
    collective : str, optional
        An allgather if not given; with a demand an all-to-all. A reduce-scatter or reduce is a
        reversed allgather or broadcast; an allreduce runs both as sequential phases.
    demand : Demand or str, optional
        Who needs which chunk, or the text that names it, as for
        :func:`forestcoll.problem.demand_files.demand_in`. Where a chunk is for several GPUs, or
        with ``milp``, whole chunks of one size are sent: every chunk of the demand is divided into
        such, and the rest takes as long as a whole one; the report has the bytes so counted. If
        not, parts flow, and nothing is rounded up. GPUs that the demand does not name forward.
    size_bytes : int, optional
        M, 1 GB if not given; it decides how much latencies count. A demand has its own.
    chunks : int
        C of each source, in an all-to-all of each pair, in a demand of its largest chunk. In an
        all-to-all without ``milp`` it only sets the length of an epoch.
    chunk_bytes : int
        For a demand: the bytes of a chunk, in place of ``chunks``.
    epoch : str
        "fastest" or "slowest": the link on which a chunk takes an epoch.
    crossing : str
        Model of switches and latencies: "through", "rounded" or "stored"; see
        :mod:`baselines.synthesizers.teccl.instance.epochs`.
    switches : str
        "nodes", or "hyper-edges" instead, which are for whole chunks only.
    buffer : int
        Chunks that a node can hold, its own included; 0 for any number. If no other solution has as
        few epochs, some node drops a chunk and receives it again. Schedules cannot express this,
        and the second transfer is left out.
    buffering : str
        "passing": what is sent on at once takes no slot; or "kept"; see
        :mod:`baselines.synthesizers.teccl.instance.epochs`.
    slow : str
        Links that are slow for some epochs, such as "gpu0 - gpu1 x 1/2 from 3 to 5"; see
        :mod:`baselines.synthesizers.teccl.instance.slowdowns`.
    milp : bool
        For an all-to-all: whole chunks, by the integer program that all other collectives need, in
        place of the linear program.
    windows : bool
        For the linear program: a link on which a chunk takes several epochs is occupied as long by
        a fraction of it, as in the public code. Without, any fraction that fits leaves within one
        epoch, as in the paper, and there may be fewer epochs.
    epochs : int or str
        A number of epochs; 0 for the fewest; "estimated" for the number that
        :mod:`baselines.synthesizers.teccl.milp.epoch_count` finds.
    objective : str
        "epochs", or "reward" for early arrivals in so many epochs; see
        :mod:`baselines.synthesizers.teccl.milp.reward`.
    gap : float
        Relative gap of the reward; below 1.
    round_epochs : int
        Epochs of a round of A*, each solved for its reward; 0: no rounds. See
        :mod:`baselines.synthesizers.teccl.a_star.a_star`.
    solver : str
        "cp-sat", "highs", "gurobi", or "either" for CP-SAT and HiGHS in turn with equal time: one
        of them is often far ahead. HiGHS solves linear programs in place of CP-SAT.
    work : float, optional
        CP-SAT's deterministic seconds for each phase: a limit with a reproducible result. 0 returns
        the greedy solution.
    symmetry : bool
        Whether CP-SAT uses symmetries. Off by default: the paper does not mention them for Gurobi.
    root : str or int, optional
        Name or rank of a GPU, for a broadcast or reduce (rank 0 if not given).
    limits : Limits, optional
        At the limit the search returns the fewest epochs, or the largest reward, found. Without
        one, it ends with a proof (for a linear program in floats). An allreduce gives each phase
        half of the time.
    report : callable, optional
        Called with the epochs found in each phase, and the lower bound.

    Raises
    ------
    UnsupportedError
        For a single GPU, or if hyper-edges cannot replace the switches. For a reduction with few
        slots or slow links, which would differ after reversal, or one with sums that a switch would
        add and must not.
    InvalidParameterError
        If a parameter is out of its range, or two contradict each other.
    InfeasibleError
        If it is proved that so many epochs are too few.
    DisconnectedError
        If no path leads from a GPU to another.
    TimeLimitError
        If time is up and there is nothing to return.

    Examples
    --------
    >>> from forestcoll import load_topology, verify
    >>> schedule = generate(load_topology("ring:nodes=4"), size_bytes=4000)
    >>> verify(schedule).steps, schedule.clock.finish_us
    (2, Fraction(2, 1))
    """
    check_size(topology)
    check_whole("teccl", topology)
    refuse_shared(topology, "the clock of teccl")
    given = _given(topology, demand, collective, size_bytes, root)
    collective = collective or ("allgather" if given is None else "all-to-all")
    if given is not None:
        size_bytes = given.bytes
    if collective in REDUCTIONS and (buffer or slow):
        raise UnsupportedError(
            f"unsupported: teccl: {'buffer' if buffer else 'slow'} is for what is copied, not for "
            f"{collective}; ask for an allgather, broadcast or all-to-all"
        )
    task = Task(
        collective=_SPREAD.get(collective, collective),
        root=_rank(topology, collective, root),
        size_bytes=10**9 if size_bytes is None else size_bytes,
        chunks=chunks,
        epoch=epoch,
        crossing=crossing,
        switches=switches,
        buffer=buffer,
        buffering=buffering,
        slow=slow,
        milp=milp,
        windows=windows,
        epochs=epochs,
        objective=objective,
        gap=gap,
        round_epochs=round_epochs,
        solver=solver,
        work=math.inf if work is None else work,
        symmetry=symmetry,
        given=given,
        chunk_bytes=chunk_bytes,
        limits=(limits or Limits()).shared(2 if collective == "allreduce" else 1),
    )
    return _made(topology, collective, task, report or (lambda search: None))


def _made(topology: Topology, collective: str, task: Task, report: Report) -> StepSchedule:
    """Solve the task; a reduction and the first phase of an allreduce are reversed."""

    def spread(network: Topology) -> StepSchedule:
        phase = task.collective if network is topology else _REDUCTION[task.collective]
        return task.spread(network, phase, report)

    if collective == "all-to-all":
        return spread(topology)
    made = collect_steps(spread, topology, collective)
    if collective in REDUCTIONS:
        _check_sums(made)
    return made


def _given(
    topology: Topology,
    demand: Demand | str | None,
    collective: str | None,
    size_bytes: int | None,
    root: str | int | None,
) -> Demand | None:
    """Read the demand, if any, and refuse what contradicts it."""
    if demand is None:
        return None
    for name, value in (("size_bytes", size_bytes), ("root", root)):
        if value is not None:
            raise InvalidParameterError(f"{name} is given with a demand, which has its own")
    return given_demand(topology, demand, collective)


def _check_sums(made: StepSchedule) -> None:
    """Refuse a reduction in which a switch would add parts that it must send on separately.

    This happens where a switch received a chunk twice before the reversal.
    """
    topology, sends, clock = made.topology, made.sends, made.clock
    assert clock is not None
    parts: dict[tuple[int, int], set[int]] = {}
    for tail, chunk, start, adds in zip(
        sends.tail.tolist(),
        sends.chunk.tolist(),
        clock.start.tolist(),
        sends.reduce.tolist(),
        strict=True,
    ):
        if adds and topology.nodes[topology.ends[tail]].multicast:
            parts.setdefault((tail, chunk), set()).add(start)
    if all(len(starts) == 1 for starts in parts.values()):
        return
    try:
        verify(made)
    except VerificationError as error:
        raise UnsupportedError(
            f"unsupported: {topology.name}: a switch would add what this schedule sends on apart "
            f"({error}); ask for switches that do not add, or for another crossing"
        ) from error


def _rank(topology: Topology, collective: str, root: str | int | None) -> int:
    if collective == "all-to-all" and root is None:
        return 0
    if root is None and collective in ("broadcast", "reduce"):
        root = 0
    weights = weights_for(topology, collective, root=root)
    return weights.index(max(weights))


METHODS = (
    Method(
        name="teccl",
        summary="the fewest epochs by integer programming, with copies, buffers and latencies",
        source="Liu et al., TE-CCL (SIGCOMM 2024)",
        generate=generate,
        collectives=_COLLECTIVES,
        notes="CP-SAT or HiGHS for Gurobi; epochs are minimised, or a reward where asked for",
        libraries=(
            "ortools.sat.python.cp_model",
            "forestcoll.solver.solve",
            "forestcoll.all_to_all.linear_optimum",
        ),
    ),
)
