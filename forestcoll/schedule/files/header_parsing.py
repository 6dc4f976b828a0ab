"""Parser of the headers of schedule files: version, network and claims."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from forestcoll.problem.allreduce_bound import AllreduceBound
from forestcoll.problem.collective import collective_of
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.files.bound_document import parse_bound, parse_prices
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
from forestcoll.topology.format import topology_from_document
from forestcoll.topology.model import Topology
from forestcoll.topology.reading.documents import Document

__all__ = [
    "FORMAT",
    "STEPWISE_VERSION",
    "VERSION",
    "Head",
    "checked",
    "claimed_bound",
    "parse_head",
    "parse_topology",
    "stepwise_form",
]


FORMAT = "forestcoll-schedule"


VERSION = 1
"""Version of files that hold forests and allreduces of them."""


STEPWISE_VERSION = 2
"""Version of files that hold step schedules and flow schedules."""


_COLLECTIVES = ("allgather", "reduce-scatter", "broadcast", "reduce")


_OPTIMUM = ("inverse_rate", "k", "congestion", "cut")


def stepwise_form(document: Record) -> str:
    """Return the form of a file of the second version: steps or flows.

    Raises
    ------
    InvalidScheduleError
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
    return Head(topology, method, k, congestion, claim, weights, reduction)


def checked(data: Any) -> Record:
    """Check that data is a schedule of a supported version."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        refuse(f'not a schedule; a schedule is a JSON object with "format": "{FORMAT}"')
    known = (VERSION, STEPWISE_VERSION)
    if data.get("version") not in known or isinstance(data["version"], bool):
        versions = " or ".join(map(str, known))
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
