"""TE-CCL: collectives as a multi-commodity flow in epochs, with copies, buffers and latencies.

Problem: the fewest epochs in which all chunks get to all who want them; or of so many epochs, the
         schedule by which most is there early; or few epochs, found a few at a time.
Input:   a topology; the size of the data M and chunks C; how long an epoch is; how switches are
         taken.
Output:  a step schedule with a clock.
Cost:    programs of chunks x links x epochs variables; exponential in the worst case.
Source:  Liu et al., Rethinking Machine Learning Collective Communication as a Multi-Commodity Flow
         Problem (TE-CCL, SIGCOMM 2024), sections 3 and 4.2, appendices A and C to F. Gurobi there;
         CP-SAT, or HiGHS, or Gurobi where it is installed, here.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from baselines.building.composing import collect_steps
from baselines.interface.method import Method
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.teccl.commodities import Demand, demand_of
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.epoch_count import within_estimate
from baselines.synthesizers.teccl.epoch_program import Sent
from baselines.synthesizers.teccl.epochs import CROSSINGS, EPOCHS, SWITCHES, EpochNetwork, epoch_us
from baselines.synthesizers.teccl.horizon import fewest_epochs, within_epochs
from baselines.synthesizers.teccl.reward import most_reward
from baselines.synthesizers.teccl.rounds.rounds import by_rounds
from baselines.synthesizers.teccl.solvers import SOLVERS
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]

_OBJECTIVES = ("epochs", "reward")

_ESTIMATED = "estimated"

_COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce")


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    size_bytes: int = 10**9,
    chunks: int = 1,
    epoch: str = "fastest",
    crossing: str = "through",
    switches: str = "nodes",
    epochs: int | str = 0,
    objective: str = "epochs",
    gap: float = 0.0,
    round_epochs: int = 0,
    solver: str = "cp-sat",
    root: str | int | None = None,
    limits: Limits | None = None,
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
        C, of each source, in an all-to-all for each pair.
    epoch : str
        "fastest" or "slowest": the link on which a chunk takes an epoch.
    crossing : str
        How switches and latencies are taken: "through", "rounded" or "stored"; see
        :mod:`baselines.synthesizers.teccl.epochs`.
    switches : str
        "nodes", or "hyper-edges" in their place.
    epochs : int or str
        Not the fewest but so many; 0 for the fewest; "estimated" for as many as
        :mod:`baselines.synthesizers.teccl.epoch_count` finds.
    objective : str
        "epochs", or "reward" for what is there early in so many epochs; see
        :mod:`baselines.synthesizers.teccl.reward`.
    gap : float
        By how much the reward may miss the largest, relatively; below 1.
    round_epochs : int
        Search by rounds of so many epochs, each for its reward; 0: not. See
        :mod:`baselines.synthesizers.teccl.rounds.rounds`.
    solver : str
        "cp-sat", "highs" or "gurobi".
    root : str or int, optional
        Name or rank of a GPU, for a broadcast or reduce (rank 0 if not given).
    limits : Limits, optional
        Of the search, which returns the fewest epochs, or the most reward, that it has found by
        then; without, it goes on until there is proof. An allreduce gives each phase half of
        the time.

    Raises
    ------
    UnsupportedError
        If there is a single GPU, or hyper-edges cannot stand for the switches.
    InvalidParameterError
        If a parameter is out of its range.
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
    task = Task(
        collective={
            "reduce-scatter": "allgather",
            "reduce": "broadcast",
            "allreduce": "allgather",
        }.get(collective, collective),
        root=_rank(topology, collective, root),
        size_bytes=size_bytes,
        chunks=chunks,
        epoch=epoch,
        crossing=crossing,
        switches=switches,
        epochs=epochs,
        objective=objective,
        gap=gap,
        round_epochs=round_epochs,
        solver=solver,
        limits=_of_a_phase(limits or Limits(), phases=2 if collective == "allreduce" else 1),
    )
    if collective == "all-to-all":
        return task.spread(topology)
    return collect_steps(task.spread, topology, collective)


def _of_a_phase(limits: Limits, phases: int) -> Limits:
    """An even share of the time."""
    return limits if limits.seconds is None else replace(limits, seconds=limits.seconds / phases)


def _rank(topology: Topology, collective: str, root: str | int | None) -> int:
    if collective == "all-to-all" and root is None:
        return 0
    if root is None and collective in ("broadcast", "reduce"):
        root = 0
    weights = weights_for(topology, collective, root=root)
    return weights.index(max(weights))


@dataclass(frozen=True, slots=True)
class Task:
    """What :func:`generate` asks for, but for the topology; ``root`` is a rank.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of its range.
    """

    collective: str
    root: int
    size_bytes: int
    chunks: int
    epoch: str
    crossing: str
    switches: str
    epochs: int | str
    solver: str
    limits: Limits
    objective: str = "epochs"
    gap: float = 0.0
    round_epochs: int = 0

    def __post_init__(self) -> None:
        for name, value, least in (
            ("size_bytes", self.size_bytes, 1),
            ("chunks", self.chunks, 1),
            ("epochs", 0 if isinstance(self.epochs, str) else self.epochs, 0),
            ("round_epochs", self.round_epochs, 0),
        ):
            if value < least:
                raise InvalidParameterError(f"{name} is {value}; it must be {least} or more")
        for name, given, known in (
            ("epoch", self.epoch, EPOCHS),
            ("crossing", self.crossing, CROSSINGS),
            ("switches", self.switches, SWITCHES),
            ("solver", self.solver, SOLVERS),
            ("objective", self.objective, _OBJECTIVES),
        ):
            if given not in known:
                raise InvalidParameterError(f"{name} is {given!r}; it must be {' or '.join(known)}")
        if isinstance(self.epochs, str) and self.epochs != _ESTIMATED:
            raise InvalidParameterError(
                f"epochs is {self.epochs!r}; it must be a whole number or {_ESTIMATED}"
            )
        if not 0 <= self.gap < 1:
            raise InvalidParameterError(f"gap is {self.gap}; it must be 0 or more, and below 1")
        self._check_together()

    def _check_together(self) -> None:
        """Refuse what would have no effect."""
        reward = self.objective == "reward"
        if self.round_epochs and (self.epochs or reward):
            raise InvalidParameterError(
                "round_epochs is given with epochs or an objective; rounds find their own number "
                "and have their own objective"
            )
        if reward and not self.epochs:
            raise InvalidParameterError(
                f"the reward is that of a number of epochs; give epochs, or {_ESTIMATED} for them"
            )
        if self.gap and not (reward or self.round_epochs):
            raise InvalidParameterError(
                f"gap is {self.gap}; it is that of a reward: give objective=reward or round_epochs"
            )

    def spread(self, topology: Topology) -> StepSchedule:
        """Make an allgather, a broadcast or an all-to-all."""
        network, demand = self.instance(topology)
        kept = self._search(network, demand)
        return schedule_of(network, demand, kept, self.collective, self.size_bytes)

    def _search(self, network: EpochNetwork, demand: Demand) -> Mapping[Sent, Sent | None]:
        if self.round_epochs:
            return by_rounds(
                network, demand, self.round_epochs, self.solver, self.limits, self.gap
            ).kept
        if not self.epochs:
            return fewest_epochs(network, demand, self.solver, self.limits).kept
        epochs, limits = self.epochs, self.limits
        hint: Mapping[Sent, Sent | None] = {}
        if isinstance(epochs, str):
            begin = time.monotonic()
            epochs, found = within_estimate(
                partial(self._rounded, network.topology, demand),
                demand,
                network.epoch_us,
                self.solver,
                limits,
            )
            if self.objective == "epochs":
                return found.kept
            hint, limits = found.kept, _less(limits, time.monotonic() - begin)
        if self.objective == "epochs":
            return within_epochs(network, demand, epochs, self.solver, limits).kept
        return most_reward(network, demand, epochs, self.solver, limits, self.gap, hint).kept

    def instance(self, topology: Topology) -> tuple[EpochNetwork, Demand]:
        """Round a topology to epochs and cut the data."""
        demand = demand_of(
            topology.num_compute, self.collective, self.chunks, self.size_bytes, self.root
        )
        epoch = epoch_us(topology, demand.chunk_kb, self.epoch)
        return self._rounded(topology, demand, epoch), demand

    def _rounded(self, topology: Topology, demand: Demand, epoch: Fraction) -> EpochNetwork:
        return EpochNetwork.of(topology, demand.chunk_kb, epoch, self.crossing, self.switches)


def _less(limits: Limits, seconds: float) -> Limits:
    """What is left of the time."""
    if limits.seconds is None:
        return limits
    return replace(limits, seconds=max(0.0, limits.seconds - seconds))


METHODS = (
    Method(
        name="teccl",
        summary="the fewest epochs by integer programming, with copies, buffers and latencies",
        source="Liu et al., TE-CCL (SIGCOMM 2024)",
        generate=generate,
        collectives=_COLLECTIVES,
        notes="CP-SAT or HiGHS for Gurobi; epochs are minimised, or a reward where asked for",
        libraries=("ortools.sat.python.cp_model",),
    ),
)
