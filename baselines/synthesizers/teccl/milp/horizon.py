"""Fewest epochs of the integer program: an upper and a lower bound that meet.

Problem: the least K for which the program has a solution.
Output:  the transfers of the fewest epochs found, and a lower bound.
Cost:    a program for each K that is tried.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), appendix E, finds a sufficient K by growing times in few
         epochs. Here K goes up from the bound of distances and the bottleneck cut, and down from a
         greedy solution.

No schedule is faster than the bottleneck cut, whatever switches multicast: of every chunk that is
needed outside a node set that has it, at least one copy leaves the set. An epoch carries no more
than a link does in that time, so K epochs take at least as long as the optimum.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction

from baselines.synthesizers.teccl.cleaning import epochs_taken, needed
from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import NEVER, Sent, arrivals, write
from baselines.synthesizers.teccl.milp.greedy import greedy_sends
from baselines.synthesizers.teccl.milp.solvers import Answer, Effort, Outcome, solve
from forestcoll.core.optimality import optimum
from forestcoll.errors import DisconnectedError, InfeasibleError, TimeLimitError
from forestcoll.problem.limits import Limits

__all__ = [
    "MOST_TRANSFERS", "Found", "Tell", "check_found", "fewest_epochs", "least_epochs",
    "nothing_found", "within_epochs", "without_repeats",
]  # fmt: skip

_FIRST_WORK = 1.0
"""CP-SAT's deterministic seconds for the first try of a number of epochs."""

_GROWTH = 4.0

MOST_TRANSFERS = 2_000_000
"""Limit of chunks times arcs times epochs for which a program is written."""

Tell = Callable[[int | None, int], None]
"""Called with the epochs found, if any, and the lower bound."""


@dataclass(frozen=True)
class Found:
    """A solution, and a lower bound on the epochs.

    Parameters
    ----------
    kept : dict
        The transfers, as of :func:`baselines.synthesizers.teccl.cleaning.needed`.
    epochs : int
        Epochs until all chunks have arrived.
    bound : int
        Proved: there is no solution in fewer epochs.
    """

    kept: dict[Sent, Sent | None] = field(repr=False)
    epochs: int
    bound: int


def least_epochs(network: EpochNetwork, demand: Demand) -> int:
    """Return a lower bound on the epochs, from distances and the cut.

    Raises
    ------
    DisconnectedError
        If no path leads from a GPU to another that needs its chunk.
    """
    ways = zip(arrivals(network, demand), demand.roots, demand.wants, strict=True)
    epochs, root, rank = max((first[rank], root, rank) for first, root, w in ways for rank in w)
    if epochs == NEVER:
        names = [network.topology.nodes[network.topology.ends[end]].name for end in (root, rank)]
        raise DisconnectedError(
            f"{network.topology.name}: no path leads from {names[0]} to {names[1]}; add links"
        )
    return max(epochs, math.ceil(_cut_us(network, demand) / network.epoch_us))


def _cut_us(network: EpochNetwork, demand: Demand) -> Fraction:
    """Return the time of the bottleneck cut, for the chunks that all GPUs need.

    For a given demand and for stages that of the busiest GPU, if it is more.
    """
    topology = network.topology
    into, out = topology.ingress_gb_s, topology.egress_gb_s
    ports = _port_us(network, demand) if demand.parts or demand.after else Fraction(0)
    if any(out[switch] > into[switch] for switch in topology.switches):
        # Such a switch may gain by copying, which the optimum of forwarding switches leaves out.
        return ports
    others = topology.num_compute - 1
    chunks = zip(demand.roots, demand.chunks.target.tolist(), demand.wants, strict=True)
    owners = [root for root, target, wants in chunks if target < 0 and len(wants) == others]
    if not owners:
        return ports
    weights = [owners.count(rank) for rank in range(network.topology.num_compute)]
    size_gb = demand.chunk_kb * len(owners) / 10**6
    return max(ports, optimum(network.topology, weights=weights).time_s_per_gb * size_gb * 10**6)


