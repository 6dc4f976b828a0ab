"""What throughput a height costs: schedules from the lowest to the fastest.

Problem: a transfer of few bytes takes hops times latency, one of many bytes size over rate.
Input:   a topology and a collective.
Output:  schedules, each taller and faster than the one before, the last as fast as any; beside each
         a rate that no trees as low exceed.
Cost:    some searches for each height; see :mod:`forestcoll.low_height.height_ladder`.
Source:  Own; ForestColl optimizes throughput alone.
"""

from __future__ import annotations

from typing import Any

from forestcoll.core.stopwatch import Progress, Stopwatch
from forestcoll.low_height.height_limit import HeightPoint, points_of
from forestcoll.problem.options import Options
from forestcoll.problem.request import Request
from forestcoll.topology.spec import Network

__all__ = ["HeightPoint", "rate_by_height"]


def rate_by_height(
    topology: Network,
    options: Options | None = None,
    *,
    progress: Progress | None = None,
    **given: Any,
) -> tuple[HeightPoint, ...]:
    """Find schedules of little height, and what they cost in throughput.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
        Of two GPUs or more.
    options : Options, optional
        As of :func:`forestcoll.generation.generate`; ``max_height`` ends the list, ``k`` leaves
        one number of trees per GPU.
    progress : callable, optional
        Told (stage, done, total).
    **given
        Single options by name.

    Returns
    -------
    tuple of HeightPoint
        By height, from the least that trees of this collective can have (the eccentricity of a
        root, in hops from GPU to GPU); no point is as low and as fast as another. The last is as
        fast as what :func:`forestcoll.generation.generate` makes of these options, and is that,
        unless lower trees as fast were found; of an allreduce a pair of forests may be faster. The
        others are the fastest *found* at their height;
        none faster exists where ``proved``.

    Raises
    ------
    UnsupportedError
        If there is a single GPU, or the method is "paper".
    InfeasibleError
        If ``max_height`` is below the eccentricity of a root.
    ForestCollError
        As of :func:`forestcoll.generation.generate`.

    Examples
    --------
    Two boxes of eight GPUs: to send every shard to every GPU at once takes the slow links seven
    times too often; all that the fast ones then save takes one more hop.

    >>> from forestcoll.topology import load_topology
    >>> for point in rate_by_height(load_topology("dgx_a100:boxes=2")):
    ...     print(point.height, point.algbw_gb_s, point.k, point.proved)
    1 50 1 True
    2 1040/3 13 True
    """
    return points_of(Request.of(topology, Options.of(options, given)), Stopwatch(progress))
