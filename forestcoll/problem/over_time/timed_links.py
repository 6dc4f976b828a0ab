"""Links of a network with the latency that data pay on each.

Problem: when does what starts on a link arrive at its head?
Input:   a topology, alpha, a direction of the data.
Output:  links of whole capacities and whole latencies; in a reduction every link reversed, with the
         latency it had.
Cost:    linear in the links.
Source:  the alpha-beta model of :mod:`forestcoll.schedule.simulate.alpha_beta`: alpha for each GPU
         that sends, in the group or not, and the latencies of the links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InvalidParameterError, InvalidTopologyError
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact
from forestcoll.topology.reading.units import latency_us

__all__ = ["REDUCTIONS", "TimedLinks", "read_alpha"]

REDUCTIONS = ("reduce-scatter", "reduce")
"""Collectives whose data flow against a broadcast's; their bounds are of the reversed network."""

_MOST_US = 10**9


@dataclass(frozen=True, slots=True)
class TimedLinks:
    """Links in the direction of the data, as whole numbers.

    Parameters
    ----------
    tail, head : sequence of int
        Positions of nodes; exchanged in a reduction. In the order of ``topology.links``.
    capacity : sequence of int
        Bandwidths in units of 1 / ``denominator`` GB/s.
    latency : sequence of int
        In ticks of 1 / ``ticks_per_us`` us.
    """

    nodes: int
    tail: Sequence[int]
    head: Sequence[int]
    capacity: Sequence[int]
    latency: Sequence[int]
    denominator: int
    ticks_per_us: int

    @classmethod
    def of(cls, topology: Topology, alpha_us: Fraction, *, reduction: bool) -> TimedLinks:
        """Return the links of a network; those that a GPU sends on cost alpha, relays included."""
        latencies = [
            link.latency_us + (alpha_us if topology.nodes[link.tail].is_gpu else 0)
            for link in topology.links
        ]
        ticks = math.lcm(1, *(one.denominator for one in latencies))
        unit = math.lcm(1, *(link.bandwidth_gb_s.denominator for link in topology.links))
        tails = [link.tail for link in topology.links]
        heads = [link.head for link in topology.links]
        return cls(
            nodes=len(topology.nodes),
            tail=heads if reduction else tails,
            head=tails if reduction else heads,
            capacity=[int(link.bandwidth_gb_s * unit) for link in topology.links],
            latency=[int(one * ticks) for one in latencies],
            denominator=unit,
            ticks_per_us=ticks,
        )

    def amount(self, size_bytes: Fraction) -> Fraction:
        """Convert bytes to units of capacity times ticks (1 GB/s is 1000 bytes in a us)."""
        return size_bytes * self.denominator * self.ticks_per_us / 1000


def read_alpha(given: Exact) -> Fraction:
    """Read alpha in microseconds: a number, or text such as "10", "2.5us" or "800 ns".

    Raises InvalidParameterError if it is negative, not exact, or more than a thousand seconds.

    Examples
    --------
    >>> read_alpha("2.5us"), read_alpha("500 ns")
    (Fraction(5, 2), Fraction(1, 2))
    """
    try:
        alpha = latency_us(given)
    except InvalidTopologyError as error:
        raise InvalidParameterError(f"alpha {str(error).strip()}") from None
    if not 0 <= alpha <= _MOST_US:
        raise InvalidParameterError(f"alpha is {given}; it must be from 0 to {_MOST_US} us")
    return alpha
