"""What throughput a depth costs: schedules from the lowest to the fastest.

Problem: a transfer of few bytes takes hops times latency, one of many bytes size over rate.
Input:   a topology and a collective.
Output:  schedules, each taller and faster than the one before, the last as fast as any; beside each
         a rate that no trees as low exceed.
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
    """Find schedules of little depth, and what they cost in throughput.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
        Of two GPUs or more.
    options : Options, optional
        As of :func:`forestcoll.generation.generate`; ``max_depth`` ends the list, ``k`` leaves
        one number of trees per GPU.
    progress : callable, optional
        Called with (stage, done, total).
    **given
        Single options by name.

    Returns
    -------
    tuple of DepthPoint
        By depth, from the least that trees of this collective can have (the eccentricity of a
        root, in hops from GPU to GPU); no point is as low and as fast as another. The last is as
        fast as what :func:`forestcoll.generation.generate` makes of these options, and is that,
        unless lower trees as fast were found; of an allreduce a pair of forests may be faster. The
        others are the fastest *found* at their depth;
        none faster exists where ``proved``.

    Raises
    ------
    UnsupportedError
        If there is a single GPU, or the method is "paper".
    InfeasibleError
        If ``max_depth`` is below the eccentricity of a root.
    ForestCollError
        As of :func:`forestcoll.generation.generate`.

    Examples
    --------
    Two boxes of eight GPUs: to send every shard to every GPU at once takes the slow links seven
    times too often; all that the fast ones then save takes one more hop.

    >>> from forestcoll.topology import load_topology
    >>> for point in rate_by_depth(load_topology("dgx_a100:boxes=2")):
    ...     print(point.depth, point.algbw_gb_s, point.k, point.proved)
    1 50 1 True
    2 1040/3 13 True
    """
    return points_of(Request.of(topology, Options.of(options, given)), Stopwatch(progress))
