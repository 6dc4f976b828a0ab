"""All-to-alls and demands in a search: what is tried, our best paths, and their bound.

Trees do not help, since each pair has its own data. Tried are the best paths, and the baselines
for any amounts: all at once, in steps of a rotation, over the NICs of a box, by matchings of boxes.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from baselines.interface.method import Schedule
from experiments.advice.time_limit import LP_TIME_LIMIT_S
from experiments.advice.tuning.recipe import FORESTS, Recipe, check_known
from experiments.measures.bounds import UpperBound
from forestcoll.errors import InvalidParameterError, SolverError, TimeLimitError
from forestcoll.problem.demand import Demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.simulate import AlphaBeta
from forestcoll.topology.model import Topology

__all__ = ["ALL_TO_ALL", "NAMES", "best_paths", "check_demand", "exchange_bound", "exchanges"]

ALL_TO_ALL = "all-to-all"

_PATHS = "best paths"
_STYLES: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    FORESTS: ((_PATHS, {}),),
    "direct": (("direct", {}), ("direct, in rotation", {"order": "rotation"})),
    "bruck": (("bruck", {}),),
    "hierarchical": (
        ("hierarchical", {}),
        ("hierarchical, in rotation", {"order": "rotation"}),
    ),
    "fast-reading": (("fast-reading", {}),),
}
"""What is tried by default: each method with the names and parameters of its recipes."""

_FEW_MATCHINGS = "fast-reading, few matchings"
"""With the latency of the model as what each matching costs; for demands, which have bytes."""

NAMES = (*(name for styles in _STYLES.values() for name, _ in styles), _FEW_MATCHINGS)
"""The names of all recipes here."""


def exchanges(
    methods: Iterable[str] | None, demand: Demand | None, model: AlphaBeta
) -> tuple[Recipe, ...]:
    """Return what to try for an all-to-all or a demand. The order is the last criterion for ties.

    Parameters
    ----------
    methods : iterable of str, optional
        "forestcoll" for the best paths, and baselines by name; all that take a demand and need no
        search by programs if not given.

    Raises
    ------
    UnknownMethodError
        If there is no such method, or none is named.

    Examples
    --------
    >>> [one.name for one in exchanges(["direct", "forestcoll"], None, AlphaBeta())]
    ['direct', 'direct, in rotation', 'best paths']
    """
    asked = tuple(_STYLES) if methods is None else tuple(dict.fromkeys(methods))
    check_known(asked)
    found: list[Recipe] = []
    for method in asked:
        for name, options in _STYLES.get(method, ((method, {}),)):
            found.append(_recipe(name, method, options, demand))
        if method == "fast-reading" and demand is not None and model.alpha:
            found.append(_recipe(_FEW_MATCHINGS, method, {"alpha_us": model.alpha}, demand))
    return tuple(found)


def _recipe(name: str, method: str, options: dict[str, Any], demand: Demand | None) -> Recipe:
    return Recipe(name, method, MappingProxyType(options), demand)


def check_demand(topology: Topology, demand: Demand) -> None:
    """Refuse a demand of another number of GPUs."""
    if demand.gpus != topology.num_compute:
        raise InvalidParameterError(
            f"{demand.name} is of {demand.gpus} GPUs; {topology.name} has {topology.num_compute}"
        )


def best_paths(topology: Topology, demand: Demand | None, seconds: float) -> FlowSchedule:
    """Return the best paths known, within the seconds where a program is needed.

    Raises
    ------
    ForestCollError
        As :func:`forestcoll.all_to_all.best_flow.best_flow`.
    """
    from forestcoll.all_to_all.best_flow import best_flow  # loads scipy

    return best_flow(topology, demand, seconds=seconds)


def exchange_bound(
    topology: Topology, demand: Demand | None, made: Iterable[Schedule | None]
) -> UpperBound | None:
    """Bound the rate of an all-to-all or a demand, by prices of the links.

    Parameters
    ----------
    made : iterable of schedules
        The prices of a flow schedule among them save the search for some.

    Returns
    -------
    UpperBound or None
        None if no prices are found in time.
    """
    flows = (one for one in made if isinstance(one, FlowSchedule) and one.price)
    bound = _bound(topology, demand, next(flows, None))
    if bound is None or not bound.inverse_rate:
        return None
    size = topology.num_compute if demand is None else demand.bytes
    return UpperBound(size / bound.inverse_rate, "prices of the links")


def _bound(
    topology: Topology, demand: Demand | None, made: FlowSchedule | None
) -> PriceBound | None:
    if made is not None:
        return PriceBound.of(topology, demand, made.price)
    try:
        from forestcoll.all_to_all.multicast_bounds import demand_bounds  # loads scipy

        return demand_bounds(topology, demand, seconds=LP_TIME_LIMIT_S).least
    except (SolverError, TimeLimitError):
        return None
