"""Which collectives a method does."""

from __future__ import annotations

from forestcoll.errors import UnsupportedError

__all__ = ["GATHERING", "ROOTED", "check_supported"]

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
