"""Comparison of methods on one network, as a table, a data frame and a figure.

Problem: how near to the optimum does each method come?
Input:   a network, methods by name or as functions, a collective; perhaps a size.
Output:  for each method its verified schedule and its rates, the fastest first; for one that makes
         none, why.
Cost:    that of the methods. Without a choice, those that search are left out: some take minutes.
Source:  none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, cast

from baselines.compared_method import Compared
from baselines.interface.method import Method, Schedule
from baselines.interface.own_function import called, is_reference, own_method, own_name
from baselines.interface.schedule_asked_for import check_asked_for
from baselines.registry import METHODS
from forestcoll.api import optimum, simulate, verify
from forestcoll.errors import (
    InfeasibleError,
    MethodError,
    TimeLimitError,
    UnknownMethodError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.generation import generate
from forestcoll.problem.limits import Limits
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.cost_model import cost, synchronous
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.in_rows import InRows
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology
from forestcoll.topology.validation import COLLECTIVES, check_collective

if TYPE_CHECKING:
    import matplotlib.figure

__all__ = ["Comparison", "compare", "quick_methods"]

OURS = "forestcoll"
"""The name of the core among the methods."""

Function = Callable[..., Schedule]
"""A reader's own method: ``function(topology)``, or ``function(topology, collective)``."""

OneMethod = str | Method | Function
"""A name of a method, or the method itself."""

_COLLECTIVES = (*COLLECTIVES, "all-to-all")
_NOT_MADE = (UnsupportedError, TimeLimitError, InfeasibleError)


class Comparison(InRows[Compared]):
    """Methods on one network, the fastest first."""

    __slots__ = ()
    what = "method"

    def __repr__(self) -> str:
        wrong = sum(one.reason.startswith("wrong: ") for one in self)
        return f"{super().__repr__()[:-1]}, {wrong} wrong>" if wrong else super().__repr__()

    def figure(self) -> matplotlib.figure.Figure:
        """Return a bar for each method, with the optimum as a line; ``forestcoll.draw`` shows it.

        Raises
        ------
        UnsupportedError
            If no method has a schedule.
        """
        from baselines.comparison_chart import draw_comparison  # loads matplotlib

        return draw_comparison(self)


def compare(
    topology: Network,
    methods: OneMethod | Sequence[OneMethod] | None = None,
    collective: str = "allgather",
    *,
    size: int | str | None = None,
    seconds: float = 10,
) -> Comparison:
    """Run methods on a network, verify their schedules and compare their rates.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    methods : sequence, or a single one, optional
        Names of baselines, "forestcoll", "module:function", methods, and functions
        ``function(topology)`` or ``function(topology, collective)`` that return a schedule. By
        default :func:`quick_methods`: "forestcoll" and all baselines for this collective that do
        not search within a time limit.
    collective : str
    size : int or str, optional
        Bytes, or a text such as "1MB", for which the schedules are simulated, too.
    seconds : float
        Time limit of each method that searches.

    Returns
    -------
    Comparison
        A tuple of Compared, the fastest first; those without a schedule, and why, come last.

    Raises
    ------
    UnknownMethodError
        If there is no method of a name.
    UnsupportedError
        For an unknown collective.
    ForestCollError
        If the network or the size makes no sense.

    Examples
    --------
    >>> found = compare("dgx_a100:boxes=2", ["ring", "forestcoll", "direct"])
    >>> [(one.method, float(one.algbw_gb_s)) for one in found]
    [('forestcoll', 346.6666666666667), ('ring', 213.33333333333334), ('direct', 50.0)]
    """
    network = as_topology(topology)
    asked = quick_methods(collective) if methods is None else methods
    if isinstance(asked, str | Method) or callable(asked):
        asked = [asked]
    check_collective(collective, _COLLECTIVES)
    chosen = _named(asked, collective, seconds)
    bounds = _Bounds(network, collective)
    rows = [_compared(name, run, network, bounds, size) for name, run in chosen]
    return Comparison(sorted(rows, key=lambda one: -(one.algbw_gb_s or 0)))


def quick_methods(collective: str = "allgather") -> list[str]:
    """Return the methods of a collective that need no time limit, the core first.

    Raises UnsupportedError for an unknown collective.
    """
    check_collective(collective, _COLLECTIVES)
    quick = [
        name
        for name, method in METHODS.items()
        if collective in method.collectives
        and "limits" not in inspect.signature(method.generate).parameters
    ]
    return quick if collective == "all-to-all" else [OURS, *quick]


def _named(
    methods: Sequence[OneMethod], collective: str, seconds: float
) -> Iterator[tuple[str, Callable[[Topology], Schedule]]]:
    """Yield each method's name and the function that runs it on a network."""
    for one in methods:
        if one == OURS:
            yield OURS, partial(_core, collective)
        elif isinstance(one, str):
            if is_reference(one):
                yield one, _runner(own_method(one), collective, seconds)
                continue
            if one not in METHODS:
                known = ", ".join((OURS, *METHODS))
                raise UnknownMethodError(f"there is no method {one!r}; known: {known}")
            yield one, _runner(METHODS[one], collective, seconds)
        elif isinstance(one, Method):
            yield one.name, _runner(one, collective, seconds)
        else:
            name = own_name(one)
            yield name, partial(called(name, one), collective=collective)


def _core(collective: str, topology: Topology) -> Schedule:
    return cast("Schedule", generate(topology, collective=collective).schedule)


def _runner(method: Method, collective: str, seconds: float) -> Callable[[Topology], Schedule]:
    return partial(method.run, collective=collective, limits=Limits(seconds=seconds))


class _Bounds:
    """The bounds of a collective; for allreduces another one if switches multicast and reduce."""

    def __init__(self, topology: Topology, collective: str) -> None:
        self._topology, self.collective = topology, collective

    def of(self, schedule: Schedule) -> Fraction | None:
        """Return the bound of the model that a schedule belongs to; None of an all-to-all."""
        if self.collective == "all-to-all":
            return None
        if isinstance(schedule, Allreduce) and isinstance(schedule.gather, MulticastForest):
            return self._in_network
        return self._forwarding

    @cached_property
    def _forwarding(self) -> Fraction:
        return optimum(self._topology, collective=self.collective).algbw_gb_s

    @cached_property
    def _in_network(self) -> Fraction:
        made = generate(self._topology, collective="allreduce", multicast=True).schedule
        assert isinstance(made, Allreduce)
        assert made.bound is not None
        return made.bound.algbw_gb_s


def _compared(
    name: str,
    run: Callable[[Topology], Schedule],
    topology: Topology,
    bounds: _Bounds,
    size: int | str | None,
) -> Compared:
    """Run one method; a schedule that is wrong is reported, since a reader's own may be."""
    try:
        schedule = run(topology)
    except _NOT_MADE as error:
        return Compared(name, reason=str(error).removeprefix("unsupported: "))
    except (MethodError, VerificationError) as error:
        return Compared(name, reason=f"wrong: {error}")
    try:
        check_asked_for(schedule, topology, bounds.collective)
        verify(schedule)
    except VerificationError as error:
        return Compared(name, reason=f"wrong: {error}", schedule=schedule)
    steps: Any = None if schedule.collective == "all-to-all" else synchronous(schedule)
    return Compared(
        name,
        algbw_gb_s=cost(schedule).algbw_gb_s,
        bound_gb_s=bounds.of(schedule),
        synchronous_gb_s=steps and steps.algbw_gb_s,
        steps=steps and steps.steps,
        time_us=None if size is None else simulate(schedule, size).time_s * 1e6,
        schedule=schedule,
    )