def _port_us(network: EpochNetwork, demand: Demand) -> Fraction:
    """Return the longest time for which a GPU receives what it needs, or sends its chunks once."""
    topology = network.topology
    into, out = Counter[int](), Counter(demand.roots)
    for wants in demand.wants:
        into.update(wants)
    times = [Fraction(0)]
    for count, gb_s in ((into, topology.ingress_gb_s), (out, topology.egress_gb_s)):
        rates = ((chunks, gb_s[topology.ends[rank]]) for rank, chunks in count.items())
        times += [chunks * demand.chunk_kb / rate for chunks, rate in rates if rate]
    return max(times)


def within_epochs(
    network: EpochNetwork,
    demand: Demand,
    epochs: int,
    solver: str,
    limits: Limits,
    due: tuple[int, ...] = (),
) -> Found:
    """Find a solution in so many epochs; ``due`` has the epochs of the first chunks.

    Raises
    ------
    InfeasibleError
        If it is proved that there is none.
    TimeLimitError
        If time is up.
    """
    deadline = limits.deadline
    goal = _Goal(network, demand, solver, due)
    least = goal.least()
    answer = Answer(Outcome.INFEASIBLE)
    if epochs >= least:
        answer = goal.answer(epochs, Effort(threads=limits.threads), deadline)
    check_found(answer.outcome, network, epochs)
    return goal.found(answer.sent, least)


def check_found(outcome: Outcome, network: EpochNetwork, epochs: int) -> None:
    """Raise InfeasibleError or TimeLimitError unless a solution of so many epochs was found."""
    name = network.topology.name
    if outcome is Outcome.INFEASIBLE:
        raise InfeasibleError(f"teccl: proved that {epochs} epochs are too few on {name}")
    if outcome is Outcome.OPEN:
        raise TimeLimitError(f"teccl: no answer for {epochs} epochs on {name} in the time given")


def nothing_found(
    network: EpochNetwork, bound: int, limit: str = "in the time given"
) -> TimeLimitError:
    """Return the error of a search that ended with nothing, at a lower bound on the epochs."""
    return TimeLimitError(
        f"teccl: nothing found on {network.topology.name} {limit}; {bound} epochs or more are "
        f"still open",
        bound=bound,
    )


def fewest_epochs(
    network: EpochNetwork,
    demand: Demand,
    solver: str,
    limits: Limits,
    tell: Tell = lambda incumbent, bound: None,
    work: float = math.inf,
    symmetry: bool = False,
    due: tuple[int, ...] = (),
) -> Found:
    """Search for the least number of epochs; ``due`` has the epochs of the first chunks.

    It ends at the time limit, after the given work (CP-SAT's deterministic seconds), or if the
    program is too large, with the fewest epochs found. ``tell`` is called with the epochs found, if
    any, and the lower bound.

    Raises
    ------
    TimeLimitError
        If nothing was found; its ``bound`` is the least number of epochs still open.
    """
    goal = _Goal(network, demand, solver, due)
    deadline = limits.deadline
    search = _Search(goal, deadline, work, Effort(threads=limits.threads, symmetry=symmetry), tell)
    return search.run(goal.least())


def without_repeats(
    network: EpochNetwork,
    demand: Demand,
    found: Found,
    solver: str,
    limits: Limits,
    due: tuple[int, ...] = (),
) -> dict[Sent, Sent | None]:
    """Return transfers of as many epochs in which no node receives a chunk twice, for schedules.

    With few slots, a solution with repeats is replaced by one without. If none is found, repeats
    are left out, and the schedule holds more chunks than there are slots.
    """
    few = network.buffers
    if few is None:
        return found.kept
    once = needed(replace(network, buffers=None), demand, tuple(found.kept))
    if len(once) == len(found.kept):
        return once
    strict = replace(network, buffers=replace(few, again=False))
    try:
        return within_epochs(strict, demand, found.epochs, solver, limits, due).kept
    except (InfeasibleError, TimeLimitError):
        return once


