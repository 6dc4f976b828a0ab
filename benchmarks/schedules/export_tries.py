"""Export a program for a runtime and execute it, small ones also on the slow test machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from forestcoll.errors import ExportError, UnsupportedError
from forestcoll.runtimes.msccl import parse_algorithm, written_algorithm
from forestcoll.runtimes.msccl.exporter import MscclOptions, to_msccl
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.runtimes.mscclpp import parse_plan, written_plan
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions, to_mscclpp
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.schedule.program import Program
from forestcoll.schedule.steps import REDUCTIONS
from tests.schedule.made import run_mscclpp
from tests.schedule.made.run_msccl import RIGHT, carried_out

__all__ = ["EXPORTS", "RIGHT", "Export", "as_algorithm", "as_plan"]

SLOWLY = 1_000  # transfers in all instances, up to which the slow machine is tried, too

Export = Callable[[Program, bool], str]
"""Exports a program, in place or not, and executes it; says how that comes out."""


def as_plan(program: Program, in_place: bool) -> str:
    """Export a program to MSCCL++ and execute it."""
    try:
        plan = to_mscclpp(program, MscclppOptions(in_place=in_place))
    except UnsupportedError as error:
        return str(error)
    except ExportError as error:
        return f"limit: {error}"
    again = parse_plan(written_plan(plan)).plan
    if again != plan:
        return "WRONG: read as something else than was written"
    root = int(program.chunks.root[0]) if program.collective in ("broadcast", "reduce") else None
    for mode in {in_place, True} if program.collective in REDUCTIONS else {in_place}:
        called = replace(again, in_place=mode)
        wrong = [one for one in interpret_plan(called, root=root).findings if one.is_wrong]
        if wrong:
            return f"WRONG: {wrong[0].message}"
        chunks = plan.gpus[0].input_chunks
        if program.num_transfers * max(1, chunks // 64) <= SLOWLY:
            said = run_mscclpp.carried_out(called, launches=2, root=root or 0)
            if said != RIGHT:
                return f"WRONG: {said}"
    return RIGHT


def as_algorithm(program: Program, in_place: bool) -> str:
    """Export a program to MSCCL and execute it."""
    try:
        algorithm = to_msccl(program, MscclOptions(in_place=in_place))
    except UnsupportedError as error:
        return str(error)
    except ExportError as error:
        return f"limit: {error}"
    again = parse_algorithm(written_algorithm(algorithm)).algorithm
    if again != algorithm:
        return "WRONG: read as something else than was written"
    root = int(program.chunks.root[0]) if program.collective in ("broadcast", "reduce") else None
    wrong = [one for one in interpret(again, root=root).findings if one.is_wrong]
    if wrong:
        return f"WRONG: {wrong[0].message}"
    if program.num_transfers * max(1, algorithm.chunks_per_loop // 64) <= SLOWLY:
        for mode, may in ((True, algorithm.in_place), (False, algorithm.out_of_place)):
            said = carried_out(algorithm, mode, passes=1) if may else RIGHT
            if said != RIGHT:
                return f"WRONG: {said}"
    return RIGHT


EXPORTS: Mapping[str, Export] = {"msccl": as_algorithm, "mscclpp": as_plan}
