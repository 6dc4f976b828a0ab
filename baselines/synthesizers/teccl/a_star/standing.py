"""State at the start of a round: the places of all chunks.

Problem: after some transfers, say what each node has or will have, what switches must pass on, and
         how long links are busy still.
Input:   a network in epochs, chunks, the transfers, an epoch.
Output:  times in epochs from then.
Cost:    linear.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), appendix D: Q and the demands of a round. The text does
         not say that links stay busy over the border of two rounds; here they do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import NEVER, Sent

__all__ = ["Standing"]

_AT_ONCE = -NEVER
"""When a root has its chunk."""


@dataclass(frozen=True)
class Standing:
    """Where chunks are when a round begins; times are in epochs from then.

    Parameters
    ----------
    had : tuple of dict
        For each chunk the nodes that keep it or will, and from when.
    came, gone : Counter
        What comes to switches without buffers and what they have passed on of it, by chunk, switch
        and time.
    busy : Counter
        What was sent, by arc and epoch, below 0.
    """

    had: tuple[dict[int, int], ...]
    came: Counter[tuple[int, int, int]] = field(repr=False)
    gone: Counter[tuple[int, int, int]] = field(repr=False)
    busy: Counter[tuple[int, int]] = field(repr=False)

    @classmethod
    def of(
        cls, network: EpochNetwork, demand: Demand, sent: Iterable[Sent], begin: int
    ) -> Standing:
        """Stand at the beginning of an epoch, after these transfers."""
        had = tuple({root: _AT_ONCE} for root in demand.roots)
        standing = cls(had, Counter(), Counter(), Counter())
        for chunk, i, epoch in sent:
            arc, k = network.arcs[i], epoch - begin
            there = k + arc.span + 1
            standing.busy[i, k] += 1
            if network.holds(arc.head):
                at = standing.had[chunk]
                at[arc.head] = min(there, at.get(arc.head, there))
            else:
                standing.came[chunk, arc.head, there] += 1
            if not network.holds(arc.tail):
                standing.gone[chunk, arc.tail, k + 1 - arc.offset] += 1
        return standing

    def wanting(self, demand: Demand) -> list[list[int]]:
        """Return who has not got each chunk, nor will from what has been sent."""
        return [
            sorted(ranks - had.keys()) for ranks, had in zip(demand.wants, self.had, strict=True)
        ]

    def in_air(self, demand: Demand) -> int:
        """Return when the last that has been sent to who wants it is there; 0 or less if it is."""
        pairs = zip(demand.wants, self.had, strict=True)
        return max((had[rank] for ranks, had in pairs for rank in ranks & had.keys()), default=0)
