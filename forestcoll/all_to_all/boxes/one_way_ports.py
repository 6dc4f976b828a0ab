"""What the ports of a box carry where a link between a GPU and the box's switch is dead one way.

Problem: a GPU that cannot send to its switch sends all by its own port, and what enters the box
         there can only be for itself; the other way round if it cannot receive from the switch.
         How much does each port carry, so that the busiest is the least busy?
Input:   what crosses the ports of a box in one direction; for each port its bandwidth and limits.
Output:  the ports that are at a limit; all others are equally busy.
Cost:    sorting the limits of a box.
Source:  ours. The load of a port is its bandwidth times a common time, but not less than what must
         cross there nor more than what can. If one of the first is busiest, the cut around its GPU
         binds; else the cut around the box without the GPUs whose ports are at an upper limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["PortLimits", "ports_at_limits"]


@dataclass(frozen=True, slots=True)
class PortLimits:
    """The bandwidth of a port, and the least and the most that may cross it; None for no limit."""

    wide: Fraction
    low: int = 0
    high: int | None = None

    def load(self, time: Fraction) -> Fraction:
        """Return the load at a common time."""
        load = max(Fraction(self.low), time * self.wide)
        return load if self.high is None else min(load, Fraction(self.high))


def ports_at_limits(total: int, ports: Sequence[PortLimits]) -> list[int | None] | None:
    """Return the loads of the ports at a limit, and None for the others, which share the rest.

    Returns None where no loads within the limits add up to the total.

    Examples
    --------
    Of 10 bytes, the first port may carry 2 at most: the others carry 4 each, one of them 5 at
    least; then the last has 3 left.

    >>> one = Fraction(1)
    >>> ports_at_limits(10, [PortLimits(one, high=2), PortLimits(one), PortLimits(one)])
    [2, None, None]
    >>> ports_at_limits(10, [PortLimits(one, high=2), PortLimits(one, low=5), PortLimits(one)])
    [2, 5, None]
    """
    times = sorted(
        {
            Fraction(limit) / port.wide
            for port in ports
            for limit in (port.low, port.high)
            if limit is not None
        }
    )
    if sum(port.low for port in ports) > total:
        return None
    # The first of these times at which all can be carried; before it, the same ports are at limits.
    end = next((i for i, time in enumerate(times) if _carried(ports, time) >= total), len(times))
    if end == len(times) and all(port.high is not None for port in ports):
        return None
    before = times[end - 1] if end else Fraction(0)
    after = times[end] if end < len(times) else before + 1
    middle = (before + after) / 2
    found: list[int | None] = []
    for port in ports:
        load = port.load(middle)
        found.append(None if load == middle * port.wide else int(load))
    return found


def _carried(ports: Sequence[PortLimits], time: Fraction) -> Fraction:
    return sum((port.load(time) for port in ports), start=Fraction(0))
