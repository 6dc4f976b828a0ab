"""GPUs that forward for a demand in which they have no part.

Problem: a demand may name some GPUs only; say which others a schedule uses.
Input:   a step schedule with a demand.
Output:  names of GPUs, in the order of the ranks.
Cost:    linear in the transfers and the hops of their paths.
Source:  ours.
"""

from __future__ import annotations

import numpy as np

from forestcoll.schedule.steps import StepSchedule

__all__ = ["forwarding_gpus"]


def forwarding_gpus(schedule: StepSchedule) -> tuple[str, ...]:
    """Return the GPUs that send or pass on chunks, but have and need none; none without a demand.

    Examples
    --------
    >>> from baselines.synthesizers.teccl.teccl import generate
    >>> from forestcoll import load_topology
    >>> ring = load_topology("ring:nodes=4")
    >>> forwarding_gpus(generate(ring, demand="scatter:group=gpu0+gpu2"))
    ('gpu1',)
    """
    demand, topology = schedule.demand, schedule.topology
    if demand is None:
        return ()
    named = {*demand.source.tolist(), *demand.target.tolist()}
    used = {topology.ends[end] for end in np.unique(schedule.sends.tail).tolist()}
    used |= {*np.unique(schedule.routes.hop).tolist()}
    return tuple(
        topology.nodes[node].name
        for rank, node in enumerate(topology.ends[: topology.num_compute])
        if rank not in named and node in used
    )
