"""Write the tables of README.md from the stored runs and the reasons.

A run of an area is stored as ``runs/<area>-before.json`` and ``runs/<area>-after.json``: the same
mutants, tried on the tests as they were and as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.mutation.areas import AREAS
from benchmarks.mutation.stored import Reasons, Run, Score, load_reasons, load_run

__all__ = ["tables", "write_tables"]

HERE = Path(__file__).parent
START, END = "<!-- tables: begin -->", "<!-- tables: end -->"
NATIVE_GOAL = 85


def write_tables(readme: Path = HERE / "README.md", runs: Path = HERE / "runs") -> None:
    """Put the tables between the two marks of a page."""
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    found = tables(runs, load_reasons())
    readme.write_text(f"{before}{START}\n\n{found}\n{END}{after}", encoding="utf-8")


def tables(runs: Path, reasons: Reasons) -> str:
    """Return the scores of all areas, those of their modules, and the survivors."""
    pairs = [
        (load_run(path), load_run(path.with_name(path.name.replace("-before", "-after"))))
        for path in sorted(runs.glob("*-before.json"))
    ]
    parts = ["\n".join(_areas(pairs, reasons))]
    parts += ["\n".join(_modules(before, after, reasons)) for before, after in pairs]
    parts += ["\n".join(_equivalent(pairs, reasons)), "\n".join(_gaps(pairs, reasons))]
    return "\n\n".join(parts) + "\n"


def _areas(pairs: list[tuple[Run, Run]], reasons: Reasons) -> Iterator[str]:
    yield "| area | modules | mutants | tried | equivalent | before, % | after, % | goal, % |"
    yield "|---|---|---|---|---|---|---|---|"
    for before, after in pairs:
        names = _tried_modules(after)
        one, other = (
            Score.total(run.score(name, reasons) for name in names) for run in (before, after)
        )
        goal = AREAS[after.area].goal if after.area in AREAS else NATIVE_GOAL
        yield (
            f"| {after.area} | {len(names)} | {other.made} | {other.tried} | {other.equivalent} "
            f"| {one.percent:.1f} | {other.percent:.1f} | {goal} |"
        )


def _modules(before: Run, after: Run, reasons: Reasons) -> Iterator[str]:
    yield f"| {after.area} | mutants | tried | equivalent | killed before | after | after, % |"
    yield "|---|---|---|---|---|---|---|"
    for name in _tried_modules(after):
        one, other = before.score(name, reasons), after.score(name, reasons)
        yield (
            f"| `{name}` | {other.made} | {other.tried} | {other.equivalent} | {one.killed} "
            f"| {other.killed} | {other.percent:.1f} |"
        )


def _tried_modules(run: Run) -> list[str]:
    return [name for name in run.made if any(one.module == name for one in run.tried)]


def _equivalent(pairs: list[tuple[Run, Run]], reasons: Reasons) -> Iterator[str]:
    yield "| mutants that no test can notice | why |"
    yield "|---|---|"
    for _, after in pairs:
        for one in after.tried:
            why = reasons.get(one.module, {}).get(one.name)
            if why and not one.killed:
                yield f"| `{one.module}` {_cell(one.name)} | {why} |"


def _gaps(pairs: list[tuple[Run, Run]], reasons: Reasons) -> Iterator[str]:
    yield "| survivors without a reason | kind |"
    yield "|---|---|"
    for _, after in pairs:
        for one in after.survivors(reasons):
            yield f"| `{one.module}`:{one.line} {_cell(one.name)} | {one.kind} |"


def _cell(text: str) -> str:
    """Return a text as code in a table."""
    return "`` " + text.replace("|", "\\|") + " ``"
