"""Search for the best of many schedules at each size, in simulation.

Latencies decide for small data, rates for large data. The lower bound on the time is that of
:mod:`forestcoll.cut_over_time.simulated_bound`. Of a demand it is the larger of the latency and the
size over the rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from experiments.advice.tuning.candidates import Candidate, Made, made, program_seconds
from experiments.advice.tuning.exchanges import (
    ALL_TO_ALL,
    check_demand,
    exchange_bound,
    exchanges,
)
from experiments.advice.tuning.recipe import Recipe, recipes
from experiments.advice.tuning.schedule_search import AtSize, Entrant, search
from experiments.advice.tuning.shallow_forests import ShallowForests
from experiments.advice.tuning.sized_forests import SizedForests
from experiments.advice.tuning.switching import Range, ranges, refined, usable
from experiments.config.points import ROOTED
from experiments.measures.bounds import ALL, UpperBound, upper_bound
from forestcoll.cut_over_time.simulated_bound import SimulatedBound
from forestcoll.errors import (
    ForestCollError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.demand import Demand
from forestcoll.problem.limits import check_seconds
from forestcoll.problem.sizes import read_sizes
from forestcoll.problem.weights import rank_of_root
from forestcoll.schedule import cost
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import AlphaBeta, least_latency_s
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology
from forestcoll.topology.validation import COLLECTIVES, validate

__all__ = ["ALL", "SECONDS", "Bounds", "Progress", "Refuses", "Tuning", "tune"]

SECONDS = 30.0
"""Default seconds for each method, for its schedule and for its simulations each."""

_SIZES = ("1KB..1GB",)

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds that hold for every schedule of every method."""

    latency_s: float  # least latency of a path between the GPUs farthest apart
    # bound on data size over time; None if the program that proves one did not finish
    rate: UpperBound | None
    times: SimulatedBound | None  # of latencies and rate together; None of a demand

    def least_s(self, size_bytes: int) -> float:
        """Return the least seconds for a size."""
        if self.times is not None:
            return max(self.latency_s, self.times.least_s(size_bytes))
        by_rate = 0 if self.rate is None else Fraction(size_bytes, 10**9) / self.rate.algbw_gb_s
        return max(self.latency_s, float(by_rate))


@dataclass(frozen=True, slots=True)
class Tuning:
    """The best schedule at each size, in simulation."""

    topology: Topology
    collective: str
    root: int | None  # rank of the root, for a collective with a root
    model: AlphaBeta
    bounds: Bounds
    # all requested candidates; those that could not be tried have a reason
    candidates: tuple[Candidate, ...]
    # in ascending order: the requested sizes, and sizes in between that locate the changes
    sizes: tuple[AtSize, ...] = field(repr=False)
    ranges: tuple[Range, ...]  # of neighbouring sizes, with the candidate to take for them
    # whether all sizes have been tried; False in the interim results passed to ``keep``
    complete: bool = True
    # who has how much for whom, in an all-to-all; equal parts if None. Sizes then are of all its
    # bytes, in proportion
    demand: Demand | None = None

    def candidate(self, name: str) -> Candidate:
        """Return the candidate of a name.

        Raises
        ------
        InvalidParameterError
            If there is none.
        """
        for one in self.candidates:
            if one.name == name:
                return one
        raise InvalidParameterError(f"there is no candidate {name!r} here")

    def best(self, size_bytes: int) -> Candidate:
        """Return the candidate for a size within the range of tried sizes.

        Raises
        ------
        InvalidParameterError
            If the size is below the smallest or above the largest.
        """
        least, most = self.sizes[0].size_bytes, self.sizes[-1].size_bytes
        if not least <= size_bytes <= most:
            raise InvalidParameterError(f"tried are {least} to {most} bytes, not {size_bytes}")
        # Between two ranges lies a change that is not located further: either candidate will do.
        of_size = [one for one in self.ranges if one.first_bytes <= size_bytes]
        return self.candidate(of_size[-1].name)


Keep = Callable[[Tuning], None]

Refuses = Callable[[Program], str]


