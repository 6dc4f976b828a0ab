"""A network in, a schedule out, and the proof of how good it is.

Problem: a collective in the least possible time.
Input:   a topology of GPUs and switches; the collective with its root or weights.
Output:  spanning trees, k times its weight per GPU, with their physical paths, and the cut that
         proves that nothing can be faster. A reduction runs over trees of the reversed network,
         an allreduce over those of a reduction and of a gathering; its bound may leave a gap.
Cost:    the sum of the stages; generate_timed measures each. Of an allreduce that cuts do not prove
         optimal that of a linear program, too (:mod:`forestcoll.core.best_allreduce`).
Source:  ForestColl sections 5 and 5.7; by the core's algorithms, or by the paper's own to compare
         with. :mod:`forestcoll.core.pipeline` names the stages.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Literal, ParamSpec, TypeVar, Unpack, overload

from forestcoll.core.pipeline import EXPLICIT, FACTORED, PAPER_STAGES, STAGES
from forestcoll.core.stopwatch import Progress, Stopwatch
from forestcoll.in_network.collectives import InNetwork, in_network
from forestcoll.low_height.height_limit import schedule_within
from forestcoll.problem.request import ASKED, METHODS, Asked, Request, usable_cores
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Forest
from forestcoll.topology.spec import Network

__all__ = [
    "METHODS",
    "PAPER_STAGES",
    "STAGES",
    "Options",
    "Progress",
    "generate",
    "generate_factored",
    "generate_factored_timed",
    "generate_multicast",
    "generate_timed",
    "usable_cores",
]

P = ParamSpec("P")
R = TypeVar("R")

OneWay = Literal["allgather", "reduce-scatter", "broadcast", "reduce"]
"""Collectives of a single forest."""


class Options(Asked, total=False):
    """What :func:`generate` takes beside the network and the collective."""

    progress: Progress | None


def _with_options(function: Callable[P, R]) -> Callable[P, R]:
    """Let the signature that ``help`` and notebooks show name every option with its default."""
    own = inspect.signature(function)
    fixed = [
        one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in ASKED.items()
    ]
    function.__signature__ = own.replace(parameters=[*fixed, *options])  # type: ignore[attr-defined]
    return function


@overload
def generate(
    topology: Network, *, collective: OneWay = "allgather", **options: Unpack[Options]
) -> Forest: ...
@overload
def generate(
    topology: Network, *, collective: Literal["allreduce"], **options: Unpack[Options]
) -> Allreduce[Forest]: ...
@overload
def generate(
    topology: Network, *, collective: str, **options: Unpack[Options]
) -> Forest | Allreduce[Forest]: ...
@_with_options
def generate(
    topology: Network,
    *,
    collective: str = "allgather",
    progress: Progress | None = None,
    **asked: Unpack[Asked],
) -> Forest | Allreduce[Forest]:
    """Generate a throughput-optimal schedule of a collective; the best allreduce that is found.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    collective : str
        "allgather", "reduce-scatter", "broadcast", "reduce" or "allreduce".
    root : str or int, optional
        Name or rank of the GPU that a broadcast starts from, or that a reduce ends at. An
        allreduce with a root is a reduce and a broadcast.
    weights : mapping or sequence, optional
        How much of the data each GPU has (in a reduction, wants the sum of): numbers from 0 up, by
        name or by rank, as of :func:`forestcoll.problem.weights.whole_weights`. All the same if not
        given.
    k : int, optional
        Trees per unit of weight; the optimum's k if not given. The forest attains the best that
        was found for such trees (:func:`forestcoll.core.fixed_k.fixed_k`).
    max_height : int, optional
        Hops from GPU to GPU that no tree may exceed, as :func:`forestcoll.latency` counts them; of
        an allreduce the sum over both phases. Where the optimum's trees are taller, or an allreduce
        does not attain its bound, the fastest that is found within it
        (:func:`forestcoll.rate_by_height` says how near that is to what no trees as low exceed);
        with ``optimum`` set only if it is as fast as any.
    few_links : bool
        Whether equal boxes exchange with few others each instead of all, from 23 boxes on: as fast,
        with fewer logical links, sooner, and trees taller by a hop or more
        (docs/how-to/large-networks.md has the trade). Beyond some 140 boxes that is so anyway.
    method : str
        "forestcoll", the core; or "paper", the ForestColl paper's own algorithms
        (:mod:`forestcoll.core.paper`), to compare with: as optimal, far slower, taller trees; for
        equal weights and the optimal k only. The forest's ``method`` is "forestcoll" or
        "forestcoll-paper".
    threads : int, optional
        At most so many; all cores that this process may use if not given. The forest does not
        depend on their number. The method "paper" uses one.
    progress : callable, optional
        Told (stage, done, total); stages are :data:`STAGES` or :data:`PAPER_STAGES`, for each
        forest of an allreduce, and
        :data:`PROGRAM_STAGE`.
    program_s : float
        60 if not given. Of an allreduce: if cuts do not prove that reduction and gathering, each
        optimal, are the best together, so many seconds for the allreduce program
        (:mod:`forestcoll.core.best_allreduce`). It is not asked if this is 0, a k is given or the
        method is "paper".

    Returns
    -------
    Forest or Allreduce
        With ``forest.optimum`` set: the bound it attains and the cut that proves it; None if the k
        given does not attain it. An allreduce has a ``bound``, which it may attain or not, and a
        ``remark`` on what it is. Physical paths are found when they are first asked for. The
        schedule of a single GPU is empty, with no optimum.

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
        If a tree of that height cannot reach every GPU: it is below the eccentricity of a root.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> forest = generate(load_topology("ring:nodes=4"))
    >>> forest.k, forest.time_s_per_gb == forest.optimum.time_s_per_gb
    (2, True)
    >>> generate(load_topology("ring:nodes=4"), collective="broadcast", root="gpu2").algbw_gb_s
    Fraction(2, 1)
    """
    return schedule_within(Request.of(topology, collective, asked), EXPLICIT, Stopwatch(progress))


@overload
def generate_factored(
    topology: Network, *, collective: OneWay = "allgather", **options: Unpack[Options]
) -> FactoredForest: ...
@overload
def generate_factored(
    topology: Network, *, collective: Literal["allreduce"], **options: Unpack[Options]
) -> Allreduce[FactoredForest]: ...
@overload
def generate_factored(
    topology: Network, *, collective: str, **options: Unpack[Options]
) -> FactoredForest | Allreduce[FactoredForest]: ...
@_with_options
def generate_factored(
    topology: Network,
    *,
    collective: str = "allgather",
    progress: Progress | None = None,
    **asked: Unpack[Asked],
) -> FactoredForest | Allreduce[FactoredForest]:
    """Generate as :func:`generate` does, without writing the trees out.

    For networks of thousands of GPUs, whose trees fill gigabytes;
    :mod:`forestcoll.core.assembly` makes them.
    """
    return schedule_within(Request.of(topology, collective, asked), FACTORED, Stopwatch(progress))


@overload
def generate_timed(
    topology: Network, *, collective: OneWay = "allgather", **options: Unpack[Options]
) -> tuple[Forest, dict[str, float]]: ...
@overload
def generate_timed(
    topology: Network, *, collective: str, **options: Unpack[Options]
) -> tuple[Forest | Allreduce[Forest], dict[str, float]]: ...
@_with_options
def generate_timed(
    topology: Network,
    *,
    collective: str = "allgather",
    progress: Progress | None = None,
    **asked: Unpack[Asked],
) -> tuple[Forest | Allreduce[Forest], dict[str, float]]:
    """Generate as :func:`generate` does, and measure the wall-clock seconds of each stage.

    All stages are run, the routing too.
    """
    clock, request = Stopwatch(progress), Request.of(topology, collective, asked)
    return schedule_within(request, EXPLICIT, clock, routed=True), clock.seconds


@overload
def generate_factored_timed(
    topology: Network, *, collective: OneWay = "allgather", **options: Unpack[Options]
) -> tuple[FactoredForest, dict[str, float]]: ...
@overload
def generate_factored_timed(
    topology: Network, *, collective: str, **options: Unpack[Options]
) -> tuple[FactoredForest | Allreduce[FactoredForest], dict[str, float]]: ...
@_with_options
def generate_factored_timed(
    topology: Network,
    *,
    collective: str = "allgather",
    progress: Progress | None = None,
    **asked: Unpack[Asked],
) -> tuple[FactoredForest | Allreduce[FactoredForest], dict[str, float]]:
    """Generate as :func:`generate_factored` does, and measure the seconds of each stage.

    All stages are run, the routing too.
    """
    clock, request = Stopwatch(progress), Request.of(topology, collective, asked)
    return schedule_within(request, FACTORED, clock, routed=True), clock.seconds


@_with_options
def generate_multicast(
    topology: Network,
    *,
    collective: str = "allgather",
    progress: Progress | None = None,
    **asked: Unpack[Asked],
) -> InNetwork:
    """Generate a schedule in which the switches marked ``multicast`` copy and add.

    Parameters
    ----------
    topology, collective, progress, and the options
        As of :func:`generate`; of an allreduce ``program_s`` is for all programs together: for a
        bound and trees that reach switches that copy, for switches that forward, and for single
        roots, one of each orbit.

    Raises
    ------
    ForestCollError
        As of :func:`generate`.

    Examples
    --------
    Sums made by an NVSwitch of 450 GB/s to every GPU; without it 8/14 of that.

    >>> from forestcoll.topology import load_topology
    >>> box = load_topology("dgx_h100:boxes=1")
    >>> made = generate_multicast(box, collective="allreduce").schedule
    >>> float(made.algbw_gb_s), made.optimal
    (450.0, True)
    """
    return in_network(Request.of(topology, collective, asked, multicast=True), progress)
