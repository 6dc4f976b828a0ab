"""Headers of schedule files: version, network, claims and weights; written and parsed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.collective import collective_of
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.allreduce import Allreduce, AnyForest, AnySchedule
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.files.bound_document import (
    bound_document,
    parse_bound,
    parse_prices,
    prices_document,
)
from forestcoll.schedule.files.fields import (
    Record,
    check_fields,
    fraction,
    maker,
    node_positions,
    one,
    refuse,
    weights_of,
    whole,
    wrong,
)
from forestcoll.schedule.files.plain_data import Decimal
from forestcoll.schedule.files.plan_document import parse_plan, plan_document
from forestcoll.schedule.files.stepwise_document import head_of_flows, head_of_steps
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.protocols import Claims
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.time_plan import TimePlan
from forestcoll.topology.format import topology_document, topology_from_document
from forestcoll.topology.model import Topology
from forestcoll.topology.reading.documents import Document

__all__ = [
    "FORMAT", "PLANNED_VERSION", "ROTATED_VERSION", "STEPWISE_VERSION", "VERSION", "Head",
    "checked", "claimed_bound", "head_document", "parse_head", "parse_topology", "phase_document",
    "stepwise_form",
]  # fmt: skip


FORMAT = "forestcoll-schedule"


VERSION = 1
"""Version of files that hold forests and allreduces of them."""


STEPWISE_VERSION = 2
"""Version of files that hold step schedules and flow schedules."""


PLANNED_VERSION = 3
"""Version of files that hold forests with time plans, and allreduces of them."""


ROTATED_VERSION = 4
"""Version of binary files whose factored forests keep rotations of trees."""


_COLLECTIVES = ("allgather", "reduce-scatter", "broadcast", "reduce")


_OPTIMUM = ("inverse_rate", "k", "congestion", "cut")


def stepwise_form(document: Record) -> str:
    """Return the form of a file of the second version: steps or flows.

    Raises InvalidScheduleError.
    """
    form = document.get("form")
    if form not in ("steps", "flows"):
        wrong("form", form, "'steps' or 'flows'")
    return str(form)


def claimed_bound(document: Record, topology: Topology) -> AllreduceBound | None:
    """Return the bound of an allreduce, if the file claims one."""
    if document.get("bound") is None:
        return None
    return parse_bound(one(document, "bound", dict), topology)


@dataclass(frozen=True)
class Head:
    """The head of a schedule, without trees and routes, as the fields of a forest."""

    topology: Topology
    method: str
    k: int
    congestion: Fraction
    optimum: Optimum | None
    weights: tuple[int, ...]
    reduction: bool
    plan: TimePlan | None = None

    def shared(self) -> dict[str, Any]:
        """Return the fields that forests of all forms have.

        Raises InvalidScheduleError if there is a plan, which only explicit forests have.
        """
        if self.plan is not None:
            refuse("only trees between GPUs have a plan; leave it out")
        return {field.name: getattr(self, field.name) for field in fields(self)[:-1]}


def parse_topology(document: Record) -> Topology:
    """Return the network inside a file."""
    return topology_from_document(Document(one(document, "topology", dict), "topology"))


def parse_head(document: Record, topology: Topology) -> Head:
    """Return the head of a forest."""
    collective = one(document, "collective", str)
    if collective not in _COLLECTIVES:
        wrong("collective", collective, f"one of {', '.join((*_COLLECTIVES, 'allreduce'))}")
    reduction = collective in ("reduce-scatter", "reduce")
    weights = weights_of(document, topology)
    if (due := collective_of(weights, reduction)) != collective:
        wrong("collective", collective, f"{due!r}, by the weights")
    method = maker(document)
    congestion = fraction(document, "congestion")
    _check_decimal(document, congestion)
    k = whole(document, "k")
    claim = _optimum(document, topology, weights, reduction)
    plan = parse_plan(document)
    return Head(topology, method, k, congestion, claim, weights, reduction, plan)


def checked(data: Any) -> Record:
    """Check that data is a schedule of a supported version."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        refuse(f'not a schedule; a schedule is a JSON object with "format": "{FORMAT}"')
    known = (VERSION, STEPWISE_VERSION, PLANNED_VERSION, ROTATED_VERSION)
    if data.get("version") not in known or isinstance(data["version"], bool):
        *others, last = known
        versions = f"{', '.join(map(str, others))} or {last}"
        wrong("version", data.get("version"), f"{versions}, the versions this release reads")
    return data


