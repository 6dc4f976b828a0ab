"""Links lowered whose other way is dead or slower, so that no switch sends more than it receives.

Problem: a link dead in one direction leaves a switch with less in than out (or the reverse), which
         the core cannot use in full (:mod:`forestcoll.topology.validate`).
Input:   a topology and a collective.
Output:  the topology with the links the other way lowered as far as it takes, and which these are.
Cost:    a few passes over the links of the switches concerned.
Source:  Own. What leaves a switch beyond what enters it leaves towards neighbours that send it less
         than they get: their surplus is at least that much in all, so it is always enough.

What is lowered is a choice: an optimum found afterwards is that of the network as lowered.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from forestcoll.topology.numbers import exact_text
from forestcoll.topology.shared_capacity import kept

if TYPE_CHECKING:
    from forestcoll.topology.model import Topology

__all__ = ["Lowered", "balanced"]


@dataclass(frozen=True, slots=True)
class Lowered:
    """A link that was lowered, in GB/s, and the switch that is balanced by it."""

    tail: str
    head: str
    switch: str
    before_gb_s: Fraction
    after_gb_s: Fraction

    def __str__(self) -> str:
        before, after = exact_text(self.before_gb_s), exact_text(self.after_gb_s)
        fate = (
            f"lowered from {before} to {after} GB/s"
            if self.after_gb_s
            else f"left out ({before} GB/s)"
        )
        return (
            f"{self.tail} -> {self.head} is {fate}: the other way is slower or dead, and "
            f"{self.switch} must stay balanced"
        )


def balanced(
    topology: Topology,
    collective: str = "allgather",
    *,
    before: Mapping[tuple[int, int], Fraction] | None = None,
) -> tuple[Topology, tuple[Lowered, ...]]:
    """Lower links until every switch is balanced as a collective needs it.

    Parameters
    ----------
    topology : Topology
    collective : str
        Where data is sent out no switch may send more than it receives, where it is summed up none
        may receive more than it sends; an allreduce does both, an all-to-all neither.
    before : mapping, optional
        Of links that were raised in a balanced network, by their ends, what they had in GB/s; only
        these are lowered then, and not below that.

    Returns
    -------
    Topology and tuple of Lowered
        The same network, and nothing, if all switches are balanced.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> damaged = load_topology("dgx_a100:boxes=2").without("b1.gpu7 -> ib")
    >>> print(*balanced(damaged)[1])
    ib -> b1.gpu7 is left out (25 GB/s): the other way is slower or dead, and ib must stay balanced
    """
    work = _Balancing(topology, before)
    sends_shards = collective in ("allgather", "broadcast", "allreduce")
    sends_sums = collective in ("reduce-scatter", "reduce", "allreduce")
    waiting = deque(topology.switches)
    while waiting:
        switch = waiting.popleft()
        if sends_shards:
            waiting.extend(work.lower(switch, out=True))
        if sends_sums:
            waiting.extend(work.lower(switch, out=False))
    lowered = work.lowered()
    return (work.result(), lowered) if lowered else (topology, ())


class _Balancing:
    """The bandwidths as they are lowered."""

    def __init__(
        self, topology: Topology, before: Mapping[tuple[int, int], Fraction] | None
    ) -> None:
        self._topology, self._before = topology, before
        self._width = {ends: link.bandwidth_gb_s for ends, link in topology.link_between.items()}
        self._excess = [
            out - into
            for into, out in zip(topology.ingress_gb_s, topology.egress_gb_s, strict=True)
        ]  # of each node, in GB/s that it sends beyond what it receives
        self._because: dict[tuple[int, int], int] = {}

    def lower(self, switch: int, *, out: bool) -> list[int]:
        """Lower what leaves (or enters) a switch in excess; return the switches that it changed."""
        excess = self._excess[switch] if out else -self._excess[switch]
        if excess <= 0:
            return []
        changed = []
        for other in self._neighbours(switch):
            ends, back = ((switch, other), (other, switch))[:: 1 if out else -1]
            taken = min(self._surplus(ends, back), excess)
            if taken > 0:
                self._width[ends] -= taken
                self._because.setdefault(ends, switch)
                self._excess[ends[0]] -= taken
                self._excess[ends[1]] += taken
                excess -= taken
                changed.append(other)
        return [v for v in changed if self._topology.nodes[v].is_switch]

    def _surplus(self, ends: tuple[int, int], back: tuple[int, int]) -> Fraction:
        """What a link has beyond its other way; of raised ones, beyond what it had."""
        if self._before is None:
            return self._width.get(ends, Fraction(0)) - self._width.get(back, Fraction(0))
        return self._width[ends] - self._before[ends] if ends in self._before else Fraction(0)

    def _neighbours(self, switch: int) -> list[int]:
        """Return the nodes joined to a switch, GPUs first."""
        found = {a if b == switch else b for a, b in self._width if switch in (a, b)}
        return sorted(found, key=lambda v: (self._topology.nodes[v].is_switch, v))

    def lowered(self) -> tuple[Lowered, ...]:
        names = [node.name for node in self._topology.nodes]
        return tuple(
            Lowered(
                names[ends[0]],
                names[ends[1]],
                names[switch],
                self._topology.link_between[ends].bandwidth_gb_s,
                self._width[ends],
            )
            for ends, switch in sorted(self._because.items())
        )

    def result(self) -> Topology:
        links = (
            replace(link, bandwidth_gb_s=self._width[link.tail, link.head])
            for link in self._topology.links
            if self._width[link.tail, link.head]
        )
        topology = self._topology
        left = {ends for ends, width in self._width.items() if width}
        shared = kept(topology.shared, left)
        return topology.like(topology.name, topology.nodes, tuple(links), shared=shared)
