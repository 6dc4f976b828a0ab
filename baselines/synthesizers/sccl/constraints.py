"""SCCL's constraints: which chunk crosses which link in which step.

Problem: C chunks from each root to its targets in S steps of R rounds in all.
Output:  the sends and the rounds of each step, or None: proved that there are none.
Cost:    C roots * links * S Booleans, minus those that distances rule out; an all-to-all has as
         many roots as pairs.
Source:  Cai et al., PPoPP 2021, section 3, as in the public code. There, for z3: start[c, v], the
         step by which v has chunk c; send[c, u, v], whether it came over this link; rounds[s].

Here, for CP-SAT, the step of a send is part of it:

    held[c, v, s]      v has chunk c when step s begins: start[c, v] <= s
    send[c, u, v, s]   u sends it to v in step s: send[c, u, v] and start[c, v] = s + 1

- A root holds its chunks in step 0; its targets hold them after the last.
- held[c, v, s+1] = held[c, v, s] + the sum over u of send[c, u, v, s], so held never falls. Each
  target receives each chunk exactly once over all links and steps, other GPUs at most once.
- send[c, u, v, s] implies held[c, u, s] (the paper's start[c, u] < start[c, v]).
- In each step the sends over a group of links are at most its copies times rounds[s]; each step has
  at least 1 round, and all steps have R.

Variables that no solution needs are left out: a GPU at distance d from the root holds nothing
before step d, and one at distance d from the nearest target receives nothing in the last d steps.
The nearest target receives the chunks of a root, which are equivalent, in order. Why this has a
solution exactly if the paper's constraints have: docs/baselines/sccl.md.
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

__all__ = ["Commodity", "Deadline", "Instance", "Solution", "solve"]


@dataclass(frozen=True, slots=True)
class Commodity:
    """Equivalent chunks: the GPU that has them at first, and the GPUs that need them."""

    root: int
    targets: tuple[int, ...]


@dataclass(frozen=True)
class Instance:
    """One problem of given chunks, steps and rounds.

    Parameters
    ----------
    commodities : tuple of Commodity
        Each is C chunks; chunk c is one of ``commodities[c // C]``.
    chunks : int
        C of each commodity.
    steps, rounds : int
        S, and R in all; R is at least S.
    """

    network: Network
    commodities: tuple[Commodity, ...]
    chunks: int
    steps: int
    rounds: int

    def __str__(self) -> str:
        return f"{self.chunks} chunks, {self.steps} steps, {self.rounds} rounds"


@dataclass(frozen=True)
class Solution:
    """Sends by rank, and the rounds of each step."""

    sends: tuple[Send, ...]
    rounds: tuple[int, ...]


@dataclass(frozen=True)
class Deadline:
    """Remaining time of a search that solves several instances."""

    limits: Limits
    begun: float = field(default_factory=time.monotonic)

    def seconds_left(self, instance: Instance) -> float | None:
        """Return the time left, None without a limit; raise TimeLimitError if time is up."""
        if self.limits.seconds is None:
            return None
        left = self.limits.seconds - (time.monotonic() - self.begun)
        if left <= 0:
            raise self.reached(instance)
        return left

    def reached(self, instance: Instance) -> TimeLimitError:
        """Return the error that names the instance still open."""
        return TimeLimitError(
            f"sccl: no answer within {self.limits.seconds} s; open: {instance}",
            bound=(instance.chunks, instance.steps, instance.rounds),
        )


def solve(instance: Instance, *, symmetry: bool, deadline: Deadline) -> Solution | None:
    """Find a solution or prove that there is none.

    Parameters
    ----------
    symmetry : bool
        Whether to order the chunks of a root, which changes no answer.

    Returns
    -------
    Solution or None
        None if CP-SAT proved the instance infeasible. The result is reproducible for a number of
        threads: the seed is fixed, and several threads take turns.

    Raises
    ------
    TimeLimitError
        If time is up first, perhaps while the constraints are being written.
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
        # Every other step lasts at least one round.
        longest = instance.rounds - instance.steps + 1
        self.rounds = [
            self.model.new_int_var(1, longest, f"rounds {step}") for step in range(instance.steps)
        ]
        self.send: dict[Send, cp_model.IntVar] = {}

    def build(self, deadline: Deadline, *, symmetry: bool) -> None:
        instance, model = self.instance, self.model
        model.add(sum(self.rounds) == instance.rounds)
        for place, commodity in enumerate(instance.commodities):
            near = instance.network.distances(commodity.root)
            nearest = min(commodity.targets, key=lambda gpu: near[gpu])
            # Chunks of one root are interchangeable: an order of arrivals at one target removes
            # permutations.
            before: list[cp_model.IntVar] = []
            for chunk in range(place * instance.chunks, (place + 1) * instance.chunks):
                deadline.seconds_left(instance)
                held = self._add_chunk(chunk, commodity)
                arrived = [held[nearest, s] for s in range(near[nearest], instance.steps)]
                for earlier, now in zip(before, arrived, strict=False) if symmetry else ():
                    model.add_implication(now, earlier)
                before = arrived
        self._limit_loads()

    def _add_chunk(
        self, chunk: int, commodity: Commodity
    ) -> dict[tuple[int, int], cp_model.IntVar]:
        """Make the variables and constraints of one chunk; return ``held``."""
        held = self._held(commodity)
        for gpu in range(self.instance.network.size):
            if gpu == commodity.root:
                continue
            coming: list[cp_model.IntVar] = []
            for step in range(self.instance.steps):
                if (gpu, step + 1) not in held:
                    continue
                now = [
                    self._send(Send(step, chunk, *link), held[link[0], step])
                    for link in self.instance.network.into[gpu]
                    if (link[0], step) in held
                ]
                coming += now
                # held never falls, so at most one send of the chunk enters the GPU over all steps.
                self.model.add(held.get((gpu, step), 0) + sum(now) == held[gpu, step + 1])
            if gpu in commodity.targets:
                # The paper's "exactly one incoming send"; the rows above add up to it.
                self.model.add_exactly_one(coming)
        return held

    def _held(self, commodity: Commodity) -> dict[tuple[int, int], cp_model.IntVar]:
        """Make held[gpu, step], without variables that distances rule out."""
        steps, model, network = self.instance.steps, self.model, self.instance.network
        held: dict[tuple[int, int], cp_model.IntVar] = {}
        for gpu, hops in network.distances(commodity.root).items():
            ahead = network.distances(gpu)
            left = min(
                (ahead[target] for target in commodity.targets if target in ahead), default=steps
            )
            for step in range(hops, steps - left + 1):
                known = gpu == commodity.root or (step == steps and gpu in commodity.targets)
                held[gpu, step] = model.new_constant(1) if known else model.new_bool_var("")
        return held

    def _send(self, send: Send, held: cp_model.IntVar) -> cp_model.IntVar:
        variable = self.model.new_bool_var("")
        self.model.add_implication(variable, held)
        self.send[send] = variable
        return variable

    def _limit_loads(self) -> None:
        load: dict[tuple[int, int, int], list[cp_model.IntVar]] = {}
        for send, variable in self.send.items():
            load.setdefault((send.tail, send.head, send.step), []).append(variable)
        for group in self.instance.network.groups:
            for step, rounds in enumerate(self.rounds):
                sends = [x for link in group.links for x in load.get((*link, step), ())]
                if sends:
                    # The paper's bandwidth relation, for a step of several rounds.
                    self.model.add(sum(sends) <= group.copies * rounds)

    def extract(self, solver: cp_model.CpSolver) -> Solution:
        return Solution(
            sends=tuple(self._needed(solver)),
            rounds=tuple(solver.value(rounds) for rounds in self.rounds),
        )

    def _needed(self, solver: cp_model.CpSolver) -> Iterator[Send]:
        """Yield the sends that bring a chunk to a target; a solution may contain useless ones."""
        made = [send for send, variable in self.send.items() if solver.boolean_value(variable)]
        # A GPU receives a chunk at most once (_add_chunk), so the sends of a chunk form a tree.
        into = {(send.chunk, send.head): send for send in made}
        needed: set[Send] = set()
        for place, commodity in enumerate(self.instance.commodities):
            for chunk in range(place * self.instance.chunks, (place + 1) * self.instance.chunks):
                for target in commodity.targets:
                    gpu = target
                    while gpu != commodity.root and into[chunk, gpu] not in needed:
                        needed.add(into[chunk, gpu])
                        gpu = into[chunk, gpu].tail
        return (send for send in made if send in needed)
