"""Writer of the headers of schedule files: network, claims and weights, in any format."""

from __future__ import annotations

from typing import Any

from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.files.bound_document import bound_document, prices_document
from forestcoll.schedule.files.header_parsing import FORMAT, STEPWISE_VERSION, VERSION
from forestcoll.schedule.files.stepwise_document import head_of_flows, head_of_steps
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.protocols import Claims
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.format import topology_document

__all__ = ["head_document", "phase_document"]


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
    whole = {"format": FORMAT, "version": VERSION}
    if isinstance(schedule, Allreduce):
        whole |= {"collective": schedule.collective, "topology": topology}
        if schedule.bound is not None:
            whole["bound"] = bound_document(schedule.bound)
        reduce, gather = phase_document(schedule.reduce), phase_document(schedule.gather)
        return whole | {"reduce": reduce, "gather": gather}
    return whole | phase_document(schedule, topology=topology)


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
    return document
