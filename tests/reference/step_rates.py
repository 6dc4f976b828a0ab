"""Whether links are wide enough for a schedule with a clock, moment by moment in fractions."""

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

from forestcoll.schedule import StepSchedule


def fits(schedule: StepSchedule) -> bool:
    """Every transfer leaves in time to arrive; no link or group ever carries more than it can."""
    topology, clock, paths = schedule.topology, schedule.clock, schedule.routes.paths()
    assert clock is not None
    flat = [path for link in sorted(paths) for path in paths[link]]
    uses = defaultdict(list)
    for send in range(len(schedule.sends)):
        tail, head = int(schedule.sends.tail[send]), int(schedule.sends.head[send])
        named = int(schedule.sends.paths[send])
        ways = paths[tail, head] if named < 0 else (flat[named],)
        delays = [
            [topology.link_between[hop].latency_us for hop in pairwise(way.nodes)] for way in ways
        ]
        start, end = (int(times[send]) * clock.tick_us for times in (clock.start, clock.end))
        longest = max(map(sum, delays))
        left = end - longest if clock.left is None else int(clock.left[send]) * clock.tick_us
        if not start < left <= end - longest:
            return False
        amount = Fraction(int(schedule.intervals.amount[send]), schedule.chunks.whole)
        rate = amount * clock.size_bytes / (1000 * (left - start))
        trees = sum(way.multiplicity for way in ways)
        for way, delay in zip(ways, delays, strict=True):
            at = start
            for hop, late in zip(pairwise(way.nodes), delay, strict=True):
                use = (at, at + left - start, rate * way.multiplicity / trees)
                uses[hop].append(use)
                for group in topology.shared:
                    if hop in group.links:
                        uses[group.name].append(use)
                at += late
    widths = {(e.tail, e.head): e.bandwidth_gb_s for e in topology.links}
    widths |= {group.name: group.bandwidth_gb_s for group in topology.shared}
    return all(
        sum(rate for begin, end, rate in used if begin <= moment < end) <= widths[thing]
        for thing, used in uses.items()
        for moment, _, _ in used
    )
