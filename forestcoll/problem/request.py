"""What is asked of the toolkit: a collective on a network, checked once and then believed.

Problem: one place that knows every option, so that nothing below has to check or to repeat them.
Input:   a topology and options, as people give them.
Output:  a frozen request: whole weights, a root as a rank, the number of threads.
Cost:    linear in the GPUs.
Source:  ForestColl sections 5.5 (fixed k), 5.6 (multicast) and 5.7 (collectives).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypedDict

from forestcoll.errors import InvalidParameterError, UnknownMethodError, UnsupportedError
from forestcoll.problem.limits import check_seconds, check_threads
from forestcoll.problem.weights import Weights, rank_of_root, weights_for
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import in_short
from forestcoll.topology.spec import Network, as_topology

__all__ = [
    "ASKED",
    "METHODS",
    "MOST_TREES",
    "PROGRAM_S",
    "Asked",
    "Request",
    "check_k",
    "usable_cores",
]

MOST_TREES = 10**15
"""The greatest k: beyond it a few thousand GPUs need more trees in all than 64 bits count."""

METHODS = ("forestcoll", "paper")
"""The core, and the ForestColl paper's own algorithms."""

PROGRAM_S = 60.0
"""Seconds that the allreduce program may take, if nothing else is said."""


class Asked(TypedDict, total=False):
    """What can be asked beside the network and the collective; :class:`Request` says what each is.

    A root is given by name or rank, weights as of :func:`forestcoll.problem.weights.whole_weights`,
    no threads as None: all cores that this process may use.
    """

    root: str | int | None
    weights: Weights | None
    k: int | None
    max_height: int | None
    few_links: bool
    method: str
    threads: int | None
    program_s: float


ASKED: Mapping[str, object] = MappingProxyType(
    {
        "root": None,
        "weights": None,
        "k": None,
        "max_height": None,
        "few_links": False,
        "method": "forestcoll",
        "threads": None,
        "program_s": PROGRAM_S,
    }
)
"""What holds where nothing is asked."""


@dataclass(frozen=True, slots=True)
class Request:
    """A collective on a network; made by :meth:`of`, which checks it.

    Parameters
    ----------
    topology : Topology
    collective : str
        "allgather", "reduce-scatter", "broadcast", "reduce" or "allreduce".
    weights : tuple of int
        Of each rank: its part of the data, whole numbers without a common divisor. Those of a
        root are 1 there and 0 elsewhere.
    root : int, optional
        The rank that a broadcast starts from or a reduce ends at, or over which an allreduce runs.
    anywhere : bool
        Whether neither root nor weights were given: an allreduce may then sum up its parts
        wherever that is fastest.
    k : int, optional
        Trees per unit of weight; the optimum's if not given.
    max_height : int, optional
        Hops from GPU to GPU that no tree may exceed; of an allreduce, both phases in sum.
    few_links : bool
        Whether equal boxes exchange with few others each (:mod:`forestcoll.core.edge_splitting`).
    method : str
        One of :data:`METHODS`.
    threads : int
        At most so many; no result depends on their number.
    multicast : bool
        Whether switches marked ``multicast`` copy and add.
    program_s : float
        Seconds for the allreduce program; 0: it is not asked.
    patient : bool
        Whether trees may take seconds to become lower, as where a height is asked for.
    """

    topology: Topology
    collective: str
    weights: tuple[int, ...]
    root: int | None
    anywhere: bool
    k: int | None
    max_height: int | None
    few_links: bool
    method: str
    threads: int
    multicast: bool
    program_s: float
    patient: bool = False

    @classmethod
    def of(
        cls,
        topology: Network,
        collective: str,
        asked: Asked,
        *,
        multicast: bool = False,
    ) -> Request:
        """Check what is asked for, and return it in one form.

        Raises
        ------
        TypeError
            If there is no such option.
        UnknownMethodError
            If the method is none of :data:`METHODS`.
        UnsupportedError
            If there is no such collective, or a height is given for switches that copy, or few
            links are asked of the paper's algorithms.
        InvalidParameterError
            If there are fewer than one thread, tree or hop; if the root or the weights are wrong,
            missing, or not for this collective; if the time is none.
        """
        if unknown := sorted(set(asked) - ASKED.keys()):
            known = ", ".join(ASKED)
            raise TypeError(f"there is no option {unknown[0]!r}; options are {known}")
        method = asked.get("method", "forestcoll")
        if method not in METHODS:
            raise UnknownMethodError(f"there is no method {method!r}; known: {', '.join(METHODS)}")
        if (few_links := asked.get("few_links", False)) and method != "forestcoll":
            raise UnsupportedError(
                "the paper's algorithms split links one by one; for few links take the method "
                "forestcoll"
            )
        given = asked.get("threads")
        threads = usable_cores() if given is None else given
        check_threads(threads)
        if (k := asked.get("k")) is not None:
            check_k(k)
        if (max_height := asked.get("max_height")) is not None:
            check_k(max_height, "the greatest height")
            if multicast:
                raise UnsupportedError(
                    "trees in which switches copy are made without a limit of height; leave "
                    "max_height or multicast away"
                )
        seconds = asked.get("program_s", PROGRAM_S)
        check_seconds(seconds, "the time for the allreduce program")
        topology = as_topology(topology)
        root, weights = asked.get("root"), asked.get("weights")
        return cls(
            topology=topology,
            collective=collective,
            weights=weights_for(topology, collective, root=root, weights=weights),
            root=None if root is None else rank_of_root(topology, root),
            anywhere=root is None and weights is None,
            k=k,
            max_height=max_height,
            few_links=bool(few_links),
            method=method,
            threads=int(threads),
            multicast=multicast,
            program_s=seconds,
        )

    def over(self, rank: int) -> Request:
        """Return the same collective over a single root."""
        weights = tuple(int(other == rank) for other in range(self.topology.num_compute))
        return replace(self, weights=weights, root=rank, anywhere=False)

    @property
    def is_free(self) -> bool:
        """Whether the schedule may be any that is best: no k is given, and it is for the core."""
        return self.k is None and self.method == "forestcoll"

    @property
    def reductions(self) -> tuple[bool, ...]:
        """Which way the data runs in each phase: True where it is summed up."""
        if self.collective == "allreduce":
            return (True, False)
        return (self.collective in ("reduce-scatter", "reduce"),)


def check_k(k: int, what: str = "k") -> None:
    """Raise InvalidParameterError unless k is a whole number from 1 to MOST_TREES."""
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= MOST_TREES:
        raise InvalidParameterError(
            f"{what} is {in_short(k)}; it must be a whole number from 1 to {MOST_TREES}"
        )


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
