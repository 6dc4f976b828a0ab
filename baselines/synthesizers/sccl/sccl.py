"""SCCL: schedules of given chunks, steps and rounds by constraint solving, or infeasibility proofs.

Problem: C chunks a GPU (in an all-to-all a pair) in S steps that last R rounds together. In a round
         a link of b units of bandwidth carries b chunks; chunks sent in a step were there before
         it.
Input:   GPUs joined by direct links; C, S and R, or which of S and R to minimise.
Output:  a step schedule; InfeasibleError if it was proved that there is none.
Cost:    CP-SAT on C N E S Booleans, N GPUs and E links, N times as many for an all-to-all; like
         SCCL, it may never end.
Source:  Cai et al., "Synthesizing Optimal Collective Algorithms" (PPoPP 2021), section 3, and its
         public code. Reimplemented; z3 there, OR-Tools' CP-SAT here. A reduction spreads data on
         the reversed network backwards in time; an allreduce is a reduce-scatter and an allgather.

The unit of bandwidth is the largest of which every link is a multiple; SCCL asks for such numbers.
A round lasts as long as a chunk on one unit. Schedules do not store rounds: their cost follows from
the sends and is no more.

Left out: gather and scatter; switches (ForestColl table 2: SCCL has none); symmetry of the network,
which would prune more; code generation. Published outcomes: docs/baselines/sccl.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from baselines.building.composing import hop_by_hop
from baselines.interface.method import Method
from baselines.interface.supported import check_supported
from baselines.synthesizers.sccl.constraints import Commodity, Deadline, Instance, Solution, solve
from baselines.synthesizers.sccl.network import Bounds, bounds, bounds_of_pairs, direct
from forestcoll.errors import InfeasibleError, InvalidParameterError
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import REDUCTIONS, StepSchedule
from forestcoll.schedule.transform import sequential, time_reversed
from forestcoll.topology.model import Topology

__all__ = ["COLLECTIVES", "METHODS", "Task", "generate", "task_for"]

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all")
"""Supported collectives."""


@dataclass(frozen=True)
class Task:
    """A collective on a topology, before chunks, steps and rounds are chosen.

    Parameters
    ----------
    weights : tuple of int
        1 for the GPUs that have data at first (or, of a reduction, at last), 0 for others.
    bounds : Bounds
        For each phase; an allreduce has two.
    """

    topology: Topology
    collective: str
    weights: tuple[int, ...]
    bounds: Bounds

    @property
    def commodities(self) -> tuple[Commodity, ...]:
        """Data from each rank of weight 1 to all others, in an all-to-all to each."""
        size = len(self.weights)
        others = {
            rank: tuple(target for target in range(size) if target != rank)
            for rank, weight in enumerate(self.weights)
            if weight
        }
        if self.collective == "all-to-all":
            return tuple(
                Commodity(r, (target,)) for r, targets in others.items() for target in targets
            )
        return tuple(Commodity(rank, targets) for rank, targets in others.items())

    def networks(self) -> tuple[Topology, ...]:
        """Return the topologies on which data spreads: reversed for a reduction, then as it is."""
        there, back = self.topology, self.topology.reversed()
        if self.collective not in REDUCTIONS:
            return (there,)
        if self.collective != "allreduce":
            return (back,)
        return (there,) if there.links == back.links else (back, there)


def task_for(topology: Topology, collective: str, root: str | int | None) -> Task:
    """Check a request; parameters and errors as for :func:`generate`."""
    check_supported("sccl", collective, COLLECTIVES)
    direct(topology)
    if collective == "all-to-all":
        if root is not None:
            raise InvalidParameterError("all-to-all takes no root; every GPU sends to every other")
        return Task(topology, collective, (1,) * topology.num_compute, bounds_of_pairs(topology))
    if root is None and collective in ("broadcast", "reduce"):
        root = 0
    weights = weights_for(topology, collective, root=root)
    task = Task(topology, collective, weights, Bounds(0, Fraction(0)))
    found = [bounds(network, weights) for network in task.networks()]
    most = Bounds(max(b.steps for b in found), max(b.rounds_per_chunk for b in found))
    return replace(task, bounds=most)


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    chunks: int = 1,
    steps: int | None = None,
    rounds: int | None = None,
    fewest_steps: bool = False,
    root: str | int | None = None,
    symmetry: bool = True,
    limits: Limits | None = None,
) -> StepSchedule:
    """Find a schedule of so many chunks, steps and rounds.

    Parameters
    ----------
    topology : Topology
        GPUs and direct links only.
    collective : str
        One of :data:`COLLECTIVES`.
    chunks : int
        C: chunks of each root, in an all-to-all of each pair.
    steps, rounds : int, optional
        S, and R in all; each phase of an allreduce takes both. Steps without sends are left out. If
        one is given, the other is the least that is feasible. If neither is, S is the least for
        which R = S is feasible, as SCCL's least steps.
    fewest_steps : bool
        Sets S to the network's diameter (the farthest distance from a root), and raises R until S
        steps are enough: the schedule of the lowest latency for so many chunks.
    root : str or int, optional
        Name or rank of a GPU, for a broadcast or reduce (rank 0 if not given); an allreduce with a
        root is a reduce and a broadcast.
    symmetry : bool
        Whether to order the chunks of one root, which changes no answer.
    limits : Limits, optional
        For all instances together.

    Raises
    ------
    UnsupportedError
        If there are switches, or no paths.
    InvalidParameterError
        If C, S or R is not positive, R is less than S, the root is not a GPU, or both S and the
        fewest steps are given.
    InfeasibleError
        If it is proved, by the lower bounds or by CP-SAT, that there is no such schedule.
    TimeLimitError
        If time is up; its ``bound`` is the (C, S, R) still open.

    Examples
    --------
    >>> from forestcoll import load_topology, verify
    >>> schedule = generate(load_topology("hypercube:dimension=2"), chunks=2, steps=2, rounds=3)
    >>> verify(schedule).steps
    2
    """
    task = task_for(topology, collective, root)
    if fewest_steps and steps is not None:
        raise InvalidParameterError(f"sccl: {steps} steps and the fewest steps; ask for one")
    steps = task.bounds.steps if fewest_steps else steps
    _check_numbers(chunks, steps, rounds)
    deadline = Deadline(limits or Limits())
    for tried_steps, tried_rounds in _candidates(task.bounds, chunks, steps, rounds):
        found = synthesize(
            task, chunks, tried_steps, tried_rounds, symmetry=symmetry, deadline=deadline
        )
        if found is not None:
            return found
    numbers = {"chunks": chunks, "steps": steps, "rounds": rounds}
    asked = ", ".join(f"{value} {name}" for name, value in numbers.items() if value is not None)
    raise InfeasibleError(
        f"sccl: proved that there is no {collective} of {asked} on {topology.name}; whatever the "
        f"other, it takes {task.bounds.steps} steps and {task.bounds.rounds(chunks)} rounds"
    )


def _check_numbers(chunks: int, steps: int | None, rounds: int | None) -> None:
    for name, number in (("chunks", chunks), ("steps", steps), ("rounds", rounds)):
        if number is not None and number < 1:
            raise InvalidParameterError(f"sccl: {name} is {number}; it must be positive")
    if steps is not None and rounds is not None and rounds < steps:
        raise InvalidParameterError(
            f"sccl: {rounds} rounds for {steps} steps; each step lasts one round at least"
        )


def _candidates(
    least: Bounds, chunks: int, steps: int | None, rounds: int | None
) -> Iterator[tuple[int, int]]:
    """Yield the (S, R) to try, best first; none if the bounds rule out the request.

    With S free, larger S are only easier: a step of several rounds can be cut in two. With R free,
    or S = R growing, some R is enough, so the search ends.
    """
    fewest = least.rounds(chunks)
    if steps is not None and rounds is not None:
        if steps >= least.steps and rounds >= fewest:
            yield steps, rounds
    elif rounds is not None:
        if rounds >= fewest:
            yield from ((tried, rounds) for tried in range(least.steps, rounds + 1))
    elif steps is not None:
        tried = max(fewest, steps)
        while steps >= least.steps:
            yield steps, tried
            tried += 1
    else:
        while True:
            yield fewest, fewest
            fewest += 1


def synthesize(
    task: Task, chunks: int, steps: int, rounds: int, *, symmetry: bool, deadline: Deadline
) -> StepSchedule | None:
    """Solve one instance of a task, or two for an allreduce; None: proved infeasible."""
    gathered: list[StepSchedule] = []
    for topology in task.networks():
        network, _ = direct(topology)
        instance = Instance(network, task.commodities, chunks, steps, rounds)
        solution = solve(instance, symmetry=symmetry, deadline=deadline)
        if solution is None:
            return None
        gathered.append(_schedule_of(task, topology, chunks, solution))
    if task.collective not in REDUCTIONS:
        return gathered[0]
    reduction = time_reversed(gathered[0], task.topology)
    return sequential(reduction, gathered[-1]) if task.collective == "allreduce" else reduction


def _schedule_of(task: Task, topology: Topology, chunks: int, solution: Solution) -> StepSchedule:
    """Make an allgather or broadcast of a solution, without steps that send nothing."""
    used = sorted({send.step for send in solution.sends})
    number = {step: place for place, step in enumerate(used)}
    return hop_by_hop(
        topology,
        "sccl",
        _spreading(task),
        _cut(task, chunks),
        Sends.of(send._replace(step=number[send.step]) for send in solution.sends),
    )


def _spreading(task: Task) -> str:
    """Return the collective of one phase."""
    if task.collective == "all-to-all":
        return task.collective
    return "allgather" if all(task.weights) else "broadcast"


def _cut(task: Task, chunks: int) -> Chunks:
    """Cut the data into chunks; in an all-to-all it includes each GPU's own part."""
    roots = np.repeat([commodity.root for commodity in task.commodities], chunks)
    if task.collective != "all-to-all":
        return Chunks.equal(roots, len(roots))
    targets = np.repeat([commodity.targets[0] for commodity in task.commodities], chunks)
    whole = chunks * len(task.weights)
    return replace(Chunks.equal(roots, whole), target=targets.astype(np.int32))


METHODS = (
    Method(
        name="sccl",
        summary="steps and rounds by constraint solving, or a proof that there are none",
        source="Cai et al., Synthesizing Optimal Collective Algorithms (PPoPP 2021)",
        generate=generate,
        collectives=COLLECTIVES,
        notes="CP-SAT for z3; direct links only",
        libraries=("ortools.sat.python.cp_model",),
    ),
)
