"""The prices that prove an optimum as JSON data in schedule files: written, and read in form."""

from __future__ import annotations

from forestcoll.problem.rate_bound import PricedCut, RateBound, SharedPrice, SwitchPrice
from forestcoll.schedule.files.fields import (
    Record,
    Where,
    check_fields,
    check_records,
    column,
    fraction,
    node_positions,
    one,
)
from forestcoll.topology.model import Topology

__all__ = ["parse_prices", "prices_document"]

_PRICES = ("cuts", "switches", "shared")
_CUT, _SWITCH, _SHARED = ("nodes", "price"), ("switch", "price"), ("name", "price")


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
    """Read prices; nothing in them is added up.

    Raises
    ------
    InvalidScheduleError
        If they are not in the format.
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


def _positions(names: list[str], topology: Topology, where: str) -> list[int]:
    positions: list[int] = node_positions([names], topology, lambda _: where).tolist()
    return positions


def _at(key: str) -> Where:
    return lambda i: f"optimum.prices.{key}[{i}]"