@dataclass(frozen=True)
class _Goal:
    """A search problem; the first chunks are ``due`` in the epochs given there.

    Epochs are counted until the other chunks have arrived.
    """

    network: EpochNetwork
    demand: Demand
    solver: str
    due: tuple[int, ...]

    def least(self) -> int:
        rest = self.demand.part(len(self.due), len(self.demand.wants)) if self.due else self.demand
        return least_epochs(self.network, rest)

    def is_large(self, epochs: int) -> bool:
        """Whether the program would take gigabytes."""
        size = len(self.demand.roots) * len(self.network.arcs) * epochs
        return size > MOST_TRANSFERS

    def answer(self, epochs: int, effort: Effort, deadline: float) -> Answer:
        """Write and solve the program before the deadline."""
        try:
            program = write(self.network, self.demand, epochs, due=self.due, deadline=deadline)
        except TimeLimitError:
            return Answer(Outcome.OPEN)
        return solve(program, self.solver, replace(effort, seconds=deadline - time.monotonic()))

    def found(self, sent: tuple[Sent, ...], bound: int) -> Found:
        kept = needed(self.network, self.demand, sent)
        # Chunks that are `due` have their own numbers of epochs, which do not count here.
        rest = [send for send in kept if send[0] >= len(self.due)]
        return Found(kept, epochs_taken(self.network, rest), bound)


@dataclass
class _Search:
    goal: _Goal
    deadline: float
    left: float  # of the work
    effort: Effort
    tell: Tell
    best: Found | None = None

    def run(self, bound: int) -> Found:
        """Try the bound and a larger number in turn, with growing work."""
        self._tell(bound)
        self._begin()
        work = _FIRST_WORK if self.goal.solver in ("cp-sat", "either") else math.inf
        above = bound
        while self.best is None or bound < self.best.epochs:
            self._tell(bound)
            late = time.monotonic() >= self.deadline or self.left <= 0
            if late or self.goal.is_large(bound):
                return self._stopped(bound)
            # A solution at the bound is optimal; a proof that there is none raises the bound.
            outcome = self._try(bound, work)
            if outcome is Outcome.INFEASIBLE:
                bound += 1
                continue
            if outcome is Outcome.FOUND:
                break
            if self.best is None:
                above = max(bound, above) + max(1, above // 4)
            else:
                above = self.best.epochs - 1
            # A larger number is easier to satisfy: it gives a first or a better upper bound.
            if above > bound and self.left > 0 and not self.goal.is_large(above):
                self._try(above, work)
            # Both numbers are tried with equal work: neither a hard proof nor a hard search stops
            # the other.
            work *= _GROWTH
        assert self.best is not None
        self._tell(bound)
        return Found(self.best.kept, self.best.epochs, bound)

    def _tell(self, bound: int) -> None:
        self.tell(None if self.best is None else self.best.epochs, bound)

    def _begin(self) -> None:
        """Start from a greedy solution, unless slow links, buffers or due chunks rule it out."""
        network, demand = self.goal.network, self.goal.demand
        slowed = any(group.slowed for group in network.groups)
        if slowed or self.goal.due or network.buffers is not None:
            return
        with suppress(TimeLimitError):  # the search says so
            self.best = self.goal.found(self._greedy(network, demand), 0)

    def _greedy(self, network: EpochNetwork, demand: Demand) -> tuple[Sent, ...]:
        """Send greedily; sums after all that comes before them."""
        before = next((chunk for chunk, parts in enumerate(demand.after) if parts), 0)
        if not before:
            return greedy_sends(network, demand, self.deadline)
        parts = greedy_sends(network, demand.part(0, before), self.deadline)
        sums = greedy_sends(network, demand.part(before, len(demand.wants)), self.deadline)
        begin = epochs_taken(network, parts)
        return (*parts, *((chunk + before, i, epoch + begin) for chunk, i, epoch in sums))

    def _try(self, epochs: int, work: float) -> Outcome:
        effort = replace(self.effort, work=min(work, self.left))
        answer = self.goal.answer(epochs, effort, self.deadline)
        self.left -= effort.work if answer.outcome is Outcome.OPEN else 0
        if answer.outcome is Outcome.FOUND:
            self.best = self.goal.found(answer.sent, 0)
        return answer.outcome

    def _stopped(self, bound: int) -> Found:
        if self.best is None:
            raise nothing_found(self.goal.network, bound, "within the limits")
        return Found(self.best.kept, self.best.epochs, bound)
