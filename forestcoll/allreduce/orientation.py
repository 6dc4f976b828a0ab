"""Fastest allreduce of GPUs alone by one max-flow, where the cuts around single GPUs bind.

Problem: divide the bandwidth of every pair of neighbours between its two directions.
Input:   a network of N GPUs without switches whose links have equal reverses, of B_uv GB/s.
Output:  an allreduce at the rate M = sum of all B_uv / (N - 1), which no allreduce exceeds; None
         where some set of GPUs, or the wiring of one GPU, binds more.
Cost:    one max-flow on the network, one exact optimum and one forest.
Source:  ours, after the theorem of Nash-Williams and Tutte on disjoint spanning trees.

Let the gathering have g_uv of the link from u to v, the reduction the rest of the reverse link:
g_uv + g_vu = B_uv. So g is an orientation of the bandwidths. Let GPU v be the root of
x_v = M - g(into v). Then a set T of GPUs without v receives at least all that is rooted outside,

    g(into T) = sum over T of (M - x_u) - B(inside T) >= M - x(T),

exactly if B(inside T) <= (|T| - 1) M, which names neither g nor x. All that remains to be found is
an orientation with no GPU above M, so that no x_v is negative. The exact optimum of the oriented
network decides the condition on T. The reduction is the gathering reversed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.allreduce.rounding import placed_on
from forestcoll.allreduce.shares import common_divisor, with_bandwidths
from forestcoll.core.optimality import optimum
from forestcoll.core.partition_bound import partition_bound
from forestcoll.core.pipeline import forest_with
from forestcoll.errors import DisconnectedError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.model import Topology

__all__ = ["oriented_allreduce"]

_MOST = 2**31 - 1
"""Of all links together: the max-flow has 32 bits, and the core multiplies two such sums."""

_Ints = npt.NDArray[np.int64]


def oriented_allreduce(topology: Topology) -> Allreduce[Forest] | None:
    """Return an allreduce that attains the bound of its single GPUs, with that bound.

    Returns
    -------
    Allreduce or None
        None if there is no such allreduce, or if the network has switches, shared capacities,
        links that differ from their reverses, or numbers beyond 31 bits.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> found = oriented_allreduce(load_topology("tpu_v5e:dims=2x4"))
    >>> found.optimal, found.bound.algbw_gb_s
    (True, Fraction(500, 7))
    """
    gpus = topology.num_compute
    if gpus < 2 or gpus < len(topology.nodes) or topology.shared or topology.reversed() != topology:
        return None
    bound = partition_bound(topology, [[v] for v in range(gpus)])
    bandwidths = [link.bandwidth_gb_s for link in topology.links]
    # Half a link must be whole, too: the orientation begins with halves.
    step = common_divisor([bound.algbw_gb_s, *(each / 2 for each in set(bandwidths))])
    most, width = int(bound.algbw_gb_s / step), [int(each / step) for each in bandwidths]
    if sum(width) > _MOST:
        return None
    share = _orientation(topology, np.array(width, dtype=np.int64), most)
    found = None if share is None else _packed(topology, share, most, step)
    return None if found is None else replace(found, bound=bound)


def _orientation(topology: Topology, width: _Ints, most: int) -> _Ints | None:
    """Return a share of every link, the rest being that of its reverse, with none above ``most``.

    A GPU that gets too much in halves of all links returns it to its neighbours, and they to
    theirs: a flow over the halves from those above ``most`` to those below.
    """
    gpus, links = topology.num_compute, topology.integer_capacities
    source, sink, each = gpus, gpus + 1, np.arange(gpus)
    received = np.bincount(links.head, width // 2, gpus).astype(np.int64)
    over, under = np.maximum(received - most, 0), np.maximum(most - received, 0)
    if not over.any():
        return width // 2
    import scipy.sparse as sp  # here: its import takes longer than the rest of most commands
    from scipy.sparse.csgraph import maximum_flow

    # What leaves v towards u in the flow is what v received from u and now sends there.
    tail = np.concatenate([links.tail, np.full(gpus, source), each])
    head = np.concatenate([links.head, each, np.full(gpus, sink)])
    capacity = np.concatenate([width // 2, over, under]).astype(np.int32)
    graph = sp.csr_array((capacity, (tail, head)), shape=(gpus + 2, gpus + 2))
    flow = maximum_flow(graph, source, sink)
    if flow.flow_value < over.sum():
        return None
    moved = np.asarray(flow.flow.tocsr()[links.tail, links.head]).ravel()  # negative the other way
    return width // 2 + moved.astype(np.int64)


def _packed(
    topology: Topology, share: _Ints, most: int, step: Fraction
) -> Allreduce[Forest] | None:
    """Pack the gathering; None if a set of GPUs stands in the way of its rate."""
    received = np.bincount(topology.integer_capacities.head, share, topology.num_compute)
    weights = tuple((most - received.astype(np.int64)).tolist())
    network = with_bandwidths(topology, share.tolist(), step)
    try:
        if optimum(network, weights=weights).algbw_gb_s < most * step:
            return None
        gather = placed_on(topology, forest_with(weights, network))
    except DisconnectedError:
        return None
    return Allreduce(transposed(gather, topology), gather)
