"""What a schedule file says of a forest apart from its trees and routes, whatever its format."""

from __future__ import annotations

from typing import Any

from forestcoll.schedule.naming import Claims
from forestcoll.schedule.parsing import FORMAT, VERSION
from forestcoll.topology.format import topology_document

__all__ = ["head_document"]


def head_document(forest: Claims) -> dict[str, Any]:
    """Return the head as JSON data; :mod:`forestcoll.schedule.parsing` reads it."""
    claim = forest.optimum
    return {
        "format": FORMAT,
        "version": VERSION,
        "collective": "allgather",
        "method": forest.method,
        "k": forest.k,
        "congestion": str(forest.congestion),
        "congestion_decimal": float(forest.congestion),
        "topology": topology_document(forest.topology),
        "optimum": None
        if claim is None
        else {
            "inverse_rate": str(claim.inverse_rate),
            "k": claim.k,
            "congestion": str(claim.congestion),
            "cut": [forest.topology.nodes[i].name for i in claim.cut],
        },
    }
