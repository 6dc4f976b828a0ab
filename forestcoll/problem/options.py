"""Options of schedule generation: collective, weights, k, depth limit and so on.

Problem: name each option, with its type, default and meaning, in one place.
Input:   keywords, as users give them.
Output:  one frozen object, which every stage gets whole.
Source:  ForestColl sections 5.5 (fixed k), 5.6 (multicast) and 5.7 (collectives).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from forestcoll.errors import (
    InvalidParameterError,
    UnknownMethodError,
    UnsupportedError,
    did_you_mean,
)
from forestcoll.former_names import PARAMETERS, renamed
from forestcoll.problem.limits import check_seconds, check_threads
from forestcoll.problem.over_time.timed_links import read_alpha
from forestcoll.problem.sizes import read_size
from forestcoll.problem.weights import Weights
from forestcoll.topology.numbers import Exact, in_short

__all__ = ["ALPHA_US", "LP_TIME_LIMIT_S", "METHODS", "MOST_TREES", "Options", "check_k"]

MOST_TREES = 10**15
"""The largest k: beyond it a few thousand GPUs need more trees in all than 64 bits count."""

METHODS = ("forestcoll", "paper")
"""Methods: the core, and the ForestColl paper's own algorithms."""

LP_TIME_LIMIT_S = 60.0
"""Default time limit of the allreduce program, in seconds."""

ALPHA_US = Fraction(10)
"""Default latency of a hop for a size: that of simulations."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Options:
    """Options of :func:`forestcoll.generate`.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter", "broadcast", "reduce" or "allreduce".
    root : str or int, optional
        Name or rank of the GPU that a broadcast starts from, or that a reduce ends at. An
        allreduce with a root is a reduce and a broadcast.
    weights : mapping or sequence, optional
        How much of the data each GPU has (in a reduction, wants the sum of): numbers from 0 up, by
        name or by rank, as for :func:`forestcoll.problem.weights.whole_weights`. Equal if not
        given.
    k : int, optional
        Trees per unit of weight; the optimum's k if not given. The forest attains the best rate
        found for this k (:func:`forestcoll.core.fixed_k.fixed_k`).
    max_depth : int, optional
        Limit on the GPU hops of every tree, as :func:`forestcoll.latency` counts them; for an
        allreduce, on the sum of both phases. If the optimum's trees are deeper, or an allreduce
        does not attain its bound, the result is the fastest forest found within the limit
        (:func:`forestcoll.rate_by_depth` compares its rate with an upper bound). It has an
        ``optimum`` only if it attains that.
    sparse_exchange : bool
        Whether each of 23 or more equal boxes exchanges with few others instead of all. The rate
        is the same, logical links are fewer, generation is faster, and trees are deeper by a hop or
        more (docs/how-to/large-networks.md). Beyond some 140 boxes this is always on.
    multicast : bool
        Whether switches marked ``multicast`` multicast and reduce. For an allreduce all programs
        then share ``lp_time_limit_s``: a bound and trees that reach multicast switches, forwarding
        switches, and single roots, one of each orbit.
    factored : bool
        Whether the trees stay in factored form, for networks of thousands of GPUs, whose explicit
        trees fill gigabytes (:mod:`forestcoll.core.assembly` makes them).
    method : str
        "forestcoll", the core; or "paper", the ForestColl paper's own algorithms
        (:mod:`forestcoll.core.paper`), for comparison: equally optimal, far slower, deeper trees;
        for equal weights and the optimal k only. The forest's ``method`` is "forestcoll" or
        "forestcoll-paper".
    threads : int, optional
        The largest number of threads; by default all cores that this process may use. The forest
        does not depend on it. The method "paper" uses one.
    lp_time_limit_s : float
        Time limit in seconds of the allreduce program (:mod:`forestcoll.allreduce`). The
        program runs if cuts do not prove that an optimal reduction and an optimal allgather
        are the best allreduce. It does not run if the limit is 0, k is given or the method is
        "paper".
    routed : bool
        Whether to find the physical paths immediately, as a timed stage, instead of on first use.
    size : int or str, optional
        Size of the data, in bytes or as "4MB". Latencies then count: the result is a forest over
        time, of trees of unlike depths with unequal shares
        (:mod:`forestcoll.forest_over_time`), with bounds on its time. It need not have the
        optimal rate. Not with k, a depth, multicast, factored form or the paper's method.
    alpha_us : int, Fraction or str, optional
        Latency of a hop from GPU to GPU in microseconds, beside those of its links; for a size
        only, 10 if not given.
    time_limit_s : float, optional
        Seconds for a size, after which the result is the best schedule found so far; no limit if
        not given.

    Raises
    ------
    UnknownMethodError
        If the method is none of :data:`METHODS`.
    InvalidParameterError
        If a number of threads, trees or hops is below one; if the time limit, the size or alpha is
        invalid, or alpha or its time limit has no size.
    UnsupportedError
        If two options exclude each other.
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
    size: int | str | None = None
    alpha_us: Exact | None = None
    time_limit_s: float | None = None

    @property
    def size_bytes(self) -> int | None:
        """The size in bytes, if there is one."""
        return None if self.size is None else _read_size(self.size)

    @property
    def alpha(self) -> Fraction:
        """Alpha in microseconds."""
        return ALPHA_US if self.alpha_us is None else read_alpha(self.alpha_us)

    def __repr__(self) -> str:
        """The call that makes them: options with their defaults are left out."""
        given = (
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)
            if getattr(self, one.name) != one.default
        )
        return f"{type(self).__name__}({', '.join(given)})"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            hint = did_you_mean(self.method, METHODS, f"known: {', '.join(METHODS)}")
            raise UnknownMethodError(f"there is no method {self.method!r}; {hint}")
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
                "trees with multicast switches have no depth limit; leave out "
                "max_depth or multicast"
            )
        if self.multicast and self.factored:
            raise UnsupportedError(
                "unsupported: multicast trees are written out; leave factored or multicast away"
            )
        check_seconds(self.lp_time_limit_s, "the time for the allreduce program")
        self._check_size()

    def _check_size(self) -> None:
        if self.size is None:
            if self.alpha_us is not None:
                raise InvalidParameterError("alpha is for a size; give a size, or leave alpha out")
            if self.time_limit_s is not None:
                raise InvalidParameterError(
                    "the time limit is for a size; give a size, or leave the limit out"
                )
            return
        if self.time_limit_s is not None:
            check_seconds(self.time_limit_s, "the time limit")
        _read_size(self.size)
        read_alpha(ALPHA_US if self.alpha_us is None else self.alpha_us)
        others = {
            "k": self.k is not None,
            "max_depth": self.max_depth is not None,
            "sparse_exchange": self.sparse_exchange,
            "multicast": self.multicast,
            "factored": self.factored,
            "the method paper": self.method != "forestcoll",
        }
        for name, given in others.items():
            if given:
                raise UnsupportedError(
                    f"unsupported: a schedule for a size chooses its trees itself; leave out "
                    f"{name}, or the size"
                )

    @classmethod
    def of(cls, options: Options | None, given: Mapping[str, Any]) -> Options:
        """Return options with some of them replaced by keywords.

        Raises TypeError if there is no such option.

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


def _read_size(size: int | str) -> int:
    try:
        return read_size(size)
    except ValueError as error:
        raise InvalidParameterError(f"the size {error}") from None


def check_k(k: int, what: str = "k") -> None:
    """Raise InvalidParameterError unless k is a whole number from 1 to MOST_TREES."""
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= MOST_TREES:
        raise InvalidParameterError(
            f"{what} is {in_short(k)}; it must be a whole number from 1 to {MOST_TREES}"
        )