def tune(
    topology: Network,
    collective: str | None = None,
    sizes: Sequence[int | str] | None = None,
    *,
    demand: Demand | None = None,
    root: str | int | None = None,
    model: AlphaBeta | None = None,
    methods: Sequence[str] | None = None,
    seconds: float = SECONDS,
    within: float = 0.0,
    progress: Progress | None = None,
    keep: Keep | None = None,
    refuses: Refuses | None = None,
    plans: bool = True,
) -> Tuning:
    """Find the best of many schedules at each size, in simulation.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
        Of two GPUs or more.
    collective : str, optional
        One of :data:`ALL`; an allgather if not given, with a demand an all-to-all.
    sizes : sequence of int or str
        Of the data, in bytes or as :func:`forestcoll.problem.sizes.read_sizes` has it; 1 KB to 1 GB
        if not given, or what the demand has. Of an all-to-all as nccl-tests has it: what one GPU
        sends, itself included. Of a demand all its bytes, and its amounts in proportion.
    demand : Demand, optional
        Who has how much for whom; only for the collective "all-to-all", which may differ then.
    root : str or int, optional
        Root of a broadcast or reduce (rank 0 if not given), or of an allreduce. An allreduce with a
        root restricts the search to methods that take a root.
    model : AlphaBeta, optional
        A model with default values if not given; it must not keep to clocks or steps.
    methods : sequence of str, optional
        As of :func:`experiments.advice.tuning.recipe.recipes`.
    seconds : float
        For each method to make its schedule, and as much for all its simulations.
    within : float
        Ranges may use a schedule that takes longer than the best by at most this share. A larger
        share gives fewer ranges.
    progress : callable, optional
        Called with (stage, done, total); may raise to stop the search.
    keep : callable, optional
        Called with the interim result after each size.
    refuses : callable, optional
        Called with the program of each schedule that a range might use. It returns a reason to
        exclude the schedule, or an empty text.
    plans : bool
        Whether forests over time keep to their time plans where these are faster. Runtimes do not.

    Raises
    ------
    UnsupportedError
        If the collective is unknown, no method supports it here, or all schedules are refused.
    InvalidParameterError
        If the sizes, the demand, the root, the seconds or the model are invalid.
    TimeLimitError
        If no method makes a schedule in time, or none has time left for a size.
    VerificationError
        If a schedule is wrong, or faster than the bound: a bug.

    Examples
    --------
    >>> found = tune("ring:nodes=6", sizes=["1KB", "64MB"], methods=["ring", "bfb", "direct"])
    >>> [one.name for one in found.ranges]
    ['direct', 'bfb']
    """
    topology, model = as_topology(topology), AlphaBeta() if model is None else model
    collective = collective or ("allgather" if demand is None else ALL_TO_ALL)
    asked = _sizes(sizes, demand)
    rank = _rank(topology, collective, root)
    _check(topology, collective, rank, model, seconds, within, demand)
    tell: Progress = progress or (lambda stage, done, total: None)
    if collective == ALL_TO_ALL:
        tried = exchanges(methods, demand, model)
    else:
        tried = recipes(topology, methods, collective, rank, asked)
    found = _all_made(tried, topology, collective, rank, model, seconds, tell, plans)
    start = rank if collective in ROOTED else None
    rate = _rate(topology, collective, start, demand, found)
    rate_gb_s = None if rate is None else rate.algbw_gb_s
    bounds = Bounds(
        least_latency_s(topology, collective, model, start, demand=demand),
        rate,
        SimulatedBound(topology, collective, model, start, rate_gb_s=rate_gb_s)
        if demand is None
        else None,
    )
    candidates = tuple(one.candidate for one in found)
    nothing = Tuning(
        topology, collective, rank, model, bounds, candidates, (), (), complete=False, demand=demand
    )
    return _Tour(nothing, found, asked, seconds, within, tell, keep, refuses).whole()


class _Tour:
    """The search over sizes: first the requested ones, then those in between."""

    def __init__(
        self,
        nothing: Tuning,
        found: Sequence[Made],
        asked: Sequence[int],
        seconds: float,
        within: float,
        tell: Progress,
        keep: Keep | None,
        refuses: Refuses | None,
    ) -> None:
        self._nothing, self._asked, self._within = nothing, asked, within
        self._tell, self._keep, self._refuses = tell, keep, refuses
        self._programs = {
            one.candidate.name: one.simulator.program for one in found if one.simulator is not None
        }
        self._taken: set[str] = set()
        self._entrants = [
            Entrant(one.candidate, one.simulator, nothing.model, seconds, one.planned)
            for one in found
            if one.simulator is not None
        ]
        self._known: dict[int, AtSize] = {}

    def whole(self) -> Tuning:
        """Search all sizes."""
        refined([self._ask(size) for size in self._asked], self._ask, within=self._within)
        return self._kept(complete=True)

    def _ask(self, size: int) -> AtSize:
        asked = size in self._asked
        done = len(self._known) - (0 if asked else len(self._asked))
        total = len(self._asked) if asked else done + 1

        def tick() -> None:
            self._tell("sizes" if asked else "borders", done, total)

        tick()
        bound_s, within = self._nothing.bounds.least_s(size), self._within
        at = search(self._entrants, size, bound_s, asked=asked, within=within, tick=tick)
        # Without a refused candidate, another is the best: search again until none is refused.
        while self._is_refused(at):
            at = search(self._entrants, size, bound_s, asked=asked, within=within, tick=tick)
        self._known[size] = at
        self._kept(complete=False)
        return at

    def _is_refused(self, at: AtSize) -> bool:
        """Leave out a refused candidate that a range might use at this size, if there is one."""
        if self._refuses is None:
            return False
        for name in sorted(usable(at, self._within) - self._taken):
            why = self._refuses(self._programs[name])
            if why:
                self._leave_out(name, why)
                return True
            self._taken.add(name)
        return False

    def _leave_out(self, name: str, why: str) -> None:
        self._entrants = [one for one in self._entrants if one.candidate.name != name]
        candidates = tuple(
            replace(one, schedule=None, note=why) if one.name == name else one
            for one in self._nothing.candidates
        )
        self._nothing = replace(self._nothing, candidates=candidates)
        if not self._entrants:
            raise UnsupportedError(f"no schedule that was made may be used; {name}: {why}")

    def _kept(self, *, complete: bool) -> Tuning:
        sizes = tuple(self._known[size] for size in sorted(self._known))
        parts = ranges(sizes, self._within)
        found = replace(self._nothing, sizes=sizes, ranges=parts, complete=complete)
        if self._keep is not None:
            self._keep(found)
        return found


