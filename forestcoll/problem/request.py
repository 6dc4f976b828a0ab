"""Requests: options on a network, checked once and trusted by all stages.

Problem: read roots and weights in one place, so that no later stage has to.
Input:   a topology and options, as users give them.
Output:  a frozen request: the options, whole weights, a root as a rank.
Cost:    linear in the GPUs.
Source:  ForestColl section 5.7 (collectives).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from forestcoll.problem.options import Options
from forestcoll.problem.weights import rank_of_root, weights_for
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import Network, as_topology

__all__ = ["Request", "usable_cores"]


@dataclass(frozen=True, slots=True)
class Request:
    """A collective on a network; made by :meth:`of`, which checks it.

    Parameters
    ----------
    options : Options
        As they were given.
    weights : tuple of int
        For each rank, its part of the data: whole numbers without a common divisor. With a root,
        1 there and 0 elsewhere.
    root : int, optional
        The rank that a broadcast starts from or a reduce ends at; the single root of an allreduce.
    thorough : bool
        Whether the search may take seconds to make trees shallower, as with a depth limit.
    """

    topology: Topology
    options: Options
    weights: tuple[int, ...]
    root: int | None
    thorough: bool = False

    @classmethod
    def of(cls, topology: Network, options: Options) -> Request:
        """Read the root and the weights.

        Raises
        ------
        UnsupportedError
            If there is no such collective.
        InvalidParameterError
            If the root or the weights are wrong, missing, or not for this collective.
        """
        topology = as_topology(topology)
        root, weights = options.root, options.weights
        return cls(
            topology=topology,
            options=options,
            weights=weights_for(topology, options.collective, root=root, weights=weights),
            root=None if root is None else rank_of_root(topology, root),
        )

    def over(self, rank: int) -> Request:
        """Return the same collective over a single root."""
        weights = tuple(int(other == rank) for other in range(self.topology.num_compute))
        options = replace(self.options, root=rank, weights=None)
        return replace(self, options=options, weights=weights, root=rank)

    @property
    def collective(self) -> str:
        """The collective of the options."""
        return self.options.collective

    @property
    def threads(self) -> int:
        """The largest number of threads; no result depends on it."""
        asked = self.options.threads
        return usable_cores() if asked is None else int(asked)

    @property
    def free_root(self) -> bool:
        """Whether an allreduce may sum up its parts at the GPUs where that is fastest.

        This is so if neither root nor weights were given.
        """
        return self.options.root is None and self.options.weights is None

    @property
    def is_free(self) -> bool:
        """Whether any optimal schedule will do: no k is given, and the method is the core."""
        return self.options.k is None and self.options.method == "forestcoll"

    @property
    def reductions(self) -> tuple[bool, ...]:
        """The direction of each phase: True for a reduction."""
        if self.collective == "allreduce":
            return (True, False)
        return (self.collective in ("reduce-scatter", "reduce"),)


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
