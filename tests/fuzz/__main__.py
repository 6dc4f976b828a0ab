"""Fuzz the whole pipeline for some minutes, or examine one network again.

    python -m tests.fuzz --minutes 10 --seed 1 --jobs 2
    python -m tests.fuzz --family pods --seed 1000123
    python -m tests.fuzz --contest --networks 2000
    python -m tests.fuzz --contest --family boxes --seed 1000007
    python -m tests.fuzz --any-network --networks 2000
    python -m tests.fuzz --all-to-alls --networks 1000
    python -m tests.fuzz --time-bounds --networks 2000

The first two send networks through the pipeline. With ``--contest`` every method tries to beat what
is called a bound or optimal (:mod:`tests.fuzz.contest`). With ``--any-network`` switches send more
than they receive, or links share capacities (:mod:`tests.fuzz.any_network`). With ``--all-to-alls``
the best paths of demands of any amounts meet the linear program (:mod:`tests.fuzz.all_to_alls`).
With ``--time-bounds`` simulations of every method meet the bound of their size, and on small
networks the best patterns of messages do (:mod:`tests.fuzz.over_time.time_bounds`). A run's seed
decides which networks it meets and in which order, and the minutes, or their number, only how many.
Exit code 0 if all is well, 1 if anything failed, 130 if interrupted (what was found till then is
shown).
"""

import argparse
import itertools
import sys
import time
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from tests.fuzz import all_to_alls, any_network, contest
from tests.fuzz.check import Outcome, examine
from tests.fuzz.families import FAMILIES
from tests.fuzz.over_time import time_bounds
from tests.fuzz.pool import Pool
from tests.fuzz.table import summary

SEEDS_PER_RUN = 1_000_000
"""Run n has the seeds n million and up, so that different runs meet different networks."""

FAILED, INTERRUPTED = 1, 130

_WORK = {
    "": examine,
    "contest": contest.examine,
    "any-network": any_network.examine,
    "all-to-alls": all_to_alls.examine,
    "time-bounds": time_bounds.examine,
}

_FAMILIES = {
    "": FAMILIES,
    "contest": contest.KINDS,
    "any-network": any_network.KINDS,
    "all-to-alls": all_to_alls.KINDS,
    "time-bounds": time_bounds.KINDS,
}


def main() -> int:
    """Do what the command line says; return the exit code."""
    given = _arguments()
    console = Console(width=max(Console().width, 100))
    work = _WORK[given.kind]
    tasks = _tasks(given)
    found: list[Outcome] = []
    interrupted = False
    try:
        jobs = 1 if given.family else given.jobs
        with Pool(jobs, given.limit, work) as pool, _bar(console) as bar:
            whole = bar.add_task("0 networks", total=60 * given.minutes)
            began = time.monotonic()
            for outcome in pool.outcomes(tasks):
                found.append(outcome)
                failed = sum(bool(one.failure) for one in found)
                text = f"{len(found)} networks, {failed} failed"
                bar.update(whole, completed=time.monotonic() - began, description=text)
                if outcome.failure or given.family:
                    _tell(bar.console, outcome)
    except KeyboardInterrupt:
        interrupted = True
    console.print(summary(found))
    if interrupted:
        return INTERRUPTED
    return FAILED if any(outcome.failure for outcome in found) else 0


def _tasks(given: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Name what was asked for: one network, so many, or as many as the minutes allow."""
    if given.family:
        return iter([(given.family, given.seed)])
    families = _FAMILIES[given.kind]
    if given.networks is not None:
        return itertools.islice(plan(given.seed, families), given.networks)
    deadline = time.monotonic() + 60 * given.minutes
    return itertools.takewhile(lambda _: time.monotonic() < deadline, plan(given.seed, families))


def plan(run: int, families: Iterable[str] = FAMILIES) -> Iterator[tuple[str, int]]:
    """Name the networks of a run, without end: the families in turn, each with its next seed."""
    names = list(families)
    for seed in itertools.count(run * SEEDS_PER_RUN):
        for family in names:
            yield family, seed


def _tell(console: Console, outcome: Outcome) -> None:
    stages = ", ".join(f"{name} {seconds:.3f}" for name, seconds in outcome.stages.items())
    demand = f"{outcome.demand}, " if outcome.demand else ""
    verdict = f"FAILED {outcome.failure}" if outcome.failure else f"ok ({stages})"
    console.print(
        f"{outcome.family} {outcome.seed}: {outcome.gpus} GPUs, "
        f"{demand}k = {outcome.k}, "
        f"{outcome.seconds:.3f} s: {verdict}\n    {outcome.command}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def _bar(console: Console) -> Progress:
    """Return a bar of the minutes that have passed; none where the console is a file."""
    columns = (BarColumn(bar_width=24), TextColumn("{task.description}"), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1, help="of the run; of the network, if one")
    parser.add_argument("--jobs", type=int, default=2, help="networks side by side")
    families = sorted({family for kind in _FAMILIES.values() for family in kind})
    parser.add_argument("--family", choices=families, help="examine one network of this family")
    parser.add_argument("--networks", type=int, help="so many, however long it takes")
    kind = parser.add_mutually_exclusive_group()
    for name, help_ in (
        ("contest", "let all methods try to win"),
        ("any-network", "networks damaged one way, or with shared capacities"),
        ("all-to-alls", "all-to-alls of any amounts, against the linear program"),
        ("time-bounds", "bounds on time at a size, against simulations of all methods"),
    ):
        kind.add_argument(f"--{name}", action="store_const", const=name, dest="kind", help=help_)
    parser.add_argument("--limit", type=float, default=100, help="seconds for all checks of one")
    given = parser.parse_args()
    given.kind = given.kind or ""
    if given.family and given.family not in _FAMILIES[given.kind]:
        option = f"with --{given.kind}" if given.kind else "without an option for another kind"
        parser.error(f"there is no family {given.family} {option}")
    return given


if __name__ == "__main__":
    sys.exit(main())
