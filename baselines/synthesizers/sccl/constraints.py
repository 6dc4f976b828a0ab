"""SCCL's constraints: which chunk crosses which link in which step.

Problem: C chunks from each root to all GPUs in S steps of R rounds in all.
Input:   a network, the roots, C, S and R.
Output:  the sends and the rounds of each step, or None: proved that there are none.
Cost:    C roots * links * S Booleans, less those that distances rule out.
Source:  Cai et al., PPoPP 2021, section 3, as in the public code. There, for z3: start[c, v], the
         step by which v has chunk c; send[c, u, v], whether it came over this link; rounds[s].

Here, for CP-SAT, the step of a send is part of it:

    held[c, v, s]      v has chunk c when step s begins: start[c, v] <= s
    send[c, u, v, s]   u sends it to v in step s: send[c, u, v] and start[c, v] = s + 1

- A root holds its chunks in step 0; everyone holds everything after the last.
- held[c, v, s+1] = held[c, v, s] + the sum over u of send[c, u, v, s], so held never falls; and one
  send of each chunk into each other GPU, over all links and steps ("exactly one incoming send").
- send[c, u, v, s] implies held[c, u, s] (the paper's start[c, u] < start[c, v]).
- In each step the sends over a group of links are at most its copies times rounds[s]; the rounds
  are at least 1 each and R in all.

What no solution has is left out: a GPU at distance d from the root holds nothing before step d.
Some GPU next to the root is asked to get the chunks of a root, which are alike, in their order. Why
one has a solution where the paper's constraints have: docs/baselines/sccl.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from baselines.synthesizers.sccl.network import Network
from forestcoll.errors import SolverError, TimeLimitError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.sends import Send

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

__all__ = ["Deadline", "Instance", "Solution", "solve"]


@dataclass(frozen=True)
class Instance:
    """What is asked for.

    Parameters
    ----------
    network : Network
    roots : tuple of int
        Each has C chunks for all; chunk c is that of ``roots[c // C]``.
    chunks : int
        C, of each root.
    steps, rounds : int
        S, and R in all; R is at least S.
    """

    network: Network
    roots: tuple[int, ...]
    chunks: int
    steps: int
    rounds: int

    def __str__(self) -> str:
        return f"{self.chunks} chunks, {self.steps} steps, {self.rounds} rounds"


@dataclass(frozen=True)
class Solution:
    """Who sends what when, by rank, and how many rounds each step lasts."""

    sends: tuple[Send, ...]
    rounds: tuple[int, ...]


@dataclass(frozen=True)
class Deadline:
    """What is left of the limits of a search that solves several instances."""

    limits: Limits
    begun: float = field(default_factory=time.monotonic)

    def seconds_left(self, instance: Instance) -> float | None:
        """Return the time left, None if there is no limit; raise TimeLimitError if it is up."""
        if self.limits.seconds is None:
            return None
        left = self.limits.seconds - (time.monotonic() - self.begun)
        if left <= 0:
            raise self.reached(instance)
        return left

    def reached(self, instance: Instance) -> TimeLimitError:
        """Return the error that says which instance was still open."""
        return TimeLimitError(
            f"sccl: no answer within {self.limits.seconds} s; open: {instance}",
            bound=(instance.chunks, instance.steps, instance.rounds),
        )


def solve(instance: Instance, *, symmetry: bool, deadline: Deadline) -> Solution | None:
    """Find a solution or prove that there is none.

    Parameters
    ----------
    instance : Instance
    symmetry : bool
        Whether to put the chunks of a root in order, which changes no answer.
    deadline : Deadline

    Returns
    -------
    Solution or None
        None says that CP-SAT proved the instance infeasible. The same each time for the same
        number of threads: the seed is fixed, and several threads take turns.

    Raises
    ------
    TimeLimitError
        If the time is up first; it may be while the constraints are being written down.
    """
    encoding = _Encoding(instance)
    encoding.build(deadline, symmetry=symmetry)
    from ortools.sat.python import cp_model  # takes half a second

    solver = cp_model.CpSolver()
    solver.parameters.random_seed = 0
    solver.parameters.num_workers = deadline.limits.threads
    solver.parameters.interleave_search = deadline.limits.threads > 1
    if (seconds := deadline.seconds_left(instance)) is not None:
        solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(encoding.model)
    if status == cp_model.INFEASIBLE:
        return None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return encoding.extract(solver)
    if status == cp_model.UNKNOWN and seconds is not None:
        raise deadline.reached(instance)
    raise SolverError(f"sccl: CP-SAT stopped with {solver.status_name(status)} on {instance}")


class _Encoding:
    """The variables of an instance; chunks by number, GPUs by rank."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        from ortools.sat.python import cp_model  # takes half a second

        self.model = cp_model.CpModel()
        longest = instance.rounds - instance.steps + 1
        self.rounds = [
            self.model.new_int_var(1, longest, f"rounds {step}") for step in range(instance.steps)
        ]
        self.send: dict[Send, cp_model.IntVar] = {}

    def build(self, deadline: Deadline, *, symmetry: bool) -> None:
        instance, model = self.instance, self.model
        model.add(sum(self.rounds) == instance.rounds)
        for place, root in enumerate(instance.roots):
            near = instance.network.distances(root)
            first = next(gpu for gpu, hops in near.items() if hops == 1)
            before: list[cp_model.IntVar] = []
            for chunk in range(place * instance.chunks, (place + 1) * instance.chunks):
                deadline.seconds_left(instance)
                held = self._add_chunk(chunk, root)
                arrived = [held[first, step] for step in range(1, instance.steps)]
                for earlier, now in zip(before, arrived, strict=False) if symmetry else ():
                    model.add_implication(now, earlier)
                before = arrived
        self._limit_loads()

    def _add_chunk(self, chunk: int, root: int) -> dict[tuple[int, int], cp_model.IntVar]:
        """Make the variables of one chunk and what ties them together; return ``held``."""
        held = self._held(root)
        for gpu in range(self.instance.network.size):
            if gpu == root:
                continue
            coming: list[cp_model.IntVar] = []
            for step in range(self.instance.steps):
                now = [
                    self._send(Send(step, chunk, *link), held[link[0], step])
                    for link in self.instance.network.into[gpu]
                    if (link[0], step) in held
                ]
                coming += now
                if (gpu, step + 1) in held:
                    started = held.get((gpu, step), 0)
                    self.model.add(started + sum(now) == held[gpu, step + 1])
            self.model.add_exactly_one(coming)
        return held

    def _held(self, root: int) -> dict[tuple[int, int], cp_model.IntVar]:
        """Make held[gpu, step], without those that are false by distance."""
        steps, model = self.instance.steps, self.model
        return {
            (gpu, step): model.new_constant(1)
            if gpu == root or step == steps
            else model.new_bool_var("")
            for gpu, hops in self.instance.network.distances(root).items()
            for step in range(hops, steps + 1)
        }

    def _send(self, send: Send, held: cp_model.IntVar) -> cp_model.IntVar:
        variable = self.model.new_bool_var("")
        self.model.add_implication(variable, held)
        self.send[send] = variable
        return variable

    def _limit_loads(self) -> None:
        """Keep every group of links within its copies, in every step."""
        load: dict[tuple[int, int, int], list[cp_model.IntVar]] = {}
        for send, variable in self.send.items():
            load.setdefault((send.tail, send.head, send.step), []).append(variable)
        for group in self.instance.network.groups:
            for step, rounds in enumerate(self.rounds):
                sends = [x for link in group.links for x in load.get((*link, step), ())]
                if sends:
                    self.model.add(sum(sends) <= group.copies * rounds)

    def extract(self, solver: cp_model.CpSolver) -> Solution:
        return Solution(
            sends=tuple(self._made(solver)),
            rounds=tuple(solver.value(rounds) for rounds in self.rounds),
        )

    def _made(self, solver: cp_model.CpSolver) -> Iterator[Send]:
        for send, variable in self.send.items():
            if solver.boolean_value(variable):
                yield send
