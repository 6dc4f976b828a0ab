"""Checks that a method supports a collective and a topology."""

from __future__ import annotations

from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["GATHERING", "ROOTED", "check_supported", "check_whole"]

GATHERING = ("allgather", "reduce-scatter", "allreduce")
"""Collectives that an allgather forest provides."""

ROOTED = ("broadcast", "reduce", "allreduce")
"""Collectives that a broadcast forest provides."""


def check_supported(method: str, collective: str, supported: tuple[str, ...]) -> None:
    """Refuse a collective that a method does not support."""
    if collective not in supported:
        raise UnsupportedError(
            f"unsupported: {method} has no {collective}; it has {', '.join(supported)}"
        )


def check_whole(method: str, topology: Topology) -> None:
    """Refuse a topology with idle GPUs that forward, for methods that cannot use them."""
    if any(node.kind is NodeKind.RELAY for node in topology.nodes):
        raise UnsupportedError(
            f"unsupported: {topology.name} has GPUs outside of the group, which are neither ends "
            f"nor switches to {method}; ask for all GPUs, or take these out of the topology"
        )
