"""TE-CCL: collectives as a multi-commodity flow in epochs, with copies, buffers and latencies.

Problem: the fewest epochs in which all chunks get to all who want them.
Input:   a topology; the size of the data M and chunks C; how long an epoch is; how switches are
         taken.
Output:  a step schedule with a clock.
Cost:    programs of chunks x links x epochs variables; exponential in the worst case. Of an
         all-to-all linear programs of sources x links x epochs variables.
Source:  Liu et al., Rethinking Machine Learning Collective Communication as a Multi-Commodity Flow
         Problem (TE-CCL, SIGCOMM 2024), sections 3 and 4.1, appendices A, C, E and F. Gurobi
         there; CP-SAT, or HiGHS, or Gurobi where it is installed, here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from baselines.building.composing import collect_steps
from baselines.interface.method import Method
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.teccl import flow_horizon, flow_schedule
from baselines.synthesizers.teccl.commodities import Demand, demand_of
from baselines.synthesizers.teccl.conversion import schedule_of
from baselines.synthesizers.teccl.epochs import CROSSINGS, EPOCHS, SWITCHES, EpochNetwork, epoch_us
from baselines.synthesizers.teccl.flow_paths import ways
from baselines.synthesizers.teccl.flow_program import without_windows
from baselines.synthesizers.teccl.horizon import fewest_epochs, within_epochs
from baselines.synthesizers.teccl.solvers import SOLVERS
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.limits import Limits
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]

_COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce", "all-to-all")


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    size_bytes: int = 10**9,
    chunks: int = 1,
    epoch: str = "fastest",
    crossing: str = "through",
    switches: str = "nodes",
    whole_chunks: bool = False,
    windows: bool = True,
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
        C, of each source, in an all-to-all for each pair: there it only says how long an epoch is,
        unless chunks are to stay whole.
    epoch : str
        "fastest" or "slowest": the link on which a chunk takes an epoch.
    crossing : str
        How switches and latencies are taken: "through", "rounded" or "stored"; see
        :mod:`baselines.synthesizers.teccl.epochs`.
    switches : str
        "nodes", or "hyper-edges" in their place, which are for whole chunks only.
    whole_chunks : bool
        Of an all-to-all: send every chunk as one, by the program with whole numbers that all other
        collectives need; without, by the linear program.
    windows : bool
        Of the linear program: a link that takes a chunk several epochs takes them for a part of it
        too, as in the public code. Without, any part that fits leaves in one epoch, as in the
        paper: there may be fewer epochs.
    epochs : int
        Not the fewest but so many; 0 for the fewest.
    solver : str
        "cp-sat", "highs" or "gurobi"; of linear programs HiGHS stands in for CP-SAT.
    root : str or int, optional
        Name or rank of a GPU, for a broadcast or reduce (rank 0 if not given).
    limits : Limits, optional
        Of the search, which returns the fewest epochs that it has found by then; without, it goes
        on until they are proved to be the fewest (of a linear program in floats). An allreduce
        gives each phase half of the time.

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
        solver=solver,
        limits=_of_a_phase(limits or Limits(), phases=2 if collective == "allreduce" else 1),
    )
    if collective == "all-to-all":
        return task.spread(topology) if whole_chunks else task.flow(topology, windows)
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
    epochs: int
    solver: str
    limits: Limits

    def __post_init__(self) -> None:
        for name, value, least in (
            ("size_bytes", self.size_bytes, 1),
            ("chunks", self.chunks, 1),
            ("epochs", self.epochs, 0),
        ):
            if value < least:
                raise InvalidParameterError(f"{name} is {value}; it must be {least} or more")
        for name, given, known in (
            ("epoch", self.epoch, EPOCHS),
            ("crossing", self.crossing, CROSSINGS),
            ("switches", self.switches, SWITCHES),
            ("solver", self.solver, SOLVERS),
        ):
            if given not in known:
                raise InvalidParameterError(f"{name} is {given!r}; it must be {' or '.join(known)}")

    def spread(self, topology: Topology) -> StepSchedule:
        """Make an allgather, a broadcast or an all-to-all."""
        network, demand = self.instance(topology)
        if self.epochs:
            found = within_epochs(network, demand, self.epochs, self.solver, self.limits)
        else:
            found = fewest_epochs(network, demand, self.solver, self.limits)
        return schedule_of(network, demand, found.kept, self.collective, self.size_bytes)

    def flow(self, topology: Topology, windows: bool) -> StepSchedule:
        """Make an all-to-all of parts of chunks."""
        network, demand = self.instance(topology)
        if not windows:
            network = without_windows(network)
        if self.epochs:
            found = flow_horizon.within_epochs(
                network, demand, self.epochs, self.solver, self.limits
            )
        else:
            found = flow_horizon.fewest_epochs(network, demand, self.solver, self.limits)
        return flow_schedule.schedule_of(network, demand, ways(network, found), self.size_bytes)

    def instance(self, topology: Topology) -> tuple[EpochNetwork, Demand]:
        """Round a topology to epochs and cut the data."""
        demand = demand_of(
            topology.num_compute, self.collective, self.chunks, self.size_bytes, self.root
        )
        epoch = epoch_us(topology, demand.chunk_kb, self.epoch)
        network = EpochNetwork.of(topology, demand.chunk_kb, epoch, self.crossing, self.switches)
        return network, demand


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
