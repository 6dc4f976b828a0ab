"""Checks that a method supports a collective and a topology."""

from __future__ import annotations

from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["GATHERING", "ROOTED", "check_supported", "check_whole"]

GATHERING = ("allgather", "reduce-scatter", "allreduce")
"""What can be done with an allgather forest."""

ROOTED = ("broadcast", "reduce", "allreduce")
"""What can be done with a broadcast forest."""


def check_supported(method: str, collective: str, supported: tuple[str, ...]) -> None:
    """Refuse a collective that a method does not do."""
    if collective not in supported:
        raise UnsupportedError(
            f"unsupported: {method} has no {collective}; it has {', '.join(supported)}"
        )


def check_whole(method: str, topology: Topology) -> None:
    """Refuse a topology with GPUs that only pass data on, for a method that has no use for them."""
    if any(node.kind is NodeKind.RELAY for node in topology.nodes):
        raise UnsupportedError(
            f"unsupported: {topology.name} has GPUs outside of the group, which are neither ends "
            f"nor switches to {method}; ask for all GPUs, or take these out of the topology"
        )