def _sizes(given: Sequence[int | str] | None, demand: Demand | None) -> list[int]:
    if given is None:
        given = _SIZES if demand is None else (demand.bytes,)
    try:
        found = sorted(read_sizes(list(given)))
    except ValueError as error:
        raise InvalidParameterError(f"sizes {error}") from None
    if not found:
        raise InvalidParameterError("there is no size to try; give some, such as 1KB..1GB")
    return found


def _rank(topology: Topology, collective: str, root: str | int | None) -> int | None:
    if collective not in ALL:
        raise UnsupportedError(f"collective is {collective!r}; it must be one of {', '.join(ALL)}")
    if root is None:
        return 0 if collective in ROOTED else None
    if collective not in (*ROOTED, "allreduce"):
        raise InvalidParameterError(f"{collective} takes no root (see broadcast and reduce)")
    return rank_of_root(topology, root)


def _check(
    topology: Topology,
    collective: str,
    rank: int | None,
    model: AlphaBeta,
    seconds: float,
    within: float,
    demand: Demand | None,
) -> None:
    check_seconds(seconds)
    check_seconds(within, "the share that ranges may lose")
    if topology.num_compute < 2:
        raise UnsupportedError(f"{topology.name} has a single GPU: there is nothing to send")
    if model.keep_clock or model.lockstep:
        raise InvalidParameterError("schedules of all kinds are compared without clocks and steps")
    if demand is not None:
        if collective != ALL_TO_ALL:
            raise InvalidParameterError(
                f"a demand states who has data for whom; it is for all-to-alls, not {collective}"
            )
        check_demand(topology, demand)
        return
    ranks = [rank] if rank is not None and collective in ROOTED else None
    validate(topology, "allgather" if collective == "all-to-all" else collective, ranks)


def _all_made(
    tried: Sequence[Recipe],
    topology: Topology,
    collective: str,
    rank: int | None,
    model: AlphaBeta,
    seconds: float,
    tell: Progress,
    plans: bool,
) -> list[Made]:
    found: list[Made] = []
    low = sized = None
    if collective in COLLECTIVES:
        low = ShallowForests(topology, collective, rank, program_seconds(seconds))
        sized = SizedForests(topology, collective, rank, model.alpha)
    for place, recipe in enumerate(tried):
        tell("methods", place, len(tried))
        # A depth limit that the optimal forests satisfy would only make the same forests again.
        if low is None or recipe.depth is None or not low.is_settled(recipe.depth):
            one = made(recipe, topology, collective, rank, seconds, found, low, sized, plans=plans)
            found.append(one)
    tell("methods", len(tried), len(tried))
    if not any(one.simulator for one in found):
        raise _none_made(found, topology, collective)
    return found


def _none_made(found: Sequence[Made], topology: Topology, collective: str) -> ForestCollError:
    late = [one.candidate for one in found if one.late]
    if late:
        return TimeLimitError(
            f"no method made a schedule of {collective} on {topology.name} in its time; "
            f"{late[0].name}: {late[0].note}; give each more seconds"
        )
    first = found[0].candidate
    return UnsupportedError(
        f"no method makes a schedule of {collective} on {topology.name}; {first.name}: {first.note}"
    )


def _rate(
    topology: Topology,
    collective: str,
    start: int | None,
    demand: Demand | None,
    found: Sequence[Made],
) -> UpperBound | None:
    """Bound the rate; the rates of the candidates in theory help to prove it."""
    schedules = [one.candidate.schedule for one in found]
    if collective == ALL_TO_ALL:
        return exchange_bound(topology, demand, schedules)
    reached = max(cost(one).algbw_gb_s for one in schedules if one is not None)
    return upper_bound(topology, collective, reached, start)
