"""TE-CCL: collectives as a multi-commodity flow in epochs, with copies, buffers and latencies.

Problem: the fewest epochs in which all chunks get to all who want them.
Input:   a topology; the size of the data M and chunks C; how long an epoch is; how switches are
         taken.
Output:  a step schedule with a clock.
Cost:    programs of chunks x links x epochs variables; exponential in the worst case.
Source:  Liu et al., Rethinking Machine Learning Collective Communication as a Multi-Commodity Flow
         Problem (TE-CCL, SIGCOMM 2024), section 3, appendices A, C, E and F. Gurobi there; CP-SAT,
         or HiGHS, or Gurobi where it is installed, here.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace

from baselines.building.composing import collect_steps
from baselines.interface.method import Method
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.teccl.buffers import BUFFERING, Buffers
from baselines.synthesizers.teccl.commodities import Demand, demand_of
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.epochs import CROSSINGS, EPOCHS, SWITCHES, EpochNetwork, epoch_us
from baselines.synthesizers.teccl.horizon import fewest_epochs, within_epochs, without_repeats
from baselines.synthesizers.teccl.slowdowns import slowdowns_of
from baselines.synthesizers.teccl.solvers import SOLVERS
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.steps import REDUCTIONS, StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]

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
    buffer: int = 0,
    buffering: str = "passing",
    slow: str = "",
    epochs: int = 0,
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
    buffer : int
        Chunks that a node can hold, its own among them; 0 for any number. If nothing else is found
        in as few epochs, some node drops a chunk and gets it again; schedules cannot say so, and
        the second time is left out.
    buffering : str
        "passing": what is sent on at once takes no slot; or "kept"; see
        :mod:`baselines.synthesizers.teccl.buffers`.
    slow : str
        Links that are slow for a time, such as "gpu0 - gpu1 x 1/2 from 3 to 5"; see
        :mod:`baselines.synthesizers.teccl.slowdowns`.
    epochs : int
        Not the fewest but so many; 0 for the fewest.
    solver : str
        "cp-sat", "highs" or "gurobi".
    root : str or int, optional
        Name or rank of a GPU, for a broadcast or reduce (rank 0 if not given).
    limits : Limits, optional
        Of the search, which returns the fewest epochs that it has found by then; without, it goes
        on until they are proved to be the fewest. An allreduce gives each phase half of the time.

    Raises
    ------
    UnsupportedError
        If there is a single GPU, hyper-edges cannot stand for the switches, or a reduction is asked
        for with few slots or slow links: turned round, these would be others.
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
    if collective in REDUCTIONS and (buffer or slow):
        raise UnsupportedError(
            f"unsupported: teccl: {'buffer' if buffer else 'slow'} is for what is copied, not for "
            f"{collective}; ask for an allgather, broadcast or all-to-all"
        )
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
        buffer=buffer,
        buffering=buffering,
        slow=slow,
        epochs=epochs,
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
    buffer: int
    buffering: str
    slow: str
    epochs: int
    solver: str
    limits: Limits

    def __post_init__(self) -> None:
        for name, value, least in (
            ("size_bytes", self.size_bytes, 1),
            ("chunks", self.chunks, 1),
            ("buffer", self.buffer, 0),
            ("epochs", self.epochs, 0),
        ):
            if value < least:
                raise InvalidParameterError(f"{name} is {value}; it must be {least} or more")
        for name, given, known in (
            ("epoch", self.epoch, EPOCHS),
            ("crossing", self.crossing, CROSSINGS),
            ("switches", self.switches, SWITCHES),
            ("buffering", self.buffering, BUFFERING),
            ("solver", self.solver, SOLVERS),
        ):
            if given not in known:
                raise InvalidParameterError(f"{name} is {given!r}; it must be {' or '.join(known)}")

    def spread(self, topology: Topology) -> StepSchedule:
        """Make an allgather, a broadcast or an all-to-all."""
        network, demand = self.instance(topology)
        started = time.monotonic()
        if self.epochs:
            found = within_epochs(network, demand, self.epochs, self.solver, self.limits)
        else:
            found = fewest_epochs(network, demand, self.solver, self.limits)
        left = self.limits
        if left.seconds is not None:
            spent = time.monotonic() - started
            left = replace(left, seconds=max(0.0, left.seconds - spent))
        kept = without_repeats(network, demand, found, self.solver, left)
        return schedule_of(network, demand, kept, self.collective, self.size_bytes)

    def instance(self, topology: Topology) -> tuple[EpochNetwork, Demand]:
        """Round a topology to epochs and cut the data."""
        demand = self.demand(topology)
        return self.network(topology, demand), demand

    def demand(self, topology: Topology) -> Demand:
        """Cut the data."""
        return demand_of(
            topology.num_compute, self.collective, self.chunks, self.size_bytes, self.root
        )

    def network(self, topology: Topology, demand: Demand) -> EpochNetwork:
        """Round a topology to epochs for chunks of a size."""
        own = max(Counter(demand.roots).values())
        if 0 < self.buffer < own:
            raise InvalidParameterError(
                f"buffer is {self.buffer}; a GPU has {own} chunks of its own at first, so it must "
                f"be {own} or more, or 0 for any number"
            )
        return EpochNetwork.of(
            topology,
            demand.chunk_kb,
            epoch_us(topology, demand.chunk_kb, self.epoch),
            self.crossing,
            self.switches,
            slowdowns_of(self.slow, topology),
            Buffers(self.buffer, kept=self.buffering == "kept") if self.buffer else None,
        )


METHODS = (
    Method(
        name="teccl",
        summary="the fewest epochs by integer programming, with copies, buffers and latencies",
        source="Liu et al., TE-CCL (SIGCOMM 2024)",
        generate=generate,
        collectives=_COLLECTIVES,
        notes="CP-SAT or HiGHS for Gurobi; the number of epochs is minimised, not a reward",
        libraries=("ortools.sat.python.cp_model",),
    ),
)
