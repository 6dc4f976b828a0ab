"""A checked task for TE-CCL, and the program that solves it.

Problem: choose the program of a request: fewest epochs, largest reward, rounds or flows.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), sections 3 to 5.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from baselines.interface.search import Report, Search
from baselines.synthesizers.teccl.a_star.a_star import by_rounds
from baselines.synthesizers.teccl.cleaning import epochs_taken
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.demanded import demanded
from baselines.synthesizers.teccl.instance.commodities import (
    Demand,
    chunk_bytes_of,
    demand_of,
    divided,
    undivided,
)
from baselines.synthesizers.teccl.instance.epochs import (
    BUFFERING,
    CROSSINGS,
    EPOCHS,
    SWITCHES,
    Buffers,
    EpochNetwork,
    epoch_us,
)
from baselines.synthesizers.teccl.instance.slowdowns import slowdowns_of
from baselines.synthesizers.teccl.lp import flow_schedule, lp_horizon
from baselines.synthesizers.teccl.lp.flow_program import without_windows
from baselines.synthesizers.teccl.lp.flow_schedule import ways
from baselines.synthesizers.teccl.milp.epoch_count import within_estimate
from baselines.synthesizers.teccl.milp.epoch_program import Sent
from baselines.synthesizers.teccl.milp.horizon import (
    fewest_epochs,
    within_epochs,
    without_repeats,
)
from baselines.synthesizers.teccl.milp.reward import most_reward
from baselines.synthesizers.teccl.milp.solvers import SOLVERS, Status
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.demand import Demand as GivenDemand
from forestcoll.problem.limits import Limits
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["ESTIMATED", "MOST_EPOCHS", "OBJECTIVES", "Task"]

OBJECTIVES = ("epochs", "reward")
"""Number of epochs to minimise, or reward to maximise."""

ESTIMATED = "estimated"
"""Value of ``epochs`` for an estimated number."""

MOST_EPOCHS = 10_000
"""Limit of epochs; larger programs cannot be written."""

Kept = Mapping[Sent, Sent | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Parameters of :func:`baselines.synthesizers.teccl.teccl.generate`, without the topology.

    ``collective`` is an allgather, a broadcast or an all-to-all; ``root`` is a rank. With a
    ``given`` demand it is an all-to-all, and ``size_bytes`` is that of the demand.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of its range, or two contradict each other.
    """

    collective: str
    root: int
    size_bytes: int
    chunks: int
    epoch: str = "fastest"
    crossing: str = "through"
    switches: str = "nodes"
    buffer: int = 0
    buffering: str = "passing"
    slow: str = ""
    milp: bool = False
    windows: bool = True
    epochs: int | str = 0
    objective: str = "epochs"
    gap: float = 0.0
    round_epochs: int = 0
    solver: str = "cp-sat"
    work: float = math.inf
    symmetry: bool = False
    given: GivenDemand | None = None
    chunk_bytes: int = 0
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name, value, least in (
            ("size_bytes", self.size_bytes, 1),
            ("chunks", self.chunks, 1),
            ("buffer", self.buffer, 0),
            ("epochs", 0 if isinstance(self.epochs, str) else self.epochs, 0),
            ("round_epochs", self.round_epochs, 0),
            ("work", self.work, 0),
            ("chunk_bytes", self.chunk_bytes, 0),
        ):
            if not value >= least:
                raise InvalidParameterError(f"{name} is {value}; it must be {least} or more")
        for name, given in (("epochs", self.epochs), ("round_epochs", self.round_epochs)):
            if isinstance(given, int) and given > MOST_EPOCHS:
                raise InvalidParameterError(f"{name} is {given}; it must be {MOST_EPOCHS} or less")
        for name, given, known in (
            ("epoch", self.epoch, EPOCHS),
            ("crossing", self.crossing, CROSSINGS),
            ("switches", self.switches, SWITCHES),
            ("buffering", self.buffering, BUFFERING),
            ("solver", self.solver, SOLVERS),
            ("objective", self.objective, OBJECTIVES),
        ):
            if given not in known:
                raise InvalidParameterError(f"{name} is {given!r}; it must be {' or '.join(known)}")
        if isinstance(self.epochs, str) and self.epochs != ESTIMATED:
            raise InvalidParameterError(
                f"epochs is {self.epochs!r}; it must be a whole number or {ESTIMATED}"
            )
        if not 0 <= self.gap < 1:
            raise InvalidParameterError(f"gap is {self.gap}; it must be 0 or more, and below 1")
        self._check_together()

    @property
    def _flows(self) -> bool:
        """Whether fractions of chunks take their own paths."""
        copies = self.given is not None and not self.given.is_unicast
        return self.collective == "all-to-all" and not self.milp and not copies

    def _check_together(self) -> None:
        """Refuse parameters that would have no effect."""
        if self.chunk_bytes and (self.given is None or self.chunks > 1):
            raise InvalidParameterError(
                "chunk_bytes is for a demand, in place of chunks: leave one of them out"
            )
        reward = self.objective == "reward"
        if self.round_epochs and (self.epochs or reward):
            raise InvalidParameterError(
                "round_epochs is given with epochs or an objective; rounds find their own number "
                "and have their own objective"
            )
        if reward and not self.epochs:
            raise InvalidParameterError(
                f"the reward is that of a number of epochs; give epochs, or {ESTIMATED} for them"
            )
        if self.gap and not (reward or self.round_epochs):
            raise InvalidParameterError(
                f"gap is {self.gap}; it is that of a reward: give objective=reward or round_epochs"
            )
        if not (self.windows or self._flows):
            raise InvalidParameterError(
                "windows=false is for parts of chunks, in an all-to-all without milp"
            )
        special = self.round_epochs or reward or isinstance(self.epochs, str)
        if (self.buffer or self.slow) and (special or self._flows):
            raise InvalidParameterError(
                "buffer and slow are for whole chunks in the fewest epochs, or a number of them: "
                "leave out round_epochs, the objective and estimates, or give milp=true"
            )
        if special and self._flows:
            raise InvalidParameterError(
                "round_epochs, reward and estimates are for whole chunks: give milp=true"
            )

    def spread(self, topology: Topology, phase: str, report: Report) -> StepSchedule:
        """Make the schedule of a phase; its name is for reports."""
        network, demand = self.instance(topology)
        solver = "highs" if self._flows and self.solver != "gurobi" else self.solver
        tell = _Reporter(f"{phase}, crossing {self.crossing}", solver, report)
        if self._flows:
            return self._flow(network, demand, tell)
        if demand.given is not None:
            tell.rest(demand)
        kept = self._search(network, demand, tell)
        made = schedule_of(network, demand, kept, self.collective, self.size_bytes)
        return made if demand.given is None else demanded(made, demand)

    def _flow(self, network: EpochNetwork, demand: Demand, tell: _Reporter) -> StepSchedule:
        if not self.windows:
            network = without_windows(network)
        if self.epochs:
            assert isinstance(self.epochs, int)
            found = lp_horizon.within_epochs(network, demand, self.epochs, self.solver, self.limits)
            tell.epochs(found.epochs, found.bound)
        else:
            found = lp_horizon.fewest_epochs(network, demand, self.solver, self.limits, tell.epochs)
        return flow_schedule.schedule_of(network, demand, ways(network, found), self.size_bytes)

    def _search(self, network: EpochNetwork, demand: Demand, tell: _Reporter) -> Kept:
        """Find the transfers of whole chunks."""
        limits, deadline = self.limits, self.limits.deadline
        if self.round_epochs:
            found = by_rounds(network, demand, self.round_epochs, self.solver, limits, self.gap)
            tell.epochs(found.epochs, found.bound)
            return found.kept
        if isinstance(self.epochs, str):
            rounded = partial(self._rounded, network.topology, demand)
            epochs, found = within_estimate(rounded, demand, network.epoch_us, self.solver, limits)
        elif self.epochs:
            epochs = self.epochs
            if self.objective == "epochs":
                found = within_epochs(network, demand, epochs, self.solver, limits)
        else:
            found = fewest_epochs(
                network, demand, self.solver, limits, tell.epochs, self.work, self.symmetry
            )
        left = limits.until(deadline)
        if self.objective == "reward":
            hint = found.kept if isinstance(self.epochs, str) else ()
            best = most_reward(network, demand, epochs, self.solver, left, self.gap, hint)
            status = "optimal" if best.status is Status.OPTIMAL else "feasible"
            tell(f"reward of the {tell.phase}", status, float(best.value), best.bound, "reward")
            return best.kept
        kept = without_repeats(network, demand, found, self.solver, left)
        tell.epochs(epochs_taken(network, kept), found.bound)
        return kept

    def instance(self, topology: Topology) -> tuple[EpochNetwork, Demand]:
        """Round a topology to epochs and cut the data."""
        demand = self.demand(topology)
        return self.network(topology, demand), demand

    def demand(self, topology: Topology) -> Demand:
        """Cut the data.

        Raises
        ------
        InvalidParameterError
            If the demand is of another number of GPUs, or has too many chunks.
        """
        given = self.given
        if given is not None:
            if given.gpus != topology.num_compute:
                raise InvalidParameterError(
                    f"{given.name}: is of {given.gpus} GPUs; {topology.name} has "
                    f"{topology.num_compute}"
                )
            length = self.chunk_bytes or chunk_bytes_of(given, self.chunks)
            return undivided(given, length) if self._flows else divided(given, length)
        return demand_of(
            topology.num_compute, self.collective, self.chunks, self.size_bytes, self.root
        )

    def network(self, topology: Topology, demand: Demand) -> EpochNetwork:
        """Round a topology to epochs for the chunks of a demand."""
        own = max(Counter(demand.roots).values())
        if 0 < self.buffer < own:
            raise InvalidParameterError(
                f"buffer is {self.buffer}; a GPU has {own} chunks of its own at first, so it must "
                f"be {own} or more, or 0 for any number"
            )
        return self._rounded(topology, demand, epoch_us(topology, demand.chunk_kb, self.epoch))

    def _rounded(self, topology: Topology, demand: Demand, epoch: Fraction) -> EpochNetwork:
        return EpochNetwork.of(
            topology,
            demand.chunk_kb,
            epoch,
            self.crossing,
            self.switches,
            slowdowns_of(self.slow, topology),
            Buffers(self.buffer, kept=self.buffering == "kept") if self.buffer else None,
        )


@dataclass(frozen=True, slots=True)
class _Reporter:
    """Reports of a phase, named with the rule for crossing switches."""

    phase: str
    solver: str
    report: Report

    def __call__(
        self, stage: str, status: str, incumbent: float | None, bound: float, unit: str
    ) -> None:
        self.report(Search(stage, status, incumbent, bound, unit, self.solver))

    def rest(self, demand: Demand) -> None:
        """Report the bytes that the program counts, and those of the demand."""
        assert demand.given is not None
        counted, due = int(len(demand.parts) * demand.chunk_kb * 1000), demand.given.bytes
        status = "optimal" if counted == due else "feasible"
        self(f"bytes of the {self.phase}, rounded up to chunks", status, counted, due, "bytes")

    def epochs(self, found: int | None, bound: int) -> None:
        """Report the epochs found, if any, and the lower bound."""
        status = "open" if found is None else "optimal" if found == bound else "feasible"
        self(f"epochs of the {self.phase}", status, found, bound, "epochs")
