"""The peers by name, all called alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from baselines import multitree, ring
from forestcoll.schedule.forest import Forest

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True, slots=True)
class Method:
    """A way to make an allgather schedule for a topology.

    Parameters
    ----------
    name : str
        As experiments and results call it, and as its forests name their ``method``.
    summary : str
        What it does, in a line.
    source : str
        What it reimplements.
    generate : callable
        Called as ``generate(topology, **parameters)``; returns a forest, or raises
        UnsupportedError for what the method cannot do.
    notes : str
        What differs from the source or is left out.
    """

    name: str
    summary: str
    source: str
    generate: Callable[..., Forest] = field(repr=False)
    notes: str = ""


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        method.name: method
        for method in (
            Method(
                name="ring",
                summary="rings through all boxes, one per NIC",
                source="NCCL and RCCL ring allgather",
                generate=ring.generate,
                notes="direct links (xGMI): rings are searched for, not RCCL's hand-made ones",
            ),
            Method(
                name="multitree",
                summary="greedy trees from all roots, grown step by step",
                source="Huang et al., MultiTree (ISCA 2021), as in ForestColl section 6.5",
                generate=multitree.generate,
                notes="unit = slowest link; trees flow at once instead of step by step",
            ),
        )
    }
)
"""Every baseline by its name."""
