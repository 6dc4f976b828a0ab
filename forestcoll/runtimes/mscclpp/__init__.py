"""MSCCL++ execution plans as data, shared by the exporter and the interpreter.

To read: ``execution_plan`` (the content of a file), ``reading`` (from a file or a text),
``writing``, ``dsl_writing`` (as a program of MSCCL++'s DSL).
"""

from forestcoll.runtimes.mscclpp.dsl_writing import written_dsl
from forestcoll.runtimes.mscclpp.execution_plan import (
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
from forestcoll.runtimes.mscclpp.reading import PlanReading, parse_plan, read_plan
from forestcoll.runtimes.mscclpp.writing import written_plan

__all__ = [
    "COLLECTIVES", "KINDS", "Loop", "Operation", "Plan", "PlanGpu", "PlanReading",
    "PlanThreadblock", "RemoteBuffer", "Span", "SwitchGroup", "parse_plan", "read_plan",
    "written_dsl", "written_plan",
]  # fmt: skip
