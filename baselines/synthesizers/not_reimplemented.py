"""Methods that comparison tables name but that are not reimplemented: SyCCL.

Output:  an UnsupportedError with the reason, for any topology and collective.
Source:  SyCCL: Cao et al., "SyCCL: Exploiting Symmetry for Efficient Collective Communication
         Scheduling" (SIGCOMM 2025), its public repository's description, and ForestColl section
         6.5.

SyCCL cuts a collective into small demands by *sketches* that follow the symmetry of the network,
solves each by MILP, and combines the results. Its public code uses another solver than the paper.
Its results depend on tuned sketches and time limits: ForestColl (section 6.5) reports failures on
all MI250 networks, and on A100 beyond 64 GPUs where SyCCL's paper reports 512. So a
reimplementation would not show what SyCCL reaches.
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
        "syccl": (
            "MILPs over sketches: what it finds depends on tuned sketches, the solver and its "
            "time limits, so that a reimplementation would not show what SyCCL reaches; its own "
            "code is public"
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
        name="syccl",
        summary="MILPs over sketches that follow the symmetry of the network",
        source="Cao et al., SyCCL (SIGCOMM 2025)",
        generate=refuse("syccl"),
        collectives=COLLECTIVES,
        notes="not reimplemented",
    ),
)
