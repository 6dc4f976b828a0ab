"""Throughput by tree depth: schedules from the shallowest to the fastest.

Problem: a transfer of few bytes takes hops times latency, one of many bytes size over rate.
Input:   a topology and a collective.
Output:  schedules, each deeper and faster than the one before, the last as fast as any; each with
         an upper bound on the rate of trees of its depth.
Cost:    some searches for each depth; see :mod:`forestcoll.bounded_depth.depth_ladder`.
Source:  Own; ForestColl optimizes throughput alone.
"""

from __future__ import annotations

from typing import Any

from forestcoll.bounded_depth.depth_limit import DepthPoint, points_of
from forestcoll.core.stopwatch import Progress, Stopwatch
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.topology.spec import Network

__all__ = ["DepthPoint", "rate_by_depth"]


def rate_by_depth(
    topology: Network,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    **given: Any,
) -> tuple[DepthPoint, ...]:
    """Find schedules of small depth, with the throughput of each.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
        A network of two GPUs or more.
    options : Options, optional
        As for :func:`forestcoll.generation.generate`; ``max_depth`` ends the list, ``k`` fixes the
        number of trees per GPU.
    progress : callable, optional
        Called with (stage, done, total).
    **given
        Single options by name.

    Returns
    -------
    tuple of DepthPoint
        By depth, from the least depth of this collective (the eccentricity of a root, in hops from
        GPU to GPU). No point dominates another. The last is the schedule of
        :func:`forestcoll.generation.generate` with these options, unless the search found shallower
        trees that are as fast. For an allreduce, a pair of forests may be faster. All others are
        the fastest *found* at their depth; where ``proved``, none faster exists.

    Raises
    ------
    UnsupportedError
        If there is a single GPU, or the method is "paper".
    InfeasibleError
        If ``max_depth`` is below the eccentricity of a root.
    ForestCollError
        As for :func:`forestcoll.generation.generate`.

    Examples
    --------
    Two boxes of eight GPUs: at depth 1 every shard crosses the slow links seven times too often.
    One more hop, over the fast links, removes this cost.

    >>> from forestcoll.topology import load_topology
    >>> for point in rate_by_depth(load_topology("dgx_a100:boxes=2")):
    ...     print(point.depth, point.algbw_gb_s, point.k, point.proved)
    1 50 1 True
    2 1040/3 13 True
    """
    return points_of(Request.of(topology, Options.of(options, given)), Stopwatch(progress))
