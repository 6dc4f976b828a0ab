"""A network in, a schedule out, and the proof of how good it is.

Problem: a collective in the least possible time.
Input:   a topology of GPUs and switches; options: the collective with its root or weights.
Output:  spanning trees, k times its weight per GPU, with their physical paths, and the cut that
         proves that nothing can be faster. A reduction runs over trees of the reversed network,
         an allreduce over those of a reduction and of a gathering; its bound may leave a gap.
Cost:    the sum of the stages, whose seconds the result has. Of an allreduce that cuts do not prove
         optimal that of a linear program, too (:mod:`forestcoll.core.best_allreduce`).
Source:  ForestColl sections 5 and 5.7; by the core's algorithms, or by the paper's own to compare
         with. :mod:`forestcoll.core.pipeline` names the stages.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forestcoll.bounded_depth.depth_limit import schedule_within
from forestcoll.core.pipeline import EXPLICIT, FACTORED, PAPER_STAGES, STAGES
from forestcoll.core.stopwatch import Progress, Stopwatch
from forestcoll.errors import UnsupportedError
from forestcoll.in_network.collectives import InNetwork, in_network
from forestcoll.in_network.pruning import Traffic
from forestcoll.problem.options import METHODS, Options
from forestcoll.problem.request import Request, usable_cores
from forestcoll.schedule.allreduce import TreeSchedule
from forestcoll.schedule.forest import Forest
from forestcoll.topology.spec import Network

__all__ = [
    "METHODS",
    "PAPER_STAGES",
    "STAGES",
    "Generated",
    "Options",
    "Progress",
    "generate",
    "generate_factored",
    "generate_factored_timed",
    "generate_multicast",
    "generate_timed",
    "usable_cores",
]


@dataclass(frozen=True, slots=True)
class Generated:
    """A schedule, and how it came about.

    Parameters
    ----------
    schedule : Forest, FactoredForest, MulticastForest, or an Allreduce of two
        With ``optimum`` set: the bound it attains and the cut that proves it; None if the k given
        does not attain it. An allreduce has a ``bound``, which it may attain or not, and a
        ``remark`` on what it is. The schedule of a single GPU is empty, with no optimum.
    options : Options
        What was asked for.
    seconds : mapping
        Wall-clock seconds of each stage.
    saved : mapping
        Where switches copy: "traffic" of one phase, "traffic_of_reduce" and "traffic_of_gather" of
        two: what runs over each class of links without and with it. Empty where other trees were
        made.

    Notes
    -----
    In earlier versions :func:`generate` returned the schedule itself. Its attributes are found here
    too for this version, with a DeprecationWarning.
    """

    schedule: TreeSchedule
    options: Options
    seconds: Mapping[str, float] = field(compare=False, repr=False)
    saved: Mapping[str, tuple[Traffic, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def forest(self) -> Forest:
        """The schedule as one forest that is written out, for those who asked for just that.

        Raises
        ------
        UnsupportedError
            If it is an allreduce, in factored form, or of switches that copy.
        """
        if isinstance(self.schedule, Forest):
            return self.schedule
        kind = type(self.schedule).__name__
        raise UnsupportedError(f"the schedule is no Forest but a {kind}; take .schedule")

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
    """Generate a throughput-optimal schedule of a collective; the best allreduce that is found.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    options : Options, optional
        The collective, root, weights, k and all else that can be asked:
        :class:`forestcoll.Options` says what each is.
    progress : callable, optional
        Told (stage, done, total); stages are :data:`STAGES` or :data:`PAPER_STAGES`, for each
        forest of an allreduce, and :data:`PROGRAM_STAGE`.
    **given
        Single options by name, which take the place of those in ``options``.

    Returns
    -------
    Generated
        The schedule, the options, and the seconds of each stage.

    Raises
    ------
    InvalidTopologyError
        No GPU, an unreachable GPU, or a switch that sends more than it receives (in a reduction,
        receives more than it sends).
    CapacityOverflowError
        If the exact whole numbers of this network do not fit 64 bits.
    UnknownMethodError
        If the method is none of :data:`METHODS`.
    UnsupportedError
        If there is no such collective, or the method does not support it.
    InvalidParameterError
        If there are fewer than one thread, tree or hop; if the root or the weights are wrong,
        missing, or not for this collective.
    InfeasibleError
        If a tree of that depth cannot reach every GPU: it is below the eccentricity of a root.

    Examples
    --------
    >>> forest = generate("ring:nodes=4").schedule
    >>> forest.k, forest.time_s_per_gb == forest.optimum.time_s_per_gb
    (2, True)
    >>> made = generate("ring:nodes=4", collective="broadcast", root="gpu2", routed=True)
    >>> made.schedule.algbw_gb_s, list(made.seconds)[-1]
    (Fraction(2, 1), 'routing')

    Sums made by an NVSwitch of 450 GB/s to every GPU; without it 8/14 of that.

    >>> asked = Options(collective="allreduce", multicast=True)
    >>> made = generate("dgx_h100:boxes=1", asked)
    >>> float(made.schedule.algbw_gb_s), made.schedule.optimal
    (450.0, True)
    """
    asked = Options.of(options, given)
    request, clock = Request.of(topology, asked), Stopwatch(progress)
    if asked.multicast:
        schedule, seconds, saved = in_network(request, progress)
        return Generated(schedule, asked, seconds, saved)
    if asked.factored:
        return Generated(schedule_within(request, FACTORED, clock), asked, clock.seconds)
    return Generated(schedule_within(request, EXPLICIT, clock), asked, clock.seconds)


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
    _deprecated("generate_multicast(t) is generate(t, multicast=True)")
    made = generate(topology, **given, multicast=True)
    schedule: Any = made.schedule
    return InNetwork(schedule, dict(made.seconds), dict(made.saved))


def _deprecated(what: str) -> None:
    warnings.warn(f"deprecated: {what}", DeprecationWarning, stacklevel=3)
