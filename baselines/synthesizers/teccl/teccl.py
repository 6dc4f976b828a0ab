"""TE-CCL: collectives as a multi-commodity flow in epochs, with copies, buffers and latencies.

Problem: the fewest epochs in which all chunks get to all who want them.
Input:   a topology; the size of the data M and chunks C; how long an epoch is; how switches are
         taken.
Output:  a step schedule with a clock.
Cost:    programs of chunks x links x epochs variables; exponential in the worst case. Of an
         all-to-all linear programs of sources x links x epochs variables.
Source:  Liu et al., Rethinking Machine Learning Collective Communication as a Multi-Commodity Flow
         Problem (TE-CCL, SIGCOMM 2024), sections 3 and 4, appendices A to F. Gurobi there; CP-SAT,
         or HiGHS, or Gurobi where it is installed, here.
"""

from __future__ import annotations

import math

from baselines.building.composing import collect_steps
from baselines.interface.method import Method
from baselines.interface.search import Report
from baselines.interface.supported import check_whole
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.teccl.task import Task
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.steps import REDUCTIONS, StepSchedule
from forestcoll.schedule.verification import verify
from forestcoll.topology.model import Topology
from forestcoll.topology.shared_capacity import refuse_shared

__all__ = ["METHODS", "generate"]

_COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all")

_REDUCTION = {"allgather": "reduce-scatter", "broadcast": "reduce"}
_SPREAD = {"allreduce": "allgather", **{reduction: of for of, reduction in _REDUCTION.items()}}


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    size_bytes: int = 10**9,
    chunks: int = 1,
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
    topology : Topology
    collective : str
        A reduce-scatter or reduce is an allgather or broadcast turned round, an allreduce both in
        turn.
    size_bytes : int
        M; what latencies are compared with.
    chunks : int
        C, of each source, in an all-to-all for each pair: there it only says how long an epoch is,
        unless chunks are to stay whole.
    epoch : str
        "fastest" or "slowest": the link on which a chunk takes an epoch.
    crossing : str
        How switches and latencies are taken: "through", "rounded" or "stored"; see
        :mod:`baselines.synthesizers.teccl.instance.epochs`.
    switches : str
        "nodes", or "hyper-edges" in their place, which are for whole chunks only.
    buffer : int
        Chunks that a node can hold, its own among them; 0 for any number. If nothing else is found
        in as few epochs, some node drops a chunk and gets it again; schedules cannot say so, and
        the second time is left out.
    buffering : str
        "passing": what is sent on at once takes no slot; or "kept"; see
        :mod:`baselines.synthesizers.teccl.instance.epochs`.
    slow : str
        Links that are slow for a time, such as "gpu0 - gpu1 x 1/2 from 3 to 5"; see
        :mod:`baselines.synthesizers.teccl.instance.slowdowns`.
    milp : bool
        Of an all-to-all: send every chunk as one, by the program with whole numbers that all other
        collectives need; without, by the linear program.
    windows : bool
        Of the linear program: a link that takes a chunk several epochs takes them for a part of it
        too, as in the public code. Without, any part that fits leaves in one epoch, as in the
        paper: there may be fewer epochs.
    epochs : int or str
        Not the fewest but so many; 0 for the fewest; "estimated" for as many as
        :mod:`baselines.synthesizers.teccl.milp.epoch_count` finds.
    objective : str
        "epochs", or "reward" for what is there early in so many epochs; see
        :mod:`baselines.synthesizers.teccl.milp.reward`.
    gap : float
        By how much the reward may miss the largest, relatively; below 1.
    round_epochs : int
        Search by rounds of so many epochs, each for its reward; 0: not. See
        :mod:`baselines.synthesizers.teccl.a_star.a_star`.
    solver : str
        "cp-sat", "highs", "gurobi", or "either" for CP-SAT and HiGHS in turn, with as much time:
        one of them is often far ahead. Of linear programs HiGHS stands in for CP-SAT.
    work : float, optional
        CP-SAT's deterministic seconds that each phase may search for; a limit by which everybody
        gets the same schedule. With 0, what is found greedily.
    symmetry : bool
        Whether CP-SAT uses symmetries; off, as for the paper's Gurobi nothing is said of them.
    root : str or int, optional
        Name or rank of a GPU, for a broadcast or reduce (rank 0 if not given).
    limits : Limits, optional
        Of the search, which returns the fewest epochs, or the most reward, that it has found by
        then; without, it goes on until there is proof (of a linear program in floats). An
        allreduce gives each phase half of the time.
    report : callable, optional
        Told of each phase the epochs found and proved to be needed.

    Raises
    ------
    UnsupportedError
        If there is a single GPU, hyper-edges cannot stand for the switches, or a reduction is asked
        for with few slots or slow links, since turned round these would be others, or comes out
        with sums that a switch would add and should not.
    InvalidParameterError
        If a parameter is out of its range, or two do not go together.
    InfeasibleError
        If it is proved that so many epochs are too few.
    DisconnectedError
        If no path leads from a GPU to another.
    TimeLimitError
        If the time is up and there is nothing to return.

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
    if collective in REDUCTIONS and (buffer or slow):
        raise UnsupportedError(
            f"unsupported: teccl: {'buffer' if buffer else 'slow'} is for what is copied, not for "
            f"{collective}; ask for an allgather, broadcast or all-to-all"
        )
    task = Task(
        collective=_SPREAD.get(collective, collective),
        root=_rank(topology, collective, root),
        size_bytes=size_bytes,
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
        limits=(limits or Limits()).shared(2 if collective == "allreduce" else 1),
    )

    def spread(network: Topology) -> StepSchedule:
        phase = task.collective if network is topology else _REDUCTION[task.collective]
        return task.spread(network, phase, report or (lambda search: None))

    if collective == "all-to-all":
        return spread(topology)
    made = collect_steps(spread, topology, collective)
    if collective in REDUCTIONS:
        _check_sums(made)
    return made


def _check_sums(made: StepSchedule) -> None:
    """Refuse sums that a switch should send on apart and would add, since it adds what it can.

    So it is where a switch got a chunk twice before it was reversed.
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
        libraries=("ortools.sat.python.cp_model", "lp.solver.solve", "lp.alltoall.linear_optimum"),
    ),
)
