"""Generate a throughput-optimal schedule of a collective, with the proof of its optimality.

Problem: a collective in the least possible time.
Input:   a topology of GPUs and switches; options: the collective with its root or weights.
Output:  spanning trees, k times its weight per GPU, with their physical paths, and the cut that
         proves that nothing can be faster. A reduction uses trees of the reversed network. An
         allreduce uses those of a reduction and of an allgather; its bound may leave a gap.
Cost:    the sum of the stages; the result lists their seconds. An allreduce that no cut proves
         optimal also costs a linear program (:mod:`forestcoll.allreduce.best_allreduce`).
Source:  ForestColl sections 5 and 5.7; with the core's algorithms, or with the paper's own for
         comparison. :mod:`forestcoll.core.pipeline` names the stages.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from forestcoll.allreduce.collective_schedule import schedule_of
from forestcoll.core.pipeline import EXPLICIT, FACTORED, PAPER_STAGES, STAGES, Form
from forestcoll.core.stopwatch import Progress, Stopwatch, within
from forestcoll.errors import UnsupportedError
from forestcoll.problem.options import METHODS, Options
from forestcoll.problem.request import Request, usable_cores
from forestcoll.schedule.allreduce import Allreduce, TreeSchedule
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.spec import Network

if TYPE_CHECKING:
    from forestcoll.forest_over_time.timed_forests import TimedSchedule
    from forestcoll.in_network.collectives import InNetwork
    from forestcoll.in_network.pruning import Traffic

__all__ = [
    "METHODS", "PAPER_STAGES", "STAGES", "Generated", "Options", "Progress", "generate",
    "generate_factored", "generate_factored_timed", "generate_multicast", "generate_timed",
    "usable_cores",
]  # fmt: skip

F = TypeVar("F", Forest, FactoredForest)


@dataclass(frozen=True, slots=True, repr=False)
class Generated(InBrief):
    """A generated schedule, with its options and the seconds of each stage.

    Parameters
    ----------
    schedule : Forest, FactoredForest, MulticastForest, or an Allreduce of two
        Its ``optimum`` is the bound that it attains and the cut that proves it; None if the given
        k does not attain the bound. An allreduce has a ``bound``, which it need not attain, and a
        ``remark`` on its optimality. The schedule of a single GPU is empty and has no optimum.
    options : Options
        The options that were given.
    seconds : mapping
        Wall-clock seconds of each stage.
    saved : mapping
        Traffic over each class of links without and with in-network multicast: "traffic" of one
        phase, "traffic_of_reduce" and "traffic_of_gather" of two. Empty where the trees with and
        without it differ.
    timed : TimedSchedule, optional
        The schedule with bounds on its time, if a size was given.

    Notes
    -----
    In earlier versions :func:`generate` returned the schedule itself. In this version the result
    still has its attributes, with a DeprecationWarning.
    """

    schedule: TreeSchedule
    options: Options
    seconds: Mapping[str, float] = field(compare=False, repr=False)
    saved: Mapping[str, tuple[Traffic, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )
    timed: TimedSchedule | None = field(default=None, compare=False, repr=False)

    @property
    def forest(self) -> Forest:
        """The schedule as one explicit forest.

        Raises
        ------
        UnsupportedError
            If it is an allreduce, in factored form, or uses multicast switches.
        """
        if isinstance(self.schedule, Forest):
            return self.schedule
        kind = type(self.schedule).__name__
        raise UnsupportedError(f"the schedule is of type {kind}, not Forest; use .schedule")

    def in_a_line(self) -> str:
        """Return the schedule; its seconds differ from run to run."""
        return repr(self.schedule)

    def in_a_table(self) -> dict[str, object]:
        """Return the facts of the schedule, and the seconds of its stages."""
        stages = [f"{stage}: {seconds:.3g} s" for stage, seconds in self.seconds.items()]
        sized = None if self.timed is None else self.timed.in_a_line()
        facts = {**self.schedule.in_a_table(), "at this size": sized}
        return {**facts, "options": self.options, "made in": stages or None}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = getattr(self.schedule, name)
        _deprecated(f"generate returns a result; take .schedule.{name}, not .{name}")
        return found


def generate(
    topology: Network,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    **given: Any,
) -> Generated:
    """Generate a throughput-optimal schedule of a collective; for an allreduce, the best found.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    options : Options, optional
        The collective, root, weights, k and so on; :class:`forestcoll.Options` documents each.
    progress : callable, optional
        Called with (stage, done, total). Stages are :data:`STAGES` or :data:`PAPER_STAGES`, for
        each forest of an allreduce, and :data:`PROGRAM_STAGE`.
    **given
        Single options by name; they override those in ``options``.

    Returns
    -------
    Generated
        The schedule, the options, and the seconds of each stage.

    Raises
    ------
    InvalidTopologyError
        If there is no GPU, or an unreachable one; with the paper's method also if a switch sends
        more than it receives (in a reduction, receives more than it sends).
    CapacityOverflowError
        If the exact whole numbers of this network do not fit 64 bits.
    UnknownMethodError
        If the method is none of :data:`METHODS`.
    UnsupportedError
        If the collective is unknown, or the method does not support it.
    InvalidParameterError
        If a number of threads, trees or hops is below one; if the root or the weights are wrong,
        missing, or not for this collective; if the size, alpha or time limit is invalid.
    TimeLimitError
        If there is no schedule for a size within the time limit.
    InfeasibleError
        If the depth limit is below the eccentricity of a root, so that no tree reaches every GPU.

    Examples
    --------
    >>> forest = generate("ring:nodes=4").schedule
    >>> forest.k, forest.time_s_per_gb == forest.optimum.time_s_per_gb
    (2, True)
    >>> made = generate("ring:nodes=4", collective="broadcast", root="gpu2", routed=True)
    >>> made.schedule.algbw_gb_s, list(made.seconds)[-1]
    (Fraction(2, 1), 'routing')

    With in-network reduction by an NVSwitch of 450 GB/s to every GPU; without it, 8/14 of that.

    >>> asked = Options(collective="allreduce", multicast=True)
    >>> made = generate("dgx_h100:boxes=1", asked)
    >>> float(made.schedule.algbw_gb_s), made.schedule.optimal
    (450.0, True)

    For 4,000,000 bytes with 10 us a hop, and the lower bound on the time of any schedule:

    >>> timed = generate("dgx_a100:boxes=2", size=4_000_000).timed
    >>> float(timed.time_us), float(timed.bound.time_us)
    (29.130434782608695, 28.75)
    """
    asked = Options.of(options, given)
    request, clock = Request.of(topology, asked), Stopwatch(progress)
    if asked.size_bytes is not None:
        from forestcoll.forest_over_time.timed_forests import TimedForests  # loads scipy

        if asked.time_limit_s is not None:
            clock = Stopwatch(within(asked.time_limit_s, progress))
        timed = TimedForests(request, asked.alpha, clock).at(asked.size_bytes)
        return Generated(timed.schedule, asked, clock.seconds, timed=timed)
    if asked.multicast:
        from forestcoll.in_network.collectives import in_network  # seldom asked for, as depths are

        schedule, seconds, saved = in_network(request, progress)
        return Generated(schedule, asked, seconds, saved)
    if asked.factored:
        return Generated(_within_depth(request, FACTORED, clock), asked, clock.seconds)
    return Generated(_within_depth(request, EXPLICIT, clock), asked, clock.seconds)


def _within_depth(request: Request, form: Form[F], clock: Stopwatch) -> F | Allreduce[F]:
    if request.options.max_depth is None:
        return schedule_of(request, form, clock)
    from forestcoll.bounded_depth.depth_limit import schedule_within

    return schedule_within(request, form, clock)


# --- names of earlier versions ------------------------------------------------------------------


def generate_factored(topology: Network, **given: Any) -> Any:
    """Return ``generate(topology, factored=True, ...).schedule``; deprecated."""
    _deprecated("generate_factored(t) is generate(t, factored=True).schedule")
    return generate(topology, **given, factored=True).schedule


def generate_timed(topology: Network, **given: Any) -> tuple[Any, dict[str, float]]:
    """Return the schedule and the seconds of ``generate(topology, routed=True)``; deprecated."""
    _deprecated("generate_timed(t) is generate(t, routed=True): take .schedule and .seconds")
    made = generate(topology, **given, routed=True)
    return made.schedule, dict(made.seconds)


def generate_factored_timed(topology: Network, **given: Any) -> tuple[Any, dict[str, float]]:
    """Return what ``generate(topology, factored=True, routed=True)`` makes; deprecated."""
    _deprecated("generate_factored_timed(t) is generate(t, factored=True, routed=True)")
    made = generate(topology, **given, factored=True, routed=True)
    return made.schedule, dict(made.seconds)


def generate_multicast(topology: Network, **given: Any) -> InNetwork:
    """Return what ``generate(topology, multicast=True)`` makes; deprecated."""
    from forestcoll.in_network.collectives import InNetwork

    _deprecated("generate_multicast(t) is generate(t, multicast=True)")
    made = generate(topology, **given, multicast=True)
    schedule: Any = made.schedule
    return InNetwork(schedule, dict(made.seconds), dict(made.saved))


def _deprecated(what: str) -> None:
    warnings.warn(f"deprecated: {what}", DeprecationWarning, stacklevel=3)
