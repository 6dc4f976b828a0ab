"""Figures of a schedule of any kind, for comparison: kind, trees, depth, rates and link loads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeGuard

from forestcoll.schedule import cost, makespan_s_per_gb, synchronous
from forestcoll.schedule.allreduce import Allreduce, AnySchedule, TreeSchedule
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.steps import StepSchedule
from forestcoll.tree_latency import latency

__all__ = ["Measured", "measured"]

Ends = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of a schedule; None where its kind has none.

    Parameters
    ----------
    kind : str
        "Forest", "Allreduce of FactoredForest" and so on.
    k : tuple of int, optional
        Trees per unit of weight, of each phase.
    trees, distinct_trees, depth : int, optional
        For an allreduce, of both phases together; the depth is in hops from GPU to GPU.
    steps : int, optional
        Number of successive steps; a forest advances one hop in each.
    algbw_gb_s : Fraction, optional
        Pipelined rate; None if nothing moves.
    synchronous_gb_s : Fraction, optional
        Rate in synchronous steps.
    at_most_gb_s : Fraction, optional
        The bound stored in the schedule; ``verify`` proves it.
    makespan_s_per_gb : Fraction, optional
        End of a clocked schedule.
    loads : mapping of (str, str) to Fraction
        The share of the data over each link, by the names of its ends.
    """

    kind: str
    method: str
    collective: str
    gpus: int
    k: tuple[int, ...] | None
    trees: int | None
    distinct_trees: int | None
    depth: int | None
    average_depth: Fraction | None
    steps: int | None
    algbw_gb_s: Fraction | None
    synchronous_gb_s: Fraction | None
    at_most_gb_s: Fraction | None
    makespan_s_per_gb: Fraction | None
    loads: Mapping[Ends, Fraction] = field(repr=False)


def measured(schedule: AnySchedule) -> Measured:
    """Return the figures of a schedule that does what it claims.

    Examples
    --------
    >>> from forestcoll import generate, load_topology
    >>> found = measured(generate(load_topology("ring:nodes=4")).schedule)
    >>> found.kind, found.depth, str(found.algbw_gb_s), str(found.loads["gpu0", "gpu1"])
    ('Forest', 2, '8/3', '3/8')
    """
    phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    forests = [one for one in phases if not isinstance(one, StepSchedule | FlowSchedule)]
    trees = latency(schedule, physical=False) if _has_trees(schedule) else None
    stepping = None if _has_no_steps(schedule) else synchronous(schedule)
    algbw, loads = _pipelined(schedule)
    return Measured(
        kind=_kind(schedule),
        method=" and ".join(dict.fromkeys(one.method for one in phases)),
        collective=str(schedule.collective),
        gpus=schedule.topology.num_compute,
        k=tuple(one.k for one in forests) or None,
        trees=trees.trees if trees else None,
        distinct_trees=trees.distinct_trees if trees else None,
        depth=trees.depth if trees else None,
        average_depth=trees.average_depth if trees else None,
        steps=stepping.steps if stepping else None,
        algbw_gb_s=algbw,
        synchronous_gb_s=stepping.algbw_gb_s if stepping and stepping.time_s_per_gb else None,
        at_most_gb_s=_bound(schedule),
        makespan_s_per_gb=makespan_s_per_gb(schedule),
        loads=loads,
    )


def _kind(schedule: AnySchedule) -> str:
    name = type(schedule).__name__
    return f"{name} of {_kind(schedule.gather)}" if isinstance(schedule, Allreduce) else name


def _has_trees(schedule: AnySchedule) -> TypeGuard[TreeSchedule]:
    return not isinstance(schedule, StepSchedule | FlowSchedule)


def _has_no_steps(schedule: AnySchedule) -> bool:
    """Whether its steps are unknown: a flow schedule, or trees in factored form."""
    phase = schedule.gather if isinstance(schedule, Allreduce) else schedule
    return isinstance(phase, FlowSchedule | FactoredForest)


def _pipelined(schedule: AnySchedule) -> tuple[Fraction | None, dict[Ends, Fraction]]:
    """Return algbw and the loads of the links; a single GPU sends nothing."""
    topology = schedule.topology
    names = [node.name for node in topology.nodes]
    ends = [(names[link.tail], names[link.head]) for link in topology.links]
    if topology.num_compute == 1:
        return None, dict.fromkeys(ends, Fraction(0))
    taken = cost(schedule)
    shares = (Fraction(load, taken.whole) for load in taken.loads)
    return taken.algbw_gb_s, dict(zip(ends, shares, strict=True))


def _bound(schedule: AnySchedule) -> Fraction | None:
    if isinstance(schedule, StepSchedule | FlowSchedule):
        return None
    bound = schedule.bound if isinstance(schedule, Allreduce) else schedule.optimum
    return None if bound is None or schedule.topology.num_compute == 1 else bound.algbw_gb_s
