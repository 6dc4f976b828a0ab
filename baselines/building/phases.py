"""Other collectives from allgathers and broadcasts: reversed, and run as sequential phases.

Problem: a peer says how data spreads; do its reductions and allreduces.
Input:   a function that makes forests which spread data.
Output:  the schedule of any collective.
Cost:    that of making the forest, on the network and with every link reversed.
Source:  what NCCL, MultiTree and ForestColl (section 5.7) do: a reduction is a broadcast with every
         link reversed, an allreduce a reduction and then a broadcast of the sums.
"""

from __future__ import annotations

from collections.abc import Callable

from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reverse import transposed
from forestcoll.topology.model import Topology

__all__ = ["collect"]


def collect(
    spread: Callable[[Topology], Forest], topology: Topology, collective: str
) -> Forest | Allreduce[Forest]:
    """Make a schedule of a collective.

    Parameters
    ----------
    spread : callable
        Makes an allgather or broadcast forest for a topology.
    topology : Topology
    collective : str
        What ``spread`` makes, its reduction, or "allreduce": both, with the same trees where every
        link has a counterpart of the same bandwidth.
    """
    if collective in ("allgather", "broadcast"):
        return spread(topology)
    if collective != "allreduce":
        return transposed(spread(topology.reversed()), topology)
    gather = spread(topology)
    # The reversed network is then the same network, on which the same trees would be made.
    alike = topology.reversed() == topology
    return Allreduce(transposed(gather if alike else spread(topology.reversed()), topology), gather)
