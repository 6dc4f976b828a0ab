"""Search for a variant of a schedule that satisfies a runtime's limits.

Problem: the optimum may need more trees than the threadblocks and steps of a runtime can carry.
Input:   a schedule that exceeds the limits; the requested format and options; seconds.
Output:  options that satisfy the limits; or a forest with another number of trees per GPU, either
         the smallest number that satisfies them or the fastest. Every result has been exported.
Cost:    an export for each option; then for each k a search, a packing and an export. The export
         is skipped if the forest is no faster than one that satisfies the limits already.
Source:  ForestColl section 5.5 (fixed k); ours for the rest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import cast

from forestcoll.compilation import compile_program
from forestcoll.errors import RuntimeLimitError
from forestcoll.generation import Options, Progress, generate
from forestcoll.problem.limits import check_seconds
from forestcoll.runtimes.formats import FORMATS, Exported, ExportOptions, export, format_of
from forestcoll.runtimes.msccl.exporter import MscclOptions
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.schedule.program import Program
from forestcoll.topology.describe import decimal

__all__ = ["SECONDS", "Fit", "LimitExceeded", "fitting"]

SECONDS = 30.0
"""For a search over k, if nothing else is said."""

_OURS = ("forestcoll", "forestcoll-paper", "allreduce-lp")


@dataclass(frozen=True, slots=True)
class Fit:
    """A variant that satisfies the limits.

    Parameters
    ----------
    schedule : AnySchedule
        The given schedule, or another one of the same collective; not yet verified.
    program : Program
        Its compiled form.
    changed : str
        The options that differ from the request, in words; empty if none do.
    k : int or None
        Trees per GPU, for another schedule.
    tried_k : int or None
        The largest number of trees tried, from 1 on, for another schedule. Forests no faster than
        one that satisfies the limits were not exported.
    algbw_gb_s, given_gb_s : Fraction or None
        The rates of this schedule and of the given one, for another schedule.
    is_fastest : bool
        Whether it is the fastest of those tried, rather than the smallest.
    """

    schedule: AnySchedule = field(repr=False)
    program: Program = field(repr=False)
    exported: Exported = field(repr=False)
    changed: str
    k: int | None = None
    tried_k: int | None = None
    algbw_gb_s: Fraction | None = None
    given_gb_s: Fraction | None = None
    is_fastest: bool = False

    @property
    def lost(self) -> float:
        """The lost share of the given schedule's rate."""
        if self.algbw_gb_s is None or self.given_gb_s is None:
            return 0.0
        return max(0.0, float(1 - self.algbw_gb_s / self.given_gb_s))

    def in_words(self) -> str:
        """Describe the variant and its cost."""
        if self.algbw_gb_s is None or self.given_gb_s is None:
            return f"it fits with {self.changed}"
        which = f"fastest of 1 to {self.tried_k}" if self.is_fastest else "smallest"
        options = f" with {self.changed}" if self.changed else ""
        fits = f"k = {self.k} is the {which} that fits{options}"
        if self.algbw_gb_s == self.given_gb_s:
            return f"{fits}, and as fast: {decimal(self.algbw_gb_s)} GB/s"
        return f"{fits}, with {decimal(self.algbw_gb_s)} GB/s instead of {decimal(self.given_gb_s)}"


@dataclass(frozen=True, slots=True)
class LimitExceeded:
    """Report that no variant tried satisfies the limits.

    Parameters
    ----------
    options : tuple of str
        The changes of options that were tried, in words.
    tried_k, given_k : int or None
        The largest number of trees per GPU tried, from 1 on, and that of the given forest; None if
        the given schedule is no forest of ForestColl.
    """

    options: tuple[str, ...]
    tried_k: int | None
    given_k: int | None

    def in_words(self) -> str:
        """Describe what was tried."""
        found = [f"it does not fit with {' or '.join(self.options)}"] if self.options else []
        if self.given_k is None:
            found.append("its method has no smaller k to try")
        elif self.tried_k == self.given_k:
            found.append(f"no forest of {_numbers(self.given_k)} fits")
        else:
            found.append(
                f"no forest of {_numbers(self.tried_k or 0)} fits, and no more of the "
                f"{self.given_k} were tried in the time"
            )
        return "; ".join(found)


def _numbers(most: int) -> str:
    return "k = 1" if most == 1 else f"k = 1 to {most}"


