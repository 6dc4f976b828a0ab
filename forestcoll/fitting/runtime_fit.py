"""What fits a runtime in the place of a schedule that breaks its limits.

Problem: the optimum may take more trees than the threadblocks and steps of a runtime carry.
Input:   a schedule that does not fit; a format and the options that were asked for; seconds.
Output:  the options with which it fits; or, of forests with other numbers of trees per GPU, the one
         of the fewest that fits, or the fastest; each found by exporting it.
Cost:    an export for each option; then for each k a search, a packing and an export, the last only
         if it is faster than what fits already.
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
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.export import (
    FORMATS,
    Exported,
    ExportOptions,
    GoalOptions,
    export,
    format_of,
)
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
    """What fits.

    Parameters
    ----------
    schedule : AnySchedule
        The one that was given, or another of the same collective; not yet verified.
    program : Program
        Its lowered form.
    exported : Exported
    changed : str
        Which options are other than asked for, in words; empty if none are.
    k : int or None
        Trees per GPU, if it is another schedule.
    tried_k : int or None
        All numbers of trees from 1 to this one were tried, if it is another; those that would not
        be faster than what fits already not to the end.
    algbw_gb_s, given_gb_s : Fraction or None
        Of it and of the one that was given, if it is another.
    is_fastest : bool
        Whether it is the fastest of those tried that fits, and not the smallest.
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
        """Which share of the rate of the schedule that was given it does not reach."""
        if self.algbw_gb_s is None or self.given_gb_s is None:
            return 0.0
        return max(0.0, float(1 - self.algbw_gb_s / self.given_gb_s))

    def in_words(self) -> str:
        """Say what fits, and at what cost."""
        if self.algbw_gb_s is None or self.given_gb_s is None:
            return f"it fits with {self.changed}"
        which = f"fastest of 1 to {self.tried_k}" if self.is_fastest else "smallest"
        options = f" with {self.changed}" if self.changed else ""
        return (
            f"k = {self.k} is the {which} that fits{options}, with {decimal(self.algbw_gb_s)} GB/s "
            f"instead of {decimal(self.given_gb_s)}"
        )


@dataclass(frozen=True, slots=True)
class LimitExceeded:
    """That nothing fits of what was tried.

    Parameters
    ----------
    options : tuple of str
        What was changed of the options, in words.
    tried_k, given_k : int or None
        Up to which number of trees per GPU forests were tried, from 1 on, and how many the one has
        that was given; None if that is no forest of ours.
    """

    options: tuple[str, ...]
    tried_k: int | None
    given_k: int | None

    def in_words(self) -> str:
        """Say what was tried."""
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
    """Find what fits a runtime in the place of a schedule that does not.

    First the schedule itself with other options is tried: other channels, fewer instances. Then
    forests are made with fewer trees, if it is a forest of ours, with the options that need least.

    Parameters
    ----------
    schedule : AnySchedule
        One that does not fit.
    options : ExportOptions
        As they were asked for.
    fastest : bool
        Whether to look for the fastest forest that fits, and not for the one of the fewest trees.
        Options that make a file for other calls than were asked for are then not tried.
    seconds : float
        After which no further number of trees is tried; one is in any case.
    progress : callable, optional
        Told (stage, done, total); may raise to stop it.

    Raises
    ------
    InvalidParameterError
        If the seconds are not of this kind.

    Examples
    --------
    >>> from forestcoll.schedule.export import MscclOptions
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
    """From one tree per GPU up to as many as a forest has."""

    def __init__(self, given: _Ours, options: ExportOptions, changed: str) -> None:
        self._given, self._options, self._changed = given, options, changed
        self.last_k = 0

    def run(self, fastest: bool, end: float, progress: Progress) -> Fit | None:
        """Return the first that fits, or the fastest of those tried until the end."""
        most, best, rate = _k(self._given), None, Fraction(0)
        for k in range(1, most + 1):
            progress("trees", k - 1, most)
            self.last_k, forest = k, _of_k(self._given, k)
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
    """Whether a file is for calls in place only; simulators call nothing."""
    return not isinstance(options, GoalOptions) and options.in_place


def _exported(program: Program, options: ExportOptions) -> Exported | None:
    try:
        return export(program, options)
    except RuntimeLimitError:
        return None


def _of_k(given: _Ours, k: int) -> Forest | Allreduce[Forest]:
    """Make a forest of the same collective; an allreduce sums up wherever it is fastest."""
    root = given.collective in ("broadcast", "reduce")
    at = given.weights.index(1) if root and not isinstance(given, Allreduce) else None
    made = generate(given.topology, Options(collective=given.collective, root=at, k=k))
    return cast("Forest | Allreduce[Forest]", made.schedule)


def _k(given: _Ours) -> int:
    """Return how many trees per GPU it has, of an allreduce the phase with more of them."""
    phases = given.phases if isinstance(given, Allreduce) else (given,)
    return max(one.k for one in phases)


def _forest_of_ours(schedule: AnySchedule) -> _Ours | None:
    match schedule:
        case Forest() | FactoredForest() if schedule.method in _OURS:
            return schedule
        case Allreduce(gather=Forest() | FactoredForest() as gather) if gather.method in _OURS:
            return schedule
    return None
