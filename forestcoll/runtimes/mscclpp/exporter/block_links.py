"""Signals between threadblocks, with channels to other GPUs and semaphores within one GPU.

Problem: the dependencies of an action belong to other threadblocks; the n-th channel from one GPU
         to another must end where the n-th one back begins.
Input:   actions, each with its threadblock and its level.
Output:  for each threadblock its phases (the actions of one level), with the threadblocks that it
         waits for before and signals after; channels, semaphores, and greetings at a launch.
Cost:    linear in dependencies, signals and writes, with sorts.
Source:  ours. A threadblock executes its phases by level, and every dependency has a lower level.
         So an unfinished phase of the lowest level can always proceed, and nothing deadlocks. A
         signal is sent only if no earlier one implies it, and each signal has one wait.
         So a launch leaves the difference of counters unchanged. Two threadblocks that signal each
         other, in either direction, share one channel. A writer to another GPU waits until a
         threadblock there, which it signals, reports its launch.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from forestcoll.runtimes.export_limits import Excess, first_broken
from forestcoll.runtimes.mscclpp.exporter.data_actions import Action
from forestcoll.runtimes.mscclpp.exporter.loader_limits import BLOCK_CHANNELS
from forestcoll.runtimes.mscclpp.exporter.packet_transfers import PacketTransfers
from forestcoll.runtimes.mscclpp.exporter.port_transfers import Boxes, PortTransfers
from forestcoll.runtimes.mscclpp.exporter.teams import Block

__all__ = ["Channels", "Phase", "Wiring", "channels_of", "phases_of", "wired"]


@dataclass(slots=True)
class Phase:
    """The actions of a threadblock at one level.

    Attributes
    ----------
    waits : list of Block
        Threadblocks whose signals it waits for first.
    signals : list of Block
        Threadblocks that it signals at the end.
    """

    waits: list[Block] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    signals: list[Block] = field(default_factory=list)


def phases_of(
    actions: Sequence[Action], block: Mapping[Action, Block]
) -> dict[Block, dict[int, Phase]]:
    """Return the phases of each threadblock, by level, in their order."""
    phases = defaultdict[Block, dict[int, Phase]](dict)
    for action in sorted(actions, key=lambda one: one.level):
        phases[block[action]].setdefault(action.level, Phase()).actions.append(action)
    for (sender, receiver), needed in sorted(_needed(actions, block).items()):
        # A signal covers all levels up to its own, so a later need may be met already.
        known = -1
        for level in sorted(needed):
            if needed[level] > known:
                known = needed[level]
                phases[sender][known].signals.append(receiver)
                phases[receiver][level].waits.append(sender)
    return dict(phases)


def _needed(
    actions: Sequence[Action], block: Mapping[Action, Block]
) -> dict[tuple[Block, Block], dict[int, int]]:
    """Return, for each pair of threadblocks, the level that each level of the other needs."""
    found = defaultdict[tuple[Block, Block], dict[int, int]](dict)
    for action in actions:
        mine = block[action]
        for need in action.needs:
            theirs = block[need]
            if theirs != mine:
                levels = found[theirs, mine]
                levels[action.level] = max(levels.get(action.level, -1), need.level)
    return dict(found)


@dataclass(frozen=True, slots=True)
class Wiring:
    """The links of all threadblocks.

    Parameters
    ----------
    place : dict
        The number of each threadblock at its GPU.
    links : dict
        For each threadblock, those of other GPUs to which it has a channel.
    greeted : dict
        For each threadblock, those that must report to it that their launch has begun.
    semaphores : dict
        The semaphore number of each pair of threadblocks of one GPU that signal each other.
    boxes : Boxes
        Which of the channels are port channels.
    receivers : dict
        For each put over a port channel, the threadblock at the other end of its channel.
    greeted_last : bool
        Whether the greetings are awaited as a launch ends, not as it begins.
    shared : dict
        Semaphores of each GPU, for one instance.
    """

    phases: Mapping[Block, Mapping[int, Phase]]
    place: dict[Block, int]
    links: dict[Block, list[Block]]
    greeted: dict[Block, list[Block]]
    semaphores: dict[tuple[Block, Block], int]
    shared: dict[int, int]
    boxes: Boxes = field(default_factory=Boxes)
    receivers: Mapping[Action, Block] = field(default_factory=dict)
    greeted_last: bool = False

    def kind(self, block: Block, other: Block) -> str:
        """Return the type of the channel between two threadblocks."""
        return "port" if self.boxes.are_apart(block.gpu, other.gpu) else "memory"

    def excess(self, instances: int, most_threadblocks: int) -> Excess | None:
        """Return a broken limit that is known before operations are written, or None."""
        at = Counter(block.gpu for block in self.place)
        rows = self.links.items()
        channels = {
            kind: max(
                (sum(self.kind(block, one) == kind for one in links) for block, links in rows),
                default=0,
            )
            for kind in ("memory", "port")
        }
        found = (
            Excess("threadblocks of a GPU", max(at.values()) * instances, most_threadblocks),
            Excess("channels of a threadblock", channels["memory"], BLOCK_CHANNELS),
            Excess("port channels of a threadblock", channels["port"], BLOCK_CHANNELS),
        )
        return first_broken(found)


def wired(
    phases: Mapping[Block, Mapping[int, Phase]],
    transfers: PortTransfers | PacketTransfers | None = None,
    block_of: Mapping[Action, Block] | None = None,
) -> Wiring:
    """Assign channels and semaphores to pairs of threadblocks.

    Parameters
    ----------
    transfers : PortTransfers or PacketTransfers, optional
        Those over port channels, or in packets; by default there are none.
    block_of : mapping
        The threadblock of each action, if there are any.
    """
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
    receivers = _receivers(transfers, block_of or {})
    if isinstance(transfers, PacketTransfers):
        _link_packets(transfers, block_of or {}, receivers, links, greeted)
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
        transfers.boxes if transfers else Boxes(),
        receivers,
        isinstance(transfers, PacketTransfers),
    )


def _receivers(
    transfers: PortTransfers | PacketTransfers | None, block_of: Mapping[Action, Block]
) -> dict[Action, Block]:
    if isinstance(transfers, PacketTransfers):
        are_apart = transfers.boxes.are_apart
        return {
            put: block_of[reader]
            for put, reader in transfers.readers.items()
            if are_apart(put.gpu, reader.gpu)
        }
    arrivals = transfers.arrivals if transfers else {}
    return {put: block_of[arrival] for put, arrival in arrivals.items()}


def _link_packets(
    transfers: PacketTransfers,
    block_of: Mapping[Action, Block],
    receivers: Mapping[Action, Block],
    links: dict[Block, set[Block]],
    greeted: dict[Block, dict[int, Block]],
) -> None:
    """Join each sender of packets to a threadblock there, and the first pair that greets."""
    first = dict[tuple[Block, int], Block]()
    for put, reader in sorted(transfers.readers.items(), key=lambda pair: block_of[pair[0]]):
        block, other = block_of[put], block_of[reader]
        # A port channel is that of its transfers; a memory channel is one to the GPU.
        if put not in receivers:
            other = first.setdefault((block, other.gpu), other)
        links[block].add(other)
        links[other].add(block)
    blocks = sorted(set(block_of.values()))
    for gpu, there in sorted(transfers.greeted):
        mine = [one for one in blocks if one.gpu == gpu]
        pairs = ((block, other) for block in mine for other in sorted(links[block]))
        linked = (pair for pair in pairs if pair[1].gpu == there)
        first_there = next(one for one in blocks if one.gpu == there)
        block, other = next(linked, (mine[0], first_there))
        links[block].add(other)
        links[other].add(block)
        greeted[block][there] = other


@dataclass(slots=True)
class Channels:
    """The channels of each GPU with the GPU at the other end; and their users, by instance.

    Channels are numbered by type, "memory" or "port".
    """

    peers: dict[tuple[int, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    number: dict[tuple[int, Block, Block], int] = field(default_factory=dict)


def channels_of(wiring: Wiring, at: Mapping[int, Sequence[Block]], instances: int) -> Channels:
    """Number channels so that the n-th ones of two GPUs join the same two threadblocks."""
    found = Channels()
    for gpu in sorted(at):
        pairs = [(block, other) for block in at[gpu] for other in wiring.links.get(block, [])]
        pairs.sort(key=lambda pair: (pair[1].gpu, min(pair), max(pair)))
        for instance in range(instances):
            for block, other in pairs:
                peers = found.peers[gpu, wiring.kind(block, other)]
                found.number[instance, block, other] = len(peers)
                peers.append(other.gpu)
    return found
