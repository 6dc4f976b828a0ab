"""Check that concurrent schedules keep every link within its bandwidth.

Problem: at no moment do the rates of all transfers over a link add up to more than its bandwidth.
Input:   step schedules with clocks that say when transfers have left and which path they take.
Output:  nothing, or the first link that is asked for too much.
Cost:    a sort of the transfers' hops.
Source:  none; the model is that of :class:`forestcoll.schedule.clock.Clock`. What each schedule
         does by itself :func:`forestcoll.schedule.verify` proves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise

from forestcoll.errors import VerificationError
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import refuse_shared

__all__ = ["check_together"]


def check_together(topology: Topology, schedules: Iterable[StepSchedule]) -> None:
    """Prove that schedules keep all links of a topology within their bandwidths together.

    Each transfer leaves at an even rate over the one path that it names, and takes each link later
    by the latencies of those before it.

    Raises
    ------
    VerificationError
        With the first link that is asked for too much.
    UnsupportedError
        If the topology has shared capacities.
    """
    refuse_shared(topology, "the check of several clocks together")
    changes: dict[tuple[int, int], dict[Fraction, Fraction]] = defaultdict(
        lambda: defaultdict(Fraction)
    )
    for schedule in schedules:
        for link, begin, end, rate in _uses(schedule):
            changes[link][begin] += rate
            changes[link][end] -= rate
    for (tail, head), at in changes.items():
        carried, most = Fraction(0), topology.link_between[tail, head].bandwidth_gb_s
        for moment in sorted(at):
            carried += at[moment]
            if carried > most:
                names = " -> ".join(topology.nodes[node].name for node in (tail, head))
                raise VerificationError(
                    f"link {names} carries {carried} GB/s from {moment} us on, of all schedules "
                    f"together; its bandwidth is {most} GB/s"
                )


def _uses(
    schedule: StepSchedule,
) -> Iterator[tuple[tuple[int, int], Fraction, Fraction, Fraction]]:
    """Links, from when to when they are used, in microseconds, and how much of them, in GB/s."""
    clock, routes, sends = schedule.clock, schedule.routes, schedule.sends
    assert clock is not None
    assert clock.left is not None
    hops, at = routes.hop.tolist(), routes.first_hop.tolist()
    sizes = schedule.chunks.size.tolist()
    columns = (sends.chunk, sends.paths, clock.start, clock.left)
    for chunk, path, start, left in zip(*(each.tolist() for each in columns), strict=True):
        begin, busy = start * clock.tick_us, (left - start) * clock.tick_us
        size_kb = Fraction(sizes[chunk], schedule.chunks.whole) * clock.size_bytes / 1000
        for link in pairwise(hops[at[path] : at[path + 1]]):
            yield link, begin, begin + busy, size_kb / busy
            begin += schedule.topology.link_between[link].latency_us
