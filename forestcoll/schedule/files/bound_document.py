"""Bounds of schedules as JSON data: writing, and reading with checks of form."""

from __future__ import annotations

from typing import Any

from forestcoll.problem.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.problem.rate_bound import PricedCut, RateBound, SharedPrice, SwitchPrice
from forestcoll.schedule.files.fields import (
    LARGEST,
    Record,
    Where,
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

__all__ = ["bound_document", "parse_bound", "parse_prices", "prices_document"]

_BOUND = ("algbw_gb_s", "copying", "sets", "potentials")
_SET = ("nodes", "gather", "reduce")
_POTENTIAL = ("switch", "gather", "reduce")
_PRICES = ("cuts", "switches", "shared")
_CUT, _SWITCH, _SHARED = ("nodes", "price"), ("switch", "price"), ("name", "price")


def bound_document(bound: AllreduceBound) -> Record:
    """Return a bound as JSON data; free roots have no weights."""
    names = [node.name for node in bound.topology.nodes]
    document: Record = {"algbw_gb_s": str(bound.algbw_gb_s), "copying": bound.multicast}
    if bound.weights:
        document["weights"] = list(bound.weights)
    document["sets"] = [
        {"nodes": [names[v] for v in each.nodes], **_prices(each)} for each in bound.sets
    ]
    document["potentials"] = [
        {"switch": names[each.switch], **_prices(each)} for each in bound.potentials
    ]
    if bound.shared:
        document["shared"] = [
            {"name": each.name, "price": str(each.price)} for each in bound.shared
        ]
    return document


def _prices(priced: PricedSet | Potential) -> dict[str, str]:
    return {"gather": str(priced.gather), "reduce": str(priced.reduce)}


def parse_bound(document: Record, topology: Topology) -> AllreduceBound:
    """Read a bound; check its form only.

    Raises InvalidScheduleError if it is not in the format.
    """
    check_fields([document], _BOUND, lambda _: "bound.", ("weights", "shared"))
    weights: list[int] = of_type(document.get("weights", []), int, lambda i: f"bound.weights[{i}]")
    numbers(weights, 0, LARGEST, lambda i: f"bound.weights[{i}]")
    sets: list[Record] = one(document, "sets", list, "bound.")
    potentials: list[Record] = one(document, "potentials", list, "bound.")
    check_records(sets, _SET, _set)
    check_records(potentials, _POTENTIAL, _potential)
    shared: list[Record] = one({"shared": [], **document}, "shared", list, "bound.")
    check_records(shared, _SHARED, _group)
    groups = column(shared, "name", str, _group)
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
        multicast=one(document, "copying", bool, "bound."),
        weights=tuple(weights),
        shared=tuple(
            SharedPrice(name, fraction(shared[i], "price", f"{_group(i)}."))
            for i, name in enumerate(groups)
        ),
    )


def _positions(names: list[Any], topology: Topology, where: str) -> list[int]:
    positions: list[int] = node_positions([names], topology, lambda _: where).tolist()
    return positions


def _set(i: int) -> str:
    return f"bound.sets[{i}]"


def _potential(i: int) -> str:
    return f"bound.potentials[{i}]"


def _group(i: int) -> str:
    return f"bound.shared[{i}]"


def prices_document(bound: RateBound) -> Record:
    """Return prices as JSON data."""
    names = [node.name for node in bound.topology.nodes]
    return {
        "cuts": [
            {"nodes": [names[v] for v in each.nodes], "price": str(each.price)}
            for each in bound.cuts
        ],
        "switches": [
            {"switch": names[each.switch], "price": str(each.price)} for each in bound.switches
        ],
        "shared": [{"name": each.name, "price": str(each.price)} for each in bound.shared],
    }


def parse_prices(
    document: Record, topology: Topology, weights: tuple[int, ...], reduction: bool
) -> RateBound:
    """Read prices; check their form only.

    Raises InvalidScheduleError if they are not in the format.
    """
    check_fields([document], _PRICES, lambda _: "optimum.prices.")
    cuts, switches, shared = (one(document, key, list, "optimum.prices.") for key in _PRICES)
    check_records(cuts, _CUT, _at("cuts"))
    check_records(switches, _SWITCH, _at("switches"))
    check_records(shared, _SHARED, _at("shared"))
    lists = column(cuts, "nodes", list, _at("cuts"))
    named = column(switches, "switch", str, _at("switches"))
    groups = column(shared, "name", str, _at("shared"))
    return RateBound(
        topology=topology,
        cuts=tuple(
            PricedCut(
                tuple(sorted(_positions(nodes, topology, f"{_at('cuts')(i)}.nodes"))),
                fraction(cuts[i], "price", f"{_at('cuts')(i)}."),
            )
            for i, nodes in enumerate(lists)
        ),
        switches=tuple(
            SwitchPrice(
                _positions([name], topology, f"{_at('switches')(i)}.switch")[0],
                fraction(switches[i], "price", f"{_at('switches')(i)}."),
            )
            for i, name in enumerate(named)
        ),
        shared=tuple(
            SharedPrice(name, fraction(shared[i], "price", f"{_at('shared')(i)}."))
            for i, name in enumerate(groups)
        ),
        weights=weights,
        reduction=reduction,
    )


def _at(key: str) -> Where:
    return lambda i: f"optimum.prices.{key}[{i}]"
