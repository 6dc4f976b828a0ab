"""The bound of an allreduce as JSON data, in files of schedules: written, and read in form."""

from __future__ import annotations

from typing import Any

from forestcoll.problem.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.schedule.files.fields import (
    LARGEST,
    Record,
    check_fields,
    check_records,
    column,
    fraction,
    node_positions,
    numbers,
    of_type,
    one,
)
from forestcoll.topology.model import Topology

__all__ = ["bound_document", "parse_bound"]

_BOUND = ("algbw_gb_s", "copying", "sets", "potentials")
_SET = ("nodes", "gather", "reduce")
_POTENTIAL = ("switch", "gather", "reduce")


def bound_document(bound: AllreduceBound) -> Record:
    """Return a bound as JSON data; weights are left out where parts may be summed up anywhere."""
    names = [node.name for node in bound.topology.nodes]
    document: Record = {"algbw_gb_s": str(bound.algbw_gb_s), "copying": bound.copying}
    if bound.weights:
        document["weights"] = list(bound.weights)
    document["sets"] = [
        {"nodes": [names[v] for v in each.nodes], **_prices(each)} for each in bound.sets
    ]
    document["potentials"] = [
        {"switch": names[each.switch], **_prices(each)} for each in bound.potentials
    ]
    return document


def _prices(priced: PricedSet | Potential) -> dict[str, str]:
    return {"gather": str(priced.gather), "reduce": str(priced.reduce)}


def parse_bound(document: Record, topology: Topology) -> AllreduceBound:
    """Read a bound; nothing in it is added up.

    Raises
    ------
    InvalidScheduleError
        If it is not in the format.
    """
    check_fields([document], _BOUND, lambda _: "bound.", ("weights",))
    weights: list[int] = of_type(document.get("weights", []), int, lambda i: f"bound.weights[{i}]")
    numbers(weights, 0, LARGEST, lambda i: f"bound.weights[{i}]")
    sets: list[Record] = one(document, "sets", list, "bound.")
    potentials: list[Record] = one(document, "potentials", list, "bound.")
    check_records(sets, _SET, _set)
    check_records(potentials, _POTENTIAL, _potential)
    lists = column(sets, "nodes", list, _set)
    return AllreduceBound(
        topology=topology,
        algbw_gb_s=fraction(document, "algbw_gb_s", "bound."),
        sets=tuple(
            PricedSet(
                tuple(sorted(_positions(nodes, topology, f"{_set(i)}.nodes"))),
                fraction(sets[i], "gather", f"{_set(i)}."),
                fraction(sets[i], "reduce", f"{_set(i)}."),
            )
            for i, nodes in enumerate(lists)
        ),
        potentials=tuple(
            Potential(
                _positions([each["switch"]], topology, f"{_potential(i)}.switch")[0],
                fraction(each, "gather", f"{_potential(i)}."),
                fraction(each, "reduce", f"{_potential(i)}."),
            )
            for i, each in enumerate(potentials)
        ),
        copying=one(document, "copying", bool, "bound."),
        weights=tuple(weights),
    )


def _positions(names: list[Any], topology: Topology, where: str) -> list[int]:
    positions: list[int] = node_positions([names], topology, lambda _: where).tolist()
    return positions


def _set(i: int) -> str:
    return f"bound.sets[{i}]"


def _potential(i: int) -> str:
    return f"bound.potentials[{i}]"
