"""Other collectives from allgathers and broadcasts: reversed, and run as sequential phases.

Problem: a baseline defines out-trees; derive its reductions and allreduces.
Input:   a function that makes forests of out-trees.
Output:  the schedule of any collective.
Cost:    that of making the forest, on the network and with every link reversed.
Source:  as in NCCL, MultiTree and ForestColl (section 5.7): a reduction is a broadcast with every
         link reversed; an allreduce is a reduction and then a broadcast of the sums.
"""

from __future__ import annotations

from collections.abc import Callable

from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reversal import transposed
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
        The collective of ``spread``, its reduction, or "allreduce": both phases, with the same
        trees where every link has a counterpart of the same bandwidth.
    """
    if collective in ("allgather", "broadcast"):
        return spread(topology)
    if collective != "allreduce":
        return transposed(spread(topology.reversed()), topology)
    gather = spread(topology)
    # The reversed network then equals this one, so a second run would make the same trees.
    alike = topology.reversed() == topology
    return Allreduce(transposed(gather if alike else spread(topology.reversed()), topology), gather)