def _check_decimal(document: Record, congestion: Fraction) -> None:
    """Check that the decimal next to the exact congestion is the nearest float."""
    found = document["congestion_decimal"]
    if type(found) not in (Decimal, int) or float(str(found)) != float(congestion):
        wrong("congestion_decimal", found, f"{float(congestion)}, which is {congestion}")


def _optimum(
    document: Record, topology: Topology, weights: tuple[int, ...], reduction: bool
) -> Optimum | None:
    if document["optimum"] is None:
        return None
    claim = one(document, "optimum", dict)
    check_fields([claim], _OPTIMUM, lambda _: "optimum.", ("prices",))
    cut = one(claim, "cut", list, "optimum.")
    prices = one(claim, "prices", dict, "optimum.") if "prices" in claim else None
    return Optimum(
        topology=topology,
        inverse_rate=fraction(claim, "inverse_rate", "optimum."),
        cut=tuple(node_positions([cut], topology, lambda _: "optimum.cut").tolist()),
        k=whole(claim, "k", "optimum."),
        congestion=fraction(claim, "congestion", "optimum."),
        weights=weights,
        reduction=reduction,
        prices=None if prices is None else parse_prices(prices, topology, weights, reduction),
    )


def head_document(schedule: AnySchedule) -> dict[str, Any]:
    """Return the head as JSON data; :mod:`forestcoll.schedule.files.parsing` reads it.

    The head of an allreduce contains a head for each phase.
    """
    topology = topology_document(schedule.topology)
    if isinstance(schedule, StepSchedule | FlowSchedule):
        whole = {"format": FORMAT, "version": STEPWISE_VERSION}
        if isinstance(schedule, StepSchedule):
            return whole | {"form": "steps", **head_of_steps(schedule), "topology": topology}
        return whole | {"form": "flows", **head_of_flows(schedule), "topology": topology}
    parts = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    whole = {"format": FORMAT, "version": max(map(_version, parts))}
    if isinstance(schedule, Allreduce):
        whole |= {"collective": schedule.collective, "topology": topology}
        if schedule.bound is not None:
            whole["bound"] = bound_document(schedule.bound)
        reduce, gather = phase_document(schedule.reduce), phase_document(schedule.gather)
        return whole | {"reduce": reduce, "gather": gather}
    return whole | phase_document(schedule, topology=topology)


def _version(forest: AnyForest) -> int:
    if isinstance(forest, FactoredForest):
        return ROTATED_VERSION if forest.shapes.is_rotated else VERSION
    return VERSION if getattr(forest, "plan", None) is None else PLANNED_VERSION


def phase_document(forest: Claims, **topology: Any) -> dict[str, Any]:
    """Return the head of one forest; the topology, if given, comes before the optimum.

    Weights are omitted if all are 1.
    """
    document: dict[str, Any] = {
        "collective": forest.collective,
        "method": forest.method,
        "k": forest.k,
        "congestion": str(forest.congestion),
        "congestion_decimal": float(forest.congestion),
    }
    if set(forest.weights) != {1}:
        document["weights"] = list(forest.weights)
    claim = forest.optimum
    document |= topology
    document["optimum"] = claim and {
        "inverse_rate": str(claim.inverse_rate),
        "k": claim.k,
        "congestion": str(claim.congestion),
        "cut": [forest.topology.nodes[i].name for i in claim.cut],
    }
    if claim is not None and claim.prices is not None:
        document["optimum"]["prices"] = prices_document(claim.prices)
    plan = getattr(forest, "plan", None)
    if plan is not None:
        document["plan"] = plan_document(plan)
    return document
