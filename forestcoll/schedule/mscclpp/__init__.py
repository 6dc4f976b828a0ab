"""MSCCL++'s execution plans as data, whoever wrote them: what exporters write, interpreters read.

To read: ``execution_plan`` (what such a file says), ``plan_reading`` (from a file or a text),
``plan_writing``.
"""

from forestcoll.schedule.mscclpp.execution_plan import (
    COLLECTIVES,
    KINDS,
    Loop,
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    RemoteBuffer,
    Span,
    SwitchGroup,
)
from forestcoll.schedule.mscclpp.plan_reading import PlanReading, parse_plan, read_plan
from forestcoll.schedule.mscclpp.plan_writing import written_plan

__all__ = [
    "COLLECTIVES",
    "KINDS",
    "Loop",
    "Operation",
    "Plan",
    "PlanGpu",
    "PlanReading",
    "PlanThreadblock",
    "RemoteBuffer",
    "Span",
    "SwitchGroup",
    "parse_plan",
    "read_plan",
    "written_plan",
]
