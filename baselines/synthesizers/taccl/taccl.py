"""TACCL: routes, orders and messages one after the other, guided by a sketch.

Problem: a schedule that is over soon, on a network of which a designer says what to use.
Input:   a topology; a sketch; the size of the data M and chunks C.
Output:  a step schedule with a clock.
Cost:    integer programs; exponential in the worst case, small where a sketch has much symmetry.
Source:  Shah et al., TACCL: Guiding Collective Algorithm Synthesis using Communication Sketches
         (NSDI 2023), sections 3 and 4, and the rules of its public code. Gurobi there; HiGHS, or
         Gurobi where it is installed, here.
"""

from __future__ import annotations

from fractions import Fraction

from baselines.building.composing import collect_steps
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.search import Report
from baselines.interface.supported import check_supported, check_whole
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.taccl.clocked_sends import schedule_from
from baselines.synthesizers.taccl.exchange import exchange_of
from baselines.synthesizers.taccl.logical_network import LogicalNetwork
from baselines.synthesizers.taccl.ordering import HEURISTICS, heuristic_of
from baselines.synthesizers.taccl.routing import Routing
from baselines.synthesizers.taccl.sketch_files import AUTO, find_sketch
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "MOST_TRANSFERS", "generate"]

_COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "all-to-all")

_SOLVERS = ("highs", "gurobi")

_ORDERS = ("any", "by-network", *HEURISTICS)

MOST_TRANSFERS = 5_000_000
"""Chunks times links, of a program that is written down: what takes a minute or two."""

_KB = 1000


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    size_bytes: int = 10**9,
    sketch: str = AUTO,
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
    topology : Topology
    collective : str
        A reduce-scatter is an allgather turned round, an allreduce both in turn.
    size_bytes : int
        M; what latencies are compared with.
    sketch : str
        A name of :data:`baselines.synthesizers.taccl.sketch_files.SHIPPED`, a file, or "auto" for
        one that is drawn from the topology.
    chunks : int
        C, of each GPU, in an all-to-all for each pair; 0 for what the sketch says.
    order : str
        Which transfers are put first: "farthest" to go, "earliest" to start, "last-hops" last;
        "by-network" for what the public code takes; "any" for the best of the three. See
        :mod:`baselines.synthesizers.taccl.ordering`.
    optima : int
        Further routings of the same time that are tried.
    gap : float
        By how much the first routing may miss its least objective, relatively; below 1.
    whole_us : bool
        Whether routing rounds times down to whole microseconds, as in the public code.
    solver : str
        "highs" or "gurobi".
    limits : Limits, optional
        Of the search, which returns the best that it has found by then; without, each program is
        solved to its end. An allreduce gives each phase half of the time.
    report : callable, optional
        Told of each stage of each phase what is found and proved.

    Raises
    ------
    UnsupportedError
        If there is a single GPU, boxes differ in their number of GPUs, no sketch can be drawn, or
        there are more chunks than programs are written for.
    InvalidParameterError
        If a parameter is out of its range, or the sketch is none, or does not fit the network.
    InfeasibleError
        If the sketch does not let every chunk get to where it is wanted.
    TimeLimitError
        If the time is up before there is a routing.
    SolverError
        If the solver finds neither routes nor that there are none: in floats, where the links'
        costs are far apart.

    Examples
    --------
    >>> from forestcoll import load_topology, verify
    >>> schedule = generate(load_topology("dgx_a100:boxes=1"), size_bytes=8000)
    >>> verify(schedule).steps, schedule.clock.finish_us
    (7, Fraction(7, 300))
    """
    from baselines.synthesizers.taccl.stages import Effort, best_times  # loads the solver

    check_size(topology)
    check_supported("taccl", collective, _COLLECTIVES)
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
    check_whole("taccl", topology)
    asked = find_sketch(sketch, topology)
    share = (limits or Limits()).shared(2 if collective == "allreduce" else 1)

    def spread(network: Topology) -> StepSchedule:
        turned = network is not topology
        by = asked.reversed() if turned else asked
        gpus, parts = network.num_compute, chunks or by.chunks
        logical = LogicalNetwork.of(network, by, Fraction(size_bytes, gpus * parts * _KB))
        spread_out = collective == "all-to-all"
        count = gpus * parts * (gpus - 1 if spread_out else 1)
        if count * len(logical.links) > MOST_TRANSFERS:
            raise UnsupportedError(
                f"unsupported: {count} chunks on {len(logical.links)} links are more than taccl "
                f"writes programs for; take fewer chunks, or a sketch with fewer links"
            )
        exchange = exchange_of("all-to-all" if spread_out else "allgather", gpus, parts)
        routing = Routing(logical, exchange, by, whole_us)
        effort = Effort(_heuristics(order, logical), optima, gap, solver, share)
        phase = "reduce-scatter" if turned else exchange.collective
        times = best_times(routing, effort, phase, report or (lambda search: None))
        return schedule_from(logical, exchange, times, size_bytes)

    if collective == "all-to-all":
        return spread(topology)
    return collect_steps(spread, topology, collective)


def _heuristics(order: str, network: LogicalNetwork) -> tuple[str, ...]:
    """Return the orders to try, that of the public code first if it is among them."""
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
        libraries=("lp.solver.solve", "scipy.sparse.csgraph"),
    ),
)
