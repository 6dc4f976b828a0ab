"""Options of a schedule: what can be asked beside the network.

Problem: one place that names each option, with its type, default and meaning.
Input:   keywords, as people give them.
Output:  one frozen object, which travels whole to the stage that reads an option.
Cost:    none.
Source:  ForestColl sections 5.5 (fixed k), 5.6 (multicast) and 5.7 (collectives).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from forestcoll.errors import InvalidParameterError, UnknownMethodError, UnsupportedError
from forestcoll.former_names import PARAMETERS, renamed
from forestcoll.problem.limits import check_seconds, check_threads
from forestcoll.problem.weights import Weights
from forestcoll.topology.numbers import in_short

__all__ = ["LP_TIME_LIMIT_S", "METHODS", "MOST_TREES", "Options", "check_k"]

MOST_TREES = 10**15
"""The greatest k: beyond it a few thousand GPUs need more trees in all than 64 bits count."""

METHODS = ("forestcoll", "paper")
"""The core, and the ForestColl paper's own algorithms."""

LP_TIME_LIMIT_S = 60.0
"""Seconds that the allreduce program may take, if nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is asked of :func:`forestcoll.generate`, beside the network.

    Parameters
    ----------
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
    max_depth : int, optional
        Hops from GPU to GPU that no tree may exceed, as :func:`forestcoll.latency` counts them; of
        an allreduce the sum over both phases. Where the optimum's trees are taller, or an allreduce
        does not attain its bound, the fastest that is found within it
        (:func:`forestcoll.rate_by_depth` says how near that is to what no trees as low exceed);
        with ``optimum`` set only if it is as fast as any.
    sparse_exchange : bool
        Whether equal boxes exchange with few others each instead of all, from 23 boxes on: as fast,
        with fewer logical links, sooner, and trees taller by a hop or more
        (docs/how-to/large-networks.md has the trade). Beyond some 140 boxes that is so anyway.
    multicast : bool
        Whether switches marked ``multicast`` copy and add. Of an allreduce ``lp_time_limit_s`` is
        then for all programs together: for a bound and trees that reach switches that copy, for
        switches that forward, and for single roots, one of each orbit.
    factored : bool
        Whether the trees stay in factored form, not written out: for networks of thousands of
        GPUs, whose trees fill gigabytes (:mod:`forestcoll.core.assembly` makes them).
    method : str
        "forestcoll", the core; or "paper", the ForestColl paper's own algorithms
        (:mod:`forestcoll.core.paper`), to compare with: as optimal, far slower, taller trees; for
        equal weights and the optimal k only. The forest's ``method`` is "forestcoll" or
        "forestcoll-paper".
    threads : int, optional
        At most so many; all cores that this process may use if not given. The forest does not
        depend on their number. The method "paper" uses one.
    lp_time_limit_s : float
        Of an allreduce: if cuts do not prove that reduction and gathering, each optimal, are the
        best together, so many seconds for the allreduce program
        (:mod:`forestcoll.core.best_allreduce`). It is not asked if this is 0, a k is given or the
        method is "paper".
    routed : bool
        Whether to find the physical paths at once, as a stage that is timed, and not when they are
        first asked for.

    Raises
    ------
    UnknownMethodError
        If the method is none of :data:`METHODS`.
    InvalidParameterError
        If there are fewer than one thread, tree or hop, or the time is none.
    UnsupportedError
        If two of these exclude each other.
    """

    collective: str = "allgather"
    root: str | int | None = None
    weights: Weights | None = None
    k: int | None = None
    max_depth: int | None = None
    sparse_exchange: bool = False
    multicast: bool = False
    factored: bool = False
    method: str = "forestcoll"
    threads: int | None = None
    lp_time_limit_s: float = LP_TIME_LIMIT_S
    routed: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            known = ", ".join(METHODS)
            raise UnknownMethodError(f"there is no method {self.method!r}; known: {known}")
        if self.sparse_exchange and self.method != "forestcoll":
            raise UnsupportedError(
                "the paper's algorithms split links one by one; for few links take the method "
                "forestcoll"
            )
        if self.threads is not None:
            check_threads(self.threads)
        if self.k is not None:
            check_k(self.k)
        if self.max_depth is not None:
            check_k(self.max_depth, "the greatest depth")
        if self.multicast and self.max_depth is not None:
            raise UnsupportedError(
                "trees in which switches copy are made without a limit of depth; leave "
                "max_depth or multicast away"
            )
        if self.multicast and self.factored:
            raise UnsupportedError(
                "unsupported: multicast trees are written out; leave factored or multicast away"
            )
        check_seconds(self.lp_time_limit_s, "the time for the allreduce program")

    @classmethod
    def of(cls, options: Options | None, given: Mapping[str, Any]) -> Options:
        """Return options with some of them replaced by keywords.

        Raises
        ------
        TypeError
            If there is no such option.

        Examples
        --------
        >>> Options.of(Options(collective="allreduce"), {"k": 2}).k
        2
        """
        given = renamed(given, PARAMETERS)
        names = [field.name for field in fields(cls)]
        if unknown := sorted(set(given) - set(names)):
            raise TypeError(f"there is no option {unknown[0]!r}; options are {', '.join(names)}")
        return cls(**given) if options is None else replace(options, **given)


def check_k(k: int, what: str = "k") -> None:
    """Raise InvalidParameterError unless k is a whole number from 1 to MOST_TREES."""
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= MOST_TREES:
        raise InvalidParameterError(
            f"{what} is {in_short(k)}; it must be a whole number from 1 to {MOST_TREES}"
        )
