"""Schedules of a demand whose chunks differ in size, from chunks of one size.

Problem: TE-CCL sends chunks of L bytes; say which bytes of the demand each transfer carries.
Input:   a step schedule of equal chunks, and the demand that was divided into them.
Output:  the schedule whose chunks are exactly those of the demand.
Cost:    linear in the transfers.
Source:  ours. The rest of a chunk has the time of L bytes in the program, and so on the clock; it
         leaves at a lower rate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from baselines.building.demanded_chunks import chunks_of
from baselines.synthesizers.teccl.instance.commodities import Demand
from forestcoll.schedule.sends import Intervals
from forestcoll.schedule.steps import StepSchedule

__all__ = ["demanded"]


def demanded(made: StepSchedule, demand: Demand) -> StepSchedule:
    """Return a schedule of equal chunks as one of the demand that was divided.

    Examples
    --------
    Seven bytes in chunks of four: the second chunk has the last three.

    >>> from forestcoll import load_topology, verify
    >>> from baselines.synthesizers.teccl.teccl import generate
    >>> from forestcoll.problem.demand import Demand
    >>> given = Demand.of_chunks(3, [(0, 7, [1, 2])])
    >>> made = generate(load_topology("ring:nodes=3"), demand=given, chunks=2)
    >>> made.sends.chunk.tolist(), sorted(made.intervals.amount.tolist()), verify(made).steps
    ([0, 0, 0, 0], [3, 3, 4, 4], 2)
    """
    given, clock = demand.given, made.clock
    assert given is not None
    assert clock is not None
    chunk, first, amount = np.array(demand.parts, dtype=np.int64).T
    part = made.sends.chunk
    sends = replace(
        made.sends,
        chunk=chunk[part].astype(np.int32),
        interval=Intervals(first[part], amount[part]),
    )
    return replace(
        made,
        collective="all-to-all",
        chunks=chunks_of(given),
        sends=sends,
        clock=replace(clock, size_bytes=given.bytes),
        demand=given,
    ).in_short()
