"""Interpretation of a plan for every kind of call: in place and out of place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from forestcoll.runtimes.interpretation.findings import Findings
from forestcoll.runtimes.mscclpp.execution_plan import COLLECTIVES, Plan
from forestcoll.runtimes.mscclpp.interpreter.plan_interpreter import interpret_plan

__all__ = ["interpret_calls"]

_REDUCTIONS = ("allreduce", "reduce", "reduce-scatter")


def interpret_calls(
    plan: Plan, *, root: int | None = None, most_blocks: int | None = None
) -> Iterator[Findings]:
    """Execute a plan for its intended calls: reductions in place and out of place, others one way.

    Parameters and errors are those of :func:`interpret_plan`.
    """
    both = COLLECTIVES.get(plan.collective) in _REDUCTIONS
    for in_place in (False, True) if both else (plan.in_place,):
        called = replace(plan, in_place=in_place)
        yield interpret_plan(called, root=root, most_blocks=most_blocks)
