"""Mutation testing of this project.

    python -m benchmarks.mutation python problem --most 60 --seed 1 --out FILE
    python -m benchmarks.mutation native --most 80 --out FILE
    python -m benchmarks.mutation survivors FILE
    python -m benchmarks.mutation merge FILE FILE --out FILE
    python -m benchmarks.mutation table

``python`` mutates the modules of an area (``areas``) and runs the area's tests on each mutant;
``native`` mutates the C++ stages, which takes seconds each;
``survivors`` lists the mutants that no test killed; ``merge`` joins files of results; ``table``
writes README.md from stored files.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutation.areas import AREAS, ROOT, Area
from benchmarks.mutation.mutants import Mutants, sampled
from benchmarks.mutation.session import Plan, Result
from benchmarks.mutation.stored import Run, Tried, load_reasons, load_run, merged, save_run


def main(arguments: Sequence[str] | None = None) -> None:
    given = _parser().parse_args(arguments)
    given.work(given)


def _parser() -> argparse.ArgumentParser:
    text = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m benchmarks.mutation", description=__doc__, formatter_class=text
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    python = commands.add_parser("python", help="mutate Python modules")
    python.add_argument("area", choices=AREAS)
    python.add_argument("--module", nargs="*", default=[""], help="only paths with such a text")
    python.add_argument("--tests", nargs="*", help="in the place of those of the area")
    python.add_argument("--again", type=Path, help="only what survived in this file of results")
    python.add_argument("--jobs", type=int, default=1, help="forks at a time")
    python.add_argument("--most-s", type=float, default=1e9, help="of tests for one mutant")
    python.add_argument(
        "--at-import", type=int, default=0, help="mutants of code that runs at import, a module"
    )
    python.add_argument("--leave-out", nargs="*", default=[], help="tests, by their pytest names")
    python.set_defaults(work=_python)
    native = commands.add_parser("native", help="mutate the C++ stages")
    native.add_argument(
        "--source", type=Path, help="sources to change; a copy of the project's if not given"
    )
    native.add_argument("--build", type=Path, default=ROOT / "build" / "mutation" / "build")
    native.add_argument("--module", nargs="*", default=[""], help="only paths with such a text")
    native.add_argument("--again", type=Path, help="only what survived in this file of results")
    native.add_argument("--native-tests-only", action="store_true", help="not those in Python")
    native.set_defaults(work=_native)
    for command in (python, native):
        command.add_argument("--most", type=int, default=60, help="mutants of a module, sampled")
        command.add_argument("--seed", type=int, default=1, help="of the sample")
        command.add_argument("--out", type=Path, required=True, help="file of results")
    survivors = commands.add_parser("survivors", help="list what no test killed")
    survivors.add_argument("file", type=Path)
    survivors.set_defaults(work=_survivors)
    merge = commands.add_parser("merge", help="join files of results, the last of them wins")
    merge.add_argument("files", type=Path, nargs="+")
    merge.add_argument("--out", type=Path, required=True)
    merge.set_defaults(work=_merge)
    table = commands.add_parser("table", help="write the tables of README.md")
    table.set_defaults(work=_table)
    return parser


def _python(given: argparse.Namespace) -> None:
    os.environ.setdefault("FORESTCOLL_ALL_ROUNDS", "1")  # a mutant may need any of them
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not survive a fork
    from benchmarks.mutation.restart import tried_anew
    from benchmarks.mutation.session import run_suite

    area: Area = AREAS[given.area]
    before = load_run(given.again) if given.again else None
    plans, made = _plans(area, given, before)
    left_out = [option for name in given.leave_out for option in ("--deselect", name)]
    out = os.fdopen(os.dup(1), "w")

    def say(line: str) -> None:
        print(line, file=out, flush=True)

    def keep(results: Sequence[Result]) -> None:
        tried = [_tried(one) for one in results]
        again = {(one.module, one.name) for one in tried}
        old = before.tried if before else ()
        kept = tuple(one for one in old if (one.module, one.name) not in again)
        save_run(given.out, Run(given.area, given.seed, given.most, made, (*kept, *tried)))

    suite = given.tests or area.tests
    results = run_suite(plans, [*suite, *left_out], given.jobs, given.most_s, say, keep)
    for i, one in enumerate(results):
        if one.status == "restart" and (given.at_import or one.mutant.function):
            results[i] = tried_anew(one, suite, seconds=900)
            say(f"anew: {results[i].status}: {one.mutant.name}")
    keep(results)
    run = load_run(given.out)
    say(f"{sum(one.killed for one in run.tried)} of {len(run.tried)} mutants killed")


def _plans(
    area: Area, given: argparse.Namespace, before: Run | None
) -> tuple[list[Plan], dict[str, int]]:
    """Return which mutants to try, and how many each module has."""
    plans, made = [], {}
    left = {(one.module, one.name) for one in before.tried if not one.killed} if before else set()
    for path in area.modules():
        name = str(path.relative_to(ROOT))
        every = Mutants(path.read_text(encoding="utf-8")).all
        made[name] = len(every)
        if not any(text in name for text in given.module):
            continue
        if before:
            numbers = [one.number for one in every if (name, one.name) in left]
        else:
            numbers = sampled(every, given.most, given.at_import, f"{given.seed} {name}")
        plans.append(Plan(path, tuple(numbers)))
    return plans, made


def _tried(one: Result) -> Tried:
    module, mutant = str(Path(one.path).relative_to(ROOT)), one.mutant
    return Tried(module, mutant.name, mutant.kind, mutant.first, one.status, one.by)


def _native(given: argparse.Namespace) -> None:
    from benchmarks.mutation.native import NativeRun, stage_sources
    from benchmarks.mutation.native_mutants import mutants_of_text

    source = given.source or ROOT / "build" / "mutation" / "source"
    run = NativeRun(
        source.resolve(),
        given.build.resolve(),
        not given.native_tests_only,
        lambda line: print(line, flush=True),
    )
    if given.source is None:
        run.copy()
    run.prepare()
    before = load_run(given.again) if given.again else None
    made = before.made if before else {}
    tried = {(one.module, one.name): one for one in before.tried} if before else {}
    for path in stage_sources():
        name = str(path)
        if not any(text in name for text in given.module):
            continue
        made[name] = len(mutants_of_text((ROOT / path).read_text(encoding="utf-8")))
        left = {one.name for one in tried.values() if one.module == name and not one.killed}
        only = left if before else None
        for one in run.tried(path, len(left) if before else given.most, given.seed, only):
            tried[one.module, one.name] = one
            save_run(given.out, Run("native", given.seed, given.most, made, tuple(tried.values())))


def _table(given: argparse.Namespace) -> None:
    from benchmarks.mutation.table import write_tables

    write_tables()


def _merge(given: argparse.Namespace) -> None:
    save_run(given.out, merged([load_run(path) for path in given.files]))


def _survivors(given: argparse.Namespace) -> None:
    run, reasons = load_run(given.file), load_reasons()
    for one in run.survivors(reasons):
        print(f"{one.module}:{one.line} [{one.kind}, {one.status}] {one.name}")
    for module in run.made:
        score = run.score(module, reasons)
        print(f"{score.percent:5.1f} % {score} {module}")


if __name__ == "__main__":
    main()