def fitting(
    schedule: AnySchedule,
    options: ExportOptions,
    *,
    fastest: bool,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> Fit | LimitExceeded:
    """Find a variant of a schedule that satisfies the runtime's limits.

    First the schedule itself is tried with other options: other channels, fewer instances. For a
    forest of ForestColl, forests with fewer trees follow, with the least demanding options. Raises
    InvalidParameterError if the seconds are invalid.

    Parameters
    ----------
    schedule : AnySchedule
        A schedule that exceeds the limits.
    options : ExportOptions
        The requested options.
    fastest : bool
        Whether to prefer the fastest forest to the one with the fewest trees. Options that change
        the kind of calls of the file are then not tried.
    seconds : float
        Time after which no further number of trees is tried; at least one is tried in any case.
    progress : callable, optional
        Called with (stage, done, total); may raise an exception to stop the search.

    Examples
    --------
    >>> from forestcoll.runtimes.msccl.exporter import MscclOptions
    >>> forest = generate("ring:nodes=4", k=8209).schedule
    >>> fitting(forest, MscclOptions(), fastest=False).in_words()
    'k = 1 is the smallest that fits, with 2 GB/s instead of 2.66656'
    >>> fitting(forest, MscclOptions(), fastest=True).in_words()
    'k = 2 is the fastest of 1 to 2 that fits, with 2.66667 GB/s instead of 2.66656'
    """
    check_seconds(seconds, "the time to find what fits")
    program = compile_program(schedule, loopback=False)
    tried: list[str] = []
    words, least = "", options
    for changed, relaxed in FORMATS[format_of(options)].relaxed(program, options):
        same_calls = _in_place(relaxed) == _in_place(options)
        if fastest and not same_calls:
            continue
        exported = _exported(program, relaxed)
        if exported is not None:
            return Fit(schedule, program, exported, changed)
        tried.append(changed)
        if same_calls:
            words, least = changed, relaxed
    given = _forest_of_ours(schedule)
    if given is None:
        return LimitExceeded(tuple(tried), None, None)
    search = _Search(given, least, words)
    best = search.run(fastest, time.monotonic() + seconds, progress or (lambda *_: None))
    return best or LimitExceeded(tuple(tried), search.last_k, _k(given))


_Allreduce = Allreduce[Forest] | Allreduce[FactoredForest] | Allreduce[MulticastForest]
_Ours = Forest | FactoredForest | _Allreduce


class _Search:
    """Search from one tree per GPU up to the number of the given forest."""

    def __init__(self, given: _Ours, options: ExportOptions, changed: str) -> None:
        self._given, self._options, self._changed = given, options, changed
        self.last_k = 0

    def run(self, fastest: bool, end: float, progress: Progress) -> Fit | None:
        """Return the first forest within the limits, or the fastest of all tried."""
        most, best, rate = _k(self._given), None, Fraction(0)
        for k in range(1, most + 1):
            progress("trees", k - 1, most)
            self.last_k, forest = k, _of_k(self._given, k)
            # The rate does not always rise with k; a slower forest is not worth an export.
            if forest.algbw_gb_s > rate and (fit := self._tried(k, forest)) is not None:
                best, rate = fit, forest.algbw_gb_s
            done = best is not None and (not fastest or rate >= self._given.algbw_gb_s)
            if done or time.monotonic() > end:
                break
        return best and replace(best, tried_k=self.last_k, is_fastest=fastest)

    def _tried(self, k: int, forest: Forest | Allreduce[Forest]) -> Fit | None:
        program = compile_program(forest, loopback=False)
        exported = _exported(program, self._options)
        if exported is None:
            return None
        rates = forest.algbw_gb_s, self._given.algbw_gb_s
        return Fit(forest, program, exported, self._changed, k, k, *rates)


def _in_place(options: ExportOptions) -> bool:
    """Whether a file is for in-place calls only; other formats know no such calls."""
    return isinstance(options, MscclOptions | MscclppOptions) and options.in_place


def _exported(program: Program, options: ExportOptions) -> Exported | None:
    try:
        return export(program, options)
    except RuntimeLimitError:
        return None


def _of_k(given: _Ours, k: int) -> Forest | Allreduce[Forest]:
    """Make a forest of the same collective; an allreduce has free roots."""
    root = given.collective in ("broadcast", "reduce")
    at = given.weights.index(1) if root and not isinstance(given, Allreduce) else None
    made = generate(given.topology, Options(collective=given.collective, root=at, k=k))
    return cast("Forest | Allreduce[Forest]", made.schedule)


def _k(given: _Ours) -> int:
    """Return the trees per GPU of a schedule; for an allreduce, those of its larger phase."""
    phases = given.phases if isinstance(given, Allreduce) else (given,)
    return max(one.k for one in phases)


def _forest_of_ours(schedule: AnySchedule) -> _Ours | None:
    match schedule:
        case Forest() | FactoredForest() if schedule.method in _OURS:
            return schedule
        case Allreduce(gather=Forest() | FactoredForest() as gather) if gather.method in _OURS:
            return schedule
    return None
