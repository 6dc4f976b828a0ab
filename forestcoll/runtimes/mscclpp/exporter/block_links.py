"""Links between threadblocks: channels to other GPUs, semaphores within one GPU.

Problem: the n-th channel from one GPU to another must end where the n-th one back begins.
Input:   the phases of all threadblocks.
Output:  pairs of threadblocks with a channel, pairs with a semaphore, and greetings at a launch.
Cost:    linear in signals and writes, with sorts.
Source:  ours. Two threadblocks that signal each other, in either direction, share one channel. A
         writer to another GPU waits until a threadblock there, which it signals, reports its
         launch.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from forestcoll.runtimes.excess import Excess
from forestcoll.runtimes.mscclpp.exporter.loader_limits import BLOCK_CHANNELS
from forestcoll.runtimes.mscclpp.exporter.signals import Phase
from forestcoll.runtimes.mscclpp.exporter.teams import Block

__all__ = ["Channels", "Wiring", "channels_of", "wired"]


@dataclass(frozen=True, slots=True)
class Wiring:
    """The links of all threadblocks.

    Parameters
    ----------
    phases : mapping
    place : dict
        The number of each threadblock at its GPU.
    links : dict
        For each threadblock, those of other GPUs to which it has a channel.
    greeted : dict
        For each threadblock, those that must report to it that their launch has begun.
    semaphores : dict
        The semaphore number of each pair of threadblocks of one GPU that signal each other.
    shared : dict
        Semaphores of each GPU, for one instance.
    """

    phases: Mapping[Block, Mapping[int, Phase]]
    place: dict[Block, int]
    links: dict[Block, list[Block]]
    greeted: dict[Block, list[Block]]
    semaphores: dict[tuple[Block, Block], int]
    shared: dict[int, int]

    def excess(self, instances: int, most_threadblocks: int) -> Excess | None:
        """Return a broken limit that is known before operations are written, or None."""
        at = Counter(block.gpu for block in self.place)
        channels = max(map(len, self.links.values()), default=0)
        found = (
            Excess("threadblocks of a GPU", max(at.values()) * instances, most_threadblocks),
            Excess("channels of a threadblock", channels, BLOCK_CHANNELS),
        )
        return next((one for one in found if one.needed > one.most), None)


def wired(phases: Mapping[Block, Mapping[int, Phase]]) -> Wiring:
    """Assign channels and semaphores to pairs of threadblocks."""
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
    """The channels of each GPU with the GPU at the other end; and their users, by instance."""

    peers: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    number: dict[tuple[int, Block, Block], int] = field(default_factory=dict)


def channels_of(wiring: Wiring, at: Mapping[int, Sequence[Block]], instances: int) -> Channels:
    """Number channels so that the n-th ones of two GPUs join the same two threadblocks."""
    found = Channels()
    for gpu in sorted(at):
        pairs = [(block, other) for block in at[gpu] for other in wiring.links.get(block, [])]
        pairs.sort(key=lambda pair: (pair[1].gpu, min(pair), max(pair)))
        for instance in range(instances):
            for block, other in pairs:
                found.number[instance, block, other] = len(found.peers[gpu])
                found.peers[gpu].append(other.gpu)
    return found
