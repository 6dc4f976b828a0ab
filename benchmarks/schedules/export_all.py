"""Every schedule that a method claims on at most 64 GPUs, exported and executed.

Each goes through verify, lowering, export to MSCCL (or, with ``--format mscclpp``, to MSCCL++) and
the interpreter, in place and out of place where it may be called so; small ones also through the
tests' own slow machine. Run from the repository's root:
``python -m benchmarks.schedules.export_all [--format NAME] [--method NAME] [--most GPUS]``.
Prints a line for each that does not come out right, and counts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from baselines.interface.method import Schedule
from forestcoll import generate, lower
from forestcoll.errors import ExportError, ForestCollError, UnsupportedError
from forestcoll.schedule import verify
from forestcoll.schedule.export import MscclOptions, MscclppOptions, to_msccl, to_mscclpp
from forestcoll.schedule.interpret import interpret, interpret_plan
from forestcoll.schedule.msccl import parse_algorithm, written_algorithm
from forestcoll.schedule.mscclpp import parse_plan, written_plan
from forestcoll.schedule.program import Program
from forestcoll.schedule.steps import REDUCTIONS
from tests.baselines.claims import CLAIMS, TOPOLOGIES, load, run
from tests.schedule.made import run_mscclpp
from tests.schedule.made.run_msccl import RIGHT, carried_out

__all__ = ["main", "outcome"]

MOST_GPUS = 64
SLOWLY = 1_000  # transfers in all instances, up to which the slow machine is tried, too
OURS = "forestcoll"
COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce")


Export = Callable[[Program, bool], str]
"""Exports a program, in place or not, and executes it; says how that comes out."""


def cases() -> Iterator[tuple[str, str, str]]:
    """Yield methods, collectives and topologies, our own first."""
    for collective in COLLECTIVES:
        for name in TOPOLOGIES:
            yield OURS, collective, name
    for method, claims in CLAIMS.items():
        for collective, claim in claims.items():
            for name in claim.does:
                yield method, collective, name


def outcome(method: str, collective: str, name: str, export: Export) -> str:
    """Make a schedule, export it, execute it, and say how it comes out."""
    topology = load(name)
    if method == OURS:
        root = 0 if collective in ("broadcast", "reduce") else None
        schedule: Schedule = generate(topology, collective=collective, root=root)
    else:
        schedule = run(method, collective, topology)
    verify(schedule)
    try:
        program = lower(schedule)
    except UnsupportedError as error:
        return f"not lowered: {error}"
    modes = (False, True) if collective in ("allgather", "broadcast") else (False,)
    return "; ".join(dict.fromkeys(export(program, in_place) for in_place in modes))


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


def main() -> None:
    """Try all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", help="Of this method alone.")
    parser.add_argument("--format", default="msccl", choices=EXPORTS)
    parser.add_argument("--most", type=int, default=MOST_GPUS, help="GPUs of a topology.")
    parser.add_argument("--out", type=Path, default=Path("/dev/stdout"))
    asked = parser.parse_args()
    counts, began = Counter[str](), time.monotonic()
    with asked.out.open("w", encoding="utf-8") as out:
        for method, collective, name in cases():
            if asked.method not in (None, method) or load(name).num_compute > asked.most:
                continue
            print(f"{sum(counts.values())}: {method} {collective} {name}", file=sys.stderr)
            try:
                said = outcome(method, collective, name, EXPORTS[asked.format])
            except ForestCollError as error:
                said = f"not made: {error}"
            counts[f"{method} {said if said == RIGHT else said.split(':')[0]}"] += 1
            if said != RIGHT:
                print(f"{method} {collective} {name}: {said}", file=out, flush=True)
        for line, many in sorted(counts.items()):
            print(f"{many:5} {line}", file=out)
        print(f"{sum(counts.values())} in {time.monotonic() - began:.0f} s", file=out, flush=True)


if __name__ == "__main__":
    main()
