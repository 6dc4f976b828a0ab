"""Methods that comparison tables name but that are not reimplemented: TTO.

Output:  an UnsupportedError with the reason, for any topology and collective.
Source:  Laskar et al., "Enhancing Collective Communication in MCM Accelerators for Deep Learning
         Training" (HPCA 2024), the abstract, and ForestColl table 2.

TTO (three tree overlap) performs allreduces only, on meshes of chips in one package, with three
disjoint trees for that shape. Its public code is part of a simulator of such meshes. It is no
method for a given network, and ForestColl does not compare with it either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from baselines.interface.method import Method
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.steps import COLLECTIVES, StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "NOT_REIMPLEMENTED", "refuse"]

NOT_REIMPLEMENTED: Mapping[str, str] = MappingProxyType(
    {
        "tto": (
            "three trees made for allreduces on meshes of chips in one package; no method for a "
            "given network"
        ),
    }
)
"""Reasons, by the registered name of the method."""


def refuse(name: str) -> Callable[[Topology, str], StepSchedule]:
    """Return a ``generate`` that always raises UnsupportedError."""

    def generate(topology: Topology, collective: str = "allgather") -> StepSchedule:
        raise UnsupportedError(f"unsupported: not reimplemented: {NOT_REIMPLEMENTED[name]}")

    return generate


METHODS = (
    Method(
        name="tto",
        summary="three overlapping trees on a mesh of chips",
        source="Laskar et al., TTO (HPCA 2024)",
        generate=refuse("tto"),
        collectives=COLLECTIVES,
        notes="not reimplemented",
    ),
)
