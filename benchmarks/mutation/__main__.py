"""Mutation testing of this project.

    python -m benchmarks.mutation python problem --most 60 --seed 1 --out FILE
    python -m benchmarks.mutation native --most 80 --out FILE
    python -m benchmarks.mutation survivors FILE
    python -m benchmarks.mutation table

``python`` mutates the modules of an area (verify, problem, core, what_if, bounds, expected) and
runs the area's tests on each mutant; ``native`` mutates the C++ stages, which takes seconds each;
``survivors`` lists the mutants that no test killed; ``table`` writes README.md from stored files.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutation.areas import AREAS, ROOT, Area
from benchmarks.mutation.mutants import Mutants, sampled
from benchmarks.mutation.stored import Run, Tried, load_reasons, load_run, save_run

RESULTS = Path(__file__).parent / "runs"


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
    python.add_argument("--module", default="", help="only modules whose path has this text")
    python.add_argument("--jobs", type=int, default=1, help="forks at a time")
    python.add_argument("--most-s", type=float, default=1e9, help="of tests for one mutant")
    python.add_argument("--leave-out", nargs="*", default=[], help="tests, by their pytest names")
    python.set_defaults(work=_python)
    native = commands.add_parser("native", help="mutate the C++ stages")
    native.add_argument(
        "--source", type=Path, help="sources to change; a copy of the project's if not given"
    )
    native.add_argument("--build", type=Path, default=ROOT / "build" / "mutation" / "build")
    native.add_argument("--module", default="", help="only files whose path has this text")
    native.set_defaults(work=_native)
    for command in (python, native):
        command.add_argument("--most", type=int, default=60, help="mutants of a module, sampled")
        command.add_argument("--seed", type=int, default=1, help="of the sample")
        command.add_argument("--out", type=Path, required=True, help="file of results")
    survivors = commands.add_parser("survivors", help="list what no test killed")
    survivors.add_argument("file", type=Path)
    survivors.set_defaults(work=_survivors)
    return parser


def _python(given: argparse.Namespace) -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not survive a fork
    from benchmarks.mutation.restart import tried_anew
    from benchmarks.mutation.session import Plan, run_suite

    area: Area = AREAS[given.area]
    paths = [path for path in area.modules() if given.module in str(path.relative_to(ROOT))]
    made = {path: Mutants(path.read_text(encoding="utf-8")).all for path in paths}
    plans = [
        Plan(path, tuple(sampled(made[path], given.most, f"{given.seed} {path.relative_to(ROOT)}")))
        for path in paths
    ]
    out = os.fdopen(os.dup(1), "w")
    left_out = [option for name in given.leave_out for option in ("--deselect", name)]
    results = run_suite(
        plans,
        [*area.tests, *left_out],
        given.jobs,
        given.most_s,
        lambda line: print(line, file=out, flush=True),
    )
    for i, one in enumerate(results):
        if one.status == "restart":
            results[i] = tried_anew(one, area.tests, seconds=900)
            print(f"anew: {results[i].status}: {one.mutant.name}", file=out, flush=True)
    tried = tuple(
        Tried(
            str(Path(one.path).relative_to(ROOT)),
            one.mutant.name,
            one.mutant.kind,
            one.mutant.first,
            one.status,
            one.by,
        )
        for one in results
    )
    names = {str(path.relative_to(ROOT)): len(found) for path, found in made.items()}
    save_run(given.out, Run(given.area, given.seed, given.most, names, tried))
    killed = sum(one.killed for one in tried)
    print(f"{killed} of {len(tried)} mutants killed", file=out, flush=True)


def _native(given: argparse.Namespace) -> None:
    from benchmarks.mutation.native import NativeRun, stage_sources

    source = given.source or ROOT / "build" / "mutation" / "source"
    run = NativeRun(source.resolve(), given.build.resolve(), lambda line: print(line, flush=True))
    if given.source is None:
        run.copy()
    run.prepare()
    sources = [path for path in stage_sources() if given.module in str(path)]
    made: dict[str, int] = {}
    tried: list[Tried] = []
    for path, count, one in run.tried(sources, given.most, given.seed):
        made[str(path)] = count
        tried.append(one)
        save_run(given.out, Run("native", given.seed, given.most, made, tuple(tried)))


def _survivors(given: argparse.Namespace) -> None:
    run, reasons = load_run(given.file), load_reasons()
    for one in run.survivors(reasons):
        print(f"{one.module}:{one.line} [{one.kind}, {one.status}] {one.name}")
    for module in run.made:
        score = run.score(module, reasons)
        print(f"{score.percent:5.1f} % {score} {module}")


if __name__ == "__main__":
    main()
