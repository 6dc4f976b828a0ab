"""Which threadblocks are joined: by channels to other GPUs, by semaphores within one.

Problem: the n-th channel from one GPU to another must end where the n-th one back begins
Input:   the phases of all threadblocks.
Output:  who has a channel to whom, who shares a semaphore, who must hear that a launch has begun.
Cost:    linear in signals and in what is written, with sorts.
Source:  ours. Two threadblocks that signal each other, in whatever direction, share one channel.
         One that writes to a GPU hears of its launch from one threadblock there, which it signals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from forestcoll.schedule.export.excess import Excess
from forestcoll.schedule.export.mscclpp.loader_limits import BLOCK_CHANNELS
from forestcoll.schedule.export.mscclpp.signals import Phase
from forestcoll.schedule.export.mscclpp.teams import Block

__all__ = ["Channels", "Wiring", "channels_of", "wired"]


@dataclass(frozen=True, slots=True)
class Wiring:
    """What all threadblocks know.

    Parameters
    ----------
    phases : mapping
    place : dict
        The number of each threadblock at its GPU.
    links : dict
        Of each threadblock those of other GPUs that it has a channel to.
    greeted : dict
        Of each threadblock those from which it must hear that the launch has begun.
    semaphores : dict
        The number of each pair of threadblocks of one GPU, of which one signals the other.
    shared : dict
        How many semaphores each GPU has, of one instance.
    """

    phases: Mapping[Block, Mapping[int, Phase]]
    place: dict[Block, int]
    links: dict[Block, list[Block]]
    greeted: dict[Block, list[Block]]
    semaphores: dict[tuple[Block, Block], int]
    shared: dict[int, int]

    def excess(self, instances: int, most_threadblocks: int) -> Excess | None:
        """Return a limit that is broken, as far as can be told before operations are written."""
        at = Counter(block.gpu for block in self.place)
        channels = max(map(len, self.links.values()), default=0)
        found = (
            Excess("threadblocks of a GPU", max(at.values()) * instances, most_threadblocks),
            Excess("channels of a threadblock", channels, BLOCK_CHANNELS),
        )
        return next((one for one in found if one.needed > one.most), None)


def wired(phases: Mapping[Block, Mapping[int, Phase]]) -> Wiring:
    """Find out who has a channel to whom, and who shares a semaphore."""
    links = defaultdict[Block, set[Block]](set)
    greeted = defaultdict[Block, dict[int, Block]](dict)
    semaphores: dict[tuple[Block, Block], int] = {}
    many = defaultdict[int, int](int)
    for block in sorted(phases):
        written = {
            slot.gpu
            for phase in phases[block].values()
            for action in phase.actions
            for slot in action.targets
            if slot.gpu != block.gpu
        }
        for phase in phases[block].values():
            for other in phase.signals:
                if other.gpu == block.gpu:
                    if (block, other) not in semaphores:
                        semaphores[block, other] = many[block.gpu]
                        many[block.gpu] += 1
                    continue
                links[block].add(other)
                links[other].add(block)
                if other.gpu in written:
                    first = greeted[block].get(other.gpu, other)
                    greeted[block][other.gpu] = min(first, other)
    place: dict[Block, int] = {}
    for _, blocks in groupby(sorted(phases), key=lambda block: block.gpu):
        place |= {block: number for number, block in enumerate(blocks)}
    return Wiring(
        phases,
        place,
        {block: sorted(others) for block, others in links.items()},
        {block: sorted(others.values()) for block, others in greeted.items()},
        semaphores,
        dict(many),
    )


@dataclass(slots=True)
class Channels:
    """The channels of each GPU: the GPU at the other end; and who uses which, by instance."""

    peers: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    number: dict[tuple[int, Block, Block], int] = field(default_factory=dict)


def channels_of(wiring: Wiring, at: Mapping[int, Sequence[Block]], instances: int) -> Channels:
    """Number channels so that the n-th of two GPUs are of the same two threadblocks."""
    found = Channels()
    for gpu in sorted(at):
        pairs = [(block, other) for block in at[gpu] for other in wiring.links.get(block, [])]
        pairs.sort(key=lambda pair: (pair[1].gpu, min(pair), max(pair)))
        for instance in range(instances):
            for block, other in pairs:
                found.number[instance, block, other] = len(found.peers[gpu])
                found.peers[gpu].append(other.gpu)
    return found
