"""TACCL: routing, ordering and contiguity in sequence, guided by a sketch.

Problem: a schedule of small makespan, on links that a designer chooses by a sketch.
Input:   a topology; a sketch; the size of the data M and chunks C.
Output:  a step schedule with a clock.
Cost:    integer programs; exponential in the worst case, small for sketches with much symmetry.
Source:  Shah et al., TACCL: Guiding Collective Algorithm Synthesis using Communication Sketches
         (NSDI 2023), sections 3 and 4, and the rules of its public code. It uses Gurobi; here
         HiGHS, or Gurobi if it is installed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from baselines.building.composing import collect_steps
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.search import Report
from baselines.interface.supported import check_supported, check_whole
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.taccl.exact_times import schedule_from
from baselines.synthesizers.taccl.exchange import exchange_of
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.ordering import HEURISTICS, heuristic_of
from baselines.synthesizers.taccl.routing import Routing
from baselines.synthesizers.taccl.sketch import Sketch
from baselines.synthesizers.taccl.sketch_files import AUTO, find_sketch
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import refuse_shared

__all__ = ["METHODS", "MOST_TRANSFERS", "generate"]

_COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "all-to-all")

_SOLVERS = ("highs", "gurobi")

_ORDERS = ("any", "by-network", *HEURISTICS)

MOST_TRANSFERS = 5_000_000
"""Limit of chunks times links for which a program is written, which takes a minute or two."""

_KB = 1000


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    size_bytes: int = 10**9,
    sketch: str = AUTO,
    symmetry: bool = True,
    chunks: int = 0,
    order: str = "any",
    optima: int = 4,
    gap: float = 1e-3,
    whole_us: bool = False,
    solver: str = "highs",
    limits: Limits | None = None,
    report: Report | None = None,
) -> StepSchedule:
    """Find a schedule by a sketch.

    Parameters
    ----------
    collective : str
        A reduce-scatter is a reversed allgather; an allreduce runs both as sequential phases.
    size_bytes : int
        M; it decides how much latencies count.
    sketch : str
        A name of :data:`baselines.synthesizers.taccl.sketch_files.SHIPPED`, a file, or "auto" for a
        sketch derived from the topology.
    symmetry : bool
        Whether to use the sketch's symmetry; the programs are larger without it.
    chunks : int
        C of each GPU, in an all-to-all of each pair; 0 for the sketch's number.
    order : str
        Heuristic of :mod:`baselines.synthesizers.taccl.ordering`: "farthest", "earliest" or
        "last-hops"; "by-network" for the choice of the public code; "any" for the best of the
        three.
    optima : int
        Number of further routings of the same time to try.
    gap : float
        Relative gap of the first routing's objective; below 1.
    whole_us : bool
        Whether routing rounds times down to whole microseconds, as in the public code.
    solver : str
        "highs" or "gurobi".
    limits : Limits, optional
        At the limit the search returns its best result. Without one, each program is solved to its
        end. An allreduce gives each phase half of the time.
    report : callable, optional
        Called with the state of each stage of each phase.

    Raises
    ------
    UnsupportedError
        For a single GPU, boxes with different numbers of GPUs, a network without a derived sketch,
        or more chunks than programs are written for.
    InvalidParameterError
        If a parameter is out of its range, or the sketch is invalid or does not fit the network.
    InfeasibleError
        If the sketch does not let every chunk reach its destinations.
    TimeLimitError
        If time is up before there is a routing.
    SolverError
        If the solver finds neither routes nor a proof that there are none, as with costs of links
        that are too far apart for floats.

    Examples
    --------
    >>> from forestcoll import load_topology, verify
    >>> schedule = generate(load_topology("dgx_a100:boxes=1"), size_bytes=8000)
    >>> verify(schedule).steps, schedule.clock.finish_us
    (7, Fraction(7, 300))
    """
    check_size(topology)
    check_supported("taccl", collective, _COLLECTIVES)
    _check_parameters(order, solver, size_bytes=size_bytes, chunks=chunks, optima=optima, gap=gap)
    check_whole("taccl", topology)
    refuse_shared(topology, "the clock of taccl")
    found = find_sketch(sketch, topology)
    task = _Task(
        collective="all-to-all" if collective == "all-to-all" else "allgather",
        size_bytes=size_bytes,
        sketch=found if symmetry else replace(found, symmetry=()),
        chunks=chunks,
        order=order,
        optima=optima,
        gap=gap,
        whole_us=whole_us,
        solver=solver,
        limits=(limits or Limits()).shared(2 if collective == "allreduce" else 1),
        report=report or (lambda search: None),
    )

    def spread(network: Topology) -> StepSchedule:
        return task.spread(network, reverse=network is not topology)

    if collective == "all-to-all":
        return spread(topology)
    return collect_steps(spread, topology, collective)


def _check_parameters(
    order: str, solver: str, *, size_bytes: int, chunks: int, optima: int, gap: float
) -> None:
    check_choice("order", order, _ORDERS)
    check_choice("solver", solver, _SOLVERS)
    for name, value, least in (
        ("size_bytes", size_bytes, 1),
        ("chunks", chunks, 0),
        ("optima", optima, 0),
    ):
        if value < least:
            raise InvalidParameterError(f"{name} is {value}; it must be {least} or more")
    if not 0 <= gap < 1:
        raise InvalidParameterError(f"gap is {gap}; it must be 0 or more, and below 1")


@dataclass(frozen=True, slots=True)
class _Task:
    """The parameters of :func:`generate` for one phase, checked."""

    collective: str
    size_bytes: int
    sketch: Sketch
    chunks: int
    order: str
    optima: int
    gap: float
    whole_us: bool
    solver: str
    limits: Limits
    report: Report

    def spread(self, network: Topology, *, reverse: bool) -> StepSchedule:
        """Spread the data over a network; over the reversed one for a reduce-scatter."""
        from baselines.synthesizers.taccl.stages import Effort, best_times  # loads the solver

        sketch = self.sketch.reversed() if reverse else self.sketch
        gpus, parts = network.num_compute, self.chunks or sketch.chunks
        logical = LogicalNetwork.of(network, sketch, Fraction(self.size_bytes, gpus * parts * _KB))
        self._check_size(logical, gpus * parts * (gpus - 1 if self.is_all_to_all else 1))
        exchange = exchange_of(self.collective, gpus, parts)
        routing = Routing(logical, exchange, sketch, self.whole_us)
        heuristics = _heuristics(self.order, logical)
        effort = Effort(heuristics, self.optima, self.gap, self.solver, self.limits)
        phase = "reduce-scatter" if reverse else self.collective
        times = best_times(routing, effort, phase, self.report)
        return schedule_from(logical, exchange, times, self.size_bytes)

    @property
    def is_all_to_all(self) -> bool:
        return self.collective == "all-to-all"

    def _check_size(self, network: LogicalNetwork, chunks: int) -> None:
        if chunks * len(network.links) > MOST_TRANSFERS:
            raise UnsupportedError(
                f"unsupported: {chunks} chunks on {len(network.links)} links are more than taccl "
                f"writes programs for; take fewer chunks, or a sketch with fewer links"
            )


def _heuristics(order: str, network: LogicalNetwork) -> tuple[str, ...]:
    """Return the orders to try, that of the public code first."""
    if order in HEURISTICS:
        return (order,)
    own = heuristic_of(network)
    return (own, *(each for each in HEURISTICS if each != own and order == "any"))


METHODS = (
    Method(
        name="taccl",
        summary="routes, orders and messages by integer programs, guided by a sketch",
        source="Shah et al., TACCL (NSDI 2023)",
        generate=generate,
        collectives=_COLLECTIVES,
        notes="HiGHS for Gurobi; several routings and orders are tried",
        libraries=("forestcoll.solver.solve", "scipy.sparse.csgraph"),
    ),
)
