"""Export and execute every schedule that a method supports on at most 64 GPUs.

Each one passes verify, compilation, export to MSCCL (or, with ``--format mscclpp``, to MSCCL++) and
the interpreter, in place and out of place if both are allowed; small ones also the tests' own slow
machine. Run from the repository's root: ``python -m benchmarks.schedules.export_all
[--format NAME] [--method NAME] [--least GPUS] [--most GPUS] [--jobs N] [--seconds S]``. Each
verdict is appended to a file of rows (``--rows``), and a new run continues where the last one
stopped. ``--fresh`` starts again, which is necessary after a change to the code. Small networks
come first. Prints a line for each failure, and counts.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from baselines.interface.method import Schedule
from benchmarks.schedules.export_tries import EXPORTS, RIGHT
from forestcoll import compile_program, generate
from forestcoll.errors import ForestCollError, UnsupportedError
from forestcoll.schedule import verify
from tests.baselines.claims import CLAIMS, TOPOLOGIES, load, run

__all__ = ["Verdict", "cases", "kept", "main", "outcome", "sweep", "verdict"]

MOST_GPUS = 64
OURS = "forestcoll"
Case = tuple[str, str, str]
"""A method, a collective and a topology."""

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "broadcast", "reduce")


def cases() -> Iterator[Case]:
    """Yield methods, collectives and topologies, our own first."""
    for collective in COLLECTIVES:
        for name in TOPOLOGIES:
            yield OURS, collective, name
    for method, claims in CLAIMS.items():
        for collective, claim in claims.items():
            for name in claim.does:
                yield method, collective, name


def outcome(method: str, collective: str, name: str, kind: str) -> str:
    """Make a schedule, export it in one of the formats, execute it, and return the outcome."""
    topology = load(name)
    if method == OURS:
        root = 0 if collective in ("broadcast", "reduce") else None
        schedule: Schedule = generate(topology, collective=collective, root=root).schedule
    else:
        schedule = run(method, collective, topology)
    verify(schedule)
    try:
        program = compile_program(schedule, loopback=False)
    except UnsupportedError as error:
        return f"not lowered: {error}"
    modes = (False, True) if collective in ("allgather", "broadcast") else (False,)
    return "; ".join(dict.fromkeys(EXPORTS[kind](program, in_place) for in_place in modes))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a schedule."""

    method: str
    collective: str
    topology: str
    gpus: int
    said: str
    seconds: float  # that it took, wall clock
    limit_s: float  # that it was given

    @property
    def case(self) -> Case:
        """Method, collective and topology."""
        return self.method, self.collective, self.topology


def verdict(case: Case, limit_s: float, kind: str = "msccl") -> Verdict:
    """Try one case in one of the formats within a number of seconds; 0 is no limit."""
    began = time.monotonic()
    try:
        with _limited(limit_s):
            said = outcome(*case, kind)
    except _LateError:
        said = f"out of time: {limit_s:g} s"
    except ForestCollError as error:
        said = f"not made: {error}"
    gpus = load(case[2]).num_compute
    return Verdict(*case, gpus, said, round(time.monotonic() - began, 2), limit_s)


class _LateError(Exception):
    """The time of a case is over."""


@contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    """Raise where the time is over; of native code when it returns."""

    def late(*_: object) -> None:
        raise _LateError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def kept(rows: Path) -> dict[Case, Verdict]:
    """Read the rows that are there, the last of each case; a line cut short by a kill is none."""
    if not rows.exists():
        return {}
    text = rows.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        rows.write_text(whole, encoding="utf-8")
    found = [Verdict(**json.loads(line)) for line in whole.splitlines()]
    return {one.case: one for one in found}


def sweep(
    asked: Iterable[Case], rows: Path, limit_s: float, jobs: int, kind: str = "msccl"
) -> Iterator[Verdict]:
    """Yield the verdicts of all cases, those that are kept first; add the others to the rows.

    Those that were out of time are tried again if there is more of it now.
    """
    known, left = kept(rows), []
    for case in asked:
        found = known.get(case)
        if found is None or (found.said.startswith("out of time") and limit_s > found.limit_s):
            left.append(case)
        else:
            yield found
    rows.parent.mkdir(parents=True, exist_ok=True)
    with rows.open("a", encoding="utf-8") as out:
        for one in _verdicts(left, limit_s, jobs, kind):
            out.write(json.dumps(asdict(one)) + "\n")
            out.flush()
            yield one


def _verdicts(left: list[Case], limit_s: float, jobs: int, kind: str) -> Iterator[Verdict]:
    work = partial(verdict, limit_s=limit_s, kind=kind)
    if jobs == 1 or not left:
        yield from map(work, left)
        return
    with multiprocessing.get_context("spawn").Pool(min(jobs, len(left))) as pool:
        yield from pool.imap_unordered(work, left)


def main() -> None:
    """Try all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", help="Only this method.")
    parser.add_argument("--least", type=int, default=1, help="Least GPUs of a topology.")
    parser.add_argument("--most", type=int, default=MOST_GPUS, help="Most GPUs of a topology.")
    parser.add_argument("--format", default="msccl", choices=EXPORTS)
    parser.add_argument("--rows", type=Path, help="File of rows; in build/ by default.")
    parser.add_argument("--fresh", action="store_true", help="Ignore stored rows.")
    parser.add_argument("--jobs", type=int, default=1, help="Processes.")
    parser.add_argument("--seconds", type=float, default=0, help="Limit of a case; 0: none.")
    asked = parser.parse_args()
    rows = asked.rows or Path("build") / f"export_all_{asked.format}.jsonl"
    if asked.fresh:
        rows.unlink(missing_ok=True)
    sizes = {name: load(name).num_compute for name in TOPOLOGIES}
    chosen = [
        case
        for case in cases()
        if asked.method in (None, case[0]) and asked.least <= sizes[case[2]] <= asked.most
    ]
    chosen.sort(key=lambda case: sizes[case[2]])
    counts, spent = Counter[str](), 0.0
    found = sweep(chosen, rows, asked.seconds, asked.jobs, asked.format)
    for place, one in enumerate(found, 1):
        print(f"{place}/{len(chosen)}: {' '.join(one.case)} {one.seconds} s", file=sys.stderr)
        counts[f"{one.method} {one.said if one.said == RIGHT else one.said.split(':')[0]}"] += 1
        spent += one.seconds
        if one.said != RIGHT:
            print(f"{' '.join(one.case)}: {one.said}", flush=True)
    for line, many in sorted(counts.items()):
        print(f"{many:5} {line}")
    print(f"{sum(counts.values())} in {spent:.0f} s of all processes and runs", flush=True)


if __name__ == "__main__":
    main()
