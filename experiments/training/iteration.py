"""What an iteration of training costs on a network, and what another choice would save.

Problem: how much of the communication is visible, and whether a faster network is worth it.
Input:   layers, a way of training in parallel, seconds of collectives.
Output:  timelines: of the choice itself, and of others beside it.
Cost:    that of the collectives.
Source:  Zhao et al. (NSDI 2025), appendix A.4: the bucket is the best of 1 MB, 10 MB, 100 MB, 1 GB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from experiments.training.parallelism import (
    Layer,
    SecondsOf,
    data_parallel,
    expert_parallel,
    sharded,
)
from experiments.training.timeline import Timeline, timeline
from forestcoll.errors import InvalidParameterError

__all__ = ["BUCKETS", "PARALLEL", "Iteration", "iteration"]

BUCKETS = (2**20, 10 * 2**20, 100 * 2**20, 2**30)
"""Bytes of buckets to choose from."""

PARALLEL = ("data", "expert", "sharded")
"""Ways of training in parallel."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration.

    Parameters
    ----------
    parallel : str
    timeline : Timeline
    bucket_bytes : int, optional
        The bucket in use; None where there is none.
    """

    parallel: str
    timeline: Timeline
    bucket_bytes: int | None

    def visible(self, kind: str) -> float | None:
        """Return the visible time of a kind of communication; None if there is none of it."""
        return self.timeline.visible_by_kind().get(kind)

    @property
    def visible_share(self) -> float:
        """Share of the iteration in which nothing is computed."""
        return self.timeline.visible / self.timeline.seconds if self.timeline.seconds else 0.0


def iteration(
    layers: Sequence[Layer],
    parallel: str,
    seconds_of: SecondsOf,
    *,
    bucket_bytes: int | None = None,
    prefetch: int = 1,
) -> Iteration:
    """Run an iteration; without a bucket, with the best of BUCKETS.

    Raises
    ------
    InvalidParameterError
        If the way is unknown, or a number is out of range.
    """
    if parallel not in PARALLEL:
        raise InvalidParameterError(
            f"parallel is {parallel!r}; it must be one of {', '.join(PARALLEL)}"
        )
    if parallel == "sharded":
        return Iteration(parallel, timeline(sharded(layers, seconds_of, prefetch)), None)
    ways = {"data": data_parallel, "expert": expert_parallel}
    made = partial(ways[parallel], layers, seconds_of)
    sizes = BUCKETS if bucket_bytes is None else (bucket_bytes,)
    tried = [Iteration(parallel, timeline(made(size)), size) for size in sizes]
    return min(tried, key=lambda one: one.timeline.seconds)
