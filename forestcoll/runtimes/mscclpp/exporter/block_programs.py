"""MSCCL++ operations of threadblocks, with the channels and buffers that they name.

Problem: operations are limited in number, and threads are in order only across a nop.
Input:   phases of threadblocks, their links, and the places of slots in buffers.
Output:  the plan of each GPU.
Cost:    linear, apart from sorts within a phase.
Source:  ours. Before a threadblock writes to a GPU, it waits for a relaxed signal that the launch
         there has begun. Every signal has a wait, so no launch ends too early. Rows that are
         adjacent at both ends form one span; spans from one buffer form one operation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

from forestcoll.runtimes.mscclpp.execution_plan import (
    Operation,
    PlanGpu,
    PlanThreadblock,
    RemoteBuffer,
    Span,
    SwitchGroup,
)
from forestcoll.runtimes.mscclpp.exporter.block_links import Channels, Wiring, channels_of
from forestcoll.runtimes.mscclpp.exporter.data_actions import Action, Slot
from forestcoll.runtimes.mscclpp.exporter.loader_limits import IDS, SPANS
from forestcoll.runtimes.mscclpp.exporter.teams import Block

__all__ = ["Place", "Where", "gpus_of"]

T = TypeVar("T")

Place = tuple[str, int]
"""A buffer, and a chunk of it."""

Where = Callable[[Slot, int], Place]
"""Where a slot lies in which instance."""

_NOP = Operation("nop")
_NO_CHANNEL = -1


def gpus_of(
    wiring: Wiring,
    buffers: Sequence[tuple[int, int, int]],
    instances: int,
    where: Where,
) -> list[PlanGpu]:
    """Return the plan of each GPU, given the chunks of its buffers."""
    at = defaultdict[int, list[Block]](list)
    for block in sorted(wiring.phases):
        at[block.gpu].append(block)
    channels = channels_of(wiring, at, instances)
    groups = _groups(wiring, where)
    found = []
    for gpu, chunks in enumerate(buffers):
        mine = [group for group in groups if gpu in group.ranks]
        names = _Names(channels, _Numbers(), {group: n for n, group in enumerate(mine)}, where)
        blocks = [
            _Writer(wiring, block, instance, names).threadblock()
            for instance in range(instances)
            for block in at[gpu]
        ]
        many = wiring.shared.get(gpu, 0) * instances
        # Semaphores start at 0, so that each acquire waits for a release of the same launch.
        found.append(
            PlanGpu(
                *chunks,
                tuple(blocks),
                memory_channels=tuple(channels.peers[gpu, "memory"]),
                port_channels=tuple(channels.peers[gpu, "port"]),
                switch_channels=tuple(mine),
                remote_buffers=tuple(
                    RemoteBuffer(
                        *one, ("port" if wiring.boxes.are_apart(gpu, one[0]) else "memory",)
                    )
                    for one in names.remote
                ),
                semaphores=(0,) * many,
            )
        )
    return found


def _groups(wiring: Wiring, where: Where) -> list[SwitchGroup]:
    """Return the buffers that switches multicast to or reduce, in one order for all GPUs."""
    found = {
        SwitchGroup(where(slot, 0)[0], _ranks(action))
        for phases in wiring.phases.values()
        for phase in phases.values()
        for action in phase.actions
        if action.also
        for slot in (action.target, *(action.sources if action.kind == "glres" else ()))
    }
    return sorted(found, key=lambda group: (group.ranks, group.buffer))


def _ranks(action: Action) -> tuple[int, ...]:
    """The GPUs of a switch operation; none for other operations."""
    return tuple(sorted(slot.gpu for slot in action.targets)) if action.also else ()


class _Numbers(dict[T, int]):
    """Numbers things in the order of first use."""

    def of(self, one: T) -> int:
        return self.setdefault(one, len(self))

    @property
    def numbers(self) -> tuple[T, ...]:
        return tuple(self)


@dataclass(frozen=True, slots=True)
class _Names:
    """State that the threadblocks of a GPU share.

    Parameters
    ----------
    remote : _Numbers
        Buffers of other GPUs, in the order of first use.
    groups : mapping
        The number of each switch channel.
    where : callable
    """

    channels: Channels
    remote: _Numbers[tuple[int, str]]
    groups: Mapping[SwitchGroup, int]
    where: Where


class _Writer:
    """Writer of one threadblock."""

    def __init__(
        self,
        wiring: Wiring,
        block: Block,
        instance: int,
        names: _Names,
    ) -> None:
        self.wiring, self.block, self.instance, self.names = wiring, block, instance, names
        kinds = ("memory", "port")
        self.own_channels = {kind: _Numbers[int]() for kind in kinds}
        self.own_buffers = {kind: _Numbers[int]() for kind in kinds}
        self.own_switches = _Numbers[int]()
        self.done: list[Operation] = []
        self.mixed = False
        self.touched = set[tuple[str, str, int]]()

    def threadblock(self) -> PlanThreadblock:
        greets = [
            other
            for other in self.wiring.links.get(self.block, [])
            if self.block in self.wiring.greeted.get(other, [])
        ]
        self._tell("rlxsignal", greets)
        greeted = self.wiring.greeted.get(self.block, [])
        if not self.wiring.greeted_last:
            self._tell("rlxwait", greeted)
        for _, phase in sorted(self.wiring.phases[self.block].items()):
            self._wait(phase.waits)
            work = [action for action in phase.actions if action.kind != "end"]
            if work:
                self._nop()
                self.done += self._data(work)
                self.mixed = True
            self._signal(phase.signals)
        if self.wiring.greeted_last:
            self._tell("rlxwait", greeted)
        return PlanThreadblock(
            tuple(self.done),
            memory_channels=self.own_channels["memory"].numbers,
            port_channels=self.own_channels["port"].numbers,
            switch_channels=self.own_switches.numbers,
            memory_buffers=self.own_buffers["memory"].numbers,
            port_buffers=self.own_buffers["port"].numbers,
        )

    def _nop(self) -> None:
        """Add a nop (a barrier of the threads), unless nothing came after the last one."""
        if self.mixed:
            self.done.append(_NOP)
            self.mixed = False
            self.touched.clear()

    def _touch(self, counter: str, kind: str, ids: Sequence[int]) -> None:
        """Add a nop if another thread may have used the same counter since the last one."""
        counters = {(counter, kind[-4:], one) for one in ids}
        if counters & self.touched:
            self.mixed = True
            self._nop()
        self.touched |= counters

    def _wait(self, others: Sequence[Block]) -> None:
        self._tell("wait", [one for one in others if one.gpu != self.block.gpu])
        inside = [one for one in others if one.gpu == self.block.gpu]
        self._share("sem_acquire", [(one, self.block) for one in inside])

    def _signal(self, others: Sequence[Block]) -> None:
        if not others:
            return
        self._nop()  # a single thread signals for all, so all must be done
        inside = [one for one in others if one.gpu == self.block.gpu]
        self._share("sem_release", [(self.block, one) for one in inside])
        self._tell("signal", [one for one in others if one.gpu != self.block.gpu])

    def _tell(self, kind: str, others: Sequence[Block]) -> None:
        for channel_type in ("memory", "port"):
            ids = [
                self._channel(other)
                for other in others
                if self.wiring.kind(self.block, other) == channel_type
            ]
            # Port channels have one kind of signal only.
            said = kind.removeprefix("rlx") if channel_type == "port" else kind
            self._touch(channel_type, said, ids)
            for some in _in_parts(ids, IDS):
                one = Operation(said, channel_type=channel_type, channels=tuple(some))
                self.done.append(one)
                self.mixed |= kind.endswith("wait")

    def _channel(self, other: Block) -> int:
        number = self.names.channels.number[self.instance, self.block, other]
        return self.own_channels[self.wiring.kind(self.block, other)].of(number)

    def _share(self, kind: str, pairs: Sequence[tuple[Block, Block]]) -> None:
        many = self.wiring.shared.get(self.block.gpu, 0)
        ids = [self.wiring.semaphores[pair] + many * self.instance for pair in pairs]
        self._touch("semaphore", kind, ids)
        for some in _in_parts(ids, IDS):
            self.done.append(Operation(kind, semaphores=tuple(some)))
            self.mixed |= kind == "sem_acquire"

    def _data(self, actions: Sequence[Action]) -> Iterator[Operation]:
        """Write the data operations of a phase: neighbours as one span, spans by buffer."""
        rows = sorted((self._row(action) for action in actions), key=lambda row: row.key)
        for kind, some in groupby(_merged(rows), key=lambda row: row.key[:3]):
            # Over port channels, each thread has a channel.
            most = IDS if kind[1] else SPANS
            if kind[0] in ("put", "ppkt"):
                for part in _in_parts(list(some), most):
                    yield self._put(part)
            elif kind[0] == "rppkt":
                for _, same in groupby(sorted(some, key=_Row.read), key=_Row.read):
                    for part in _in_parts(list(same), most):
                        yield self._put(part)
            else:
                yield from map(self._local, some)

    def _row(self, action: Action) -> _Row:
        receivers = self.wiring.receivers
        return _Row(
            action.kind,
            action.target.gpu,
            tuple(self.names.where(one, self.instance) for one in action.sources),
            self.names.where(action.target, self.instance),
            action.target.size,
            _ranks(action),
            self._channel(receivers[action]) if action in receivers else _NO_CHANNEL,
        )

    def _put(self, rows: Sequence[_Row]) -> Operation:
        kind = "port" if rows[0].is_over_port else "memory"
        where = "port" if rows[0].is_over_port else "remote"
        sources = [Span(*row.sources[0], row.size) for row in rows]
        targets = [
            Span(
                where,
                row.target[1],
                row.size,
                self.own_buffers[kind].of(self.names.remote.of((row.gpu, row.target[0]))),
            )
            for row in rows
        ]
        channels = tuple(row.channel for row in rows if row.is_over_port)
        read = sources[:1] if rows[0].kind == "rppkt" else sources
        return Operation(rows[0].kind, tuple(read), tuple(targets), kind, channels)

    def _local(self, row: _Row) -> Operation:
        sources = tuple(Span(*place, row.size) for place in row.sources)
        if not row.ranks:
            return Operation(row.kind, sources, (Span(*row.target, row.size),))
        if row.kind == "glres":
            sources = (self._of_switch(row, row.sources[0]),)
        return Operation(row.kind, sources, (self._of_switch(row, row.target),), "switch")

    def _of_switch(self, row: _Row, place: Place) -> Span:
        number = self.names.groups[SwitchGroup(place[0], row.ranks)]
        return Span("switch", place[1], row.size, self.own_switches.of(number))


@dataclass(frozen=True, slots=True)
class _Row:
    """One data operation of one span; ``ranks`` are the GPUs of a switch channel.

    ``channel`` is a port channel of the threadblock.
    """

    kind: str
    gpu: int
    sources: tuple[Place, ...]
    target: Place
    size: int
    ranks: tuple[int, ...] = ()
    channel: int = _NO_CHANNEL

    @property
    def is_over_port(self) -> bool:
        return self.channel != _NO_CHANNEL

    @property
    def key(self) -> tuple[object, ...]:
        """Sort key that puts neighbours next to each other."""
        where = self.kind, self.is_over_port, self.sources[0][0], self.channel
        return *where, self.gpu, self.ranks, self.target, self.sources

    def read(self) -> tuple[object, ...]:
        """What an operation that sends packets on reads once for all."""
        return *self.sources, self.size

    def joined(self, other: _Row) -> _Row | None:
        """Return both as one row if the other follows it at every place, else None."""
        mine = (self.kind, self.channel, self.gpu, self.ranks, len(self.sources))
        if mine != (other.kind, other.channel, other.gpu, other.ranks, len(other.sources)):
            return None
        pairs = [*zip(self.sources, other.sources, strict=True), (self.target, other.target)]
        if any(there != (here[0], here[1] + self.size) for here, there in pairs):
            return None
        return replace(self, size=self.size + other.size)


def _merged(rows: Iterable[_Row]) -> list[_Row]:
    found: list[_Row] = []
    for row in rows:
        both = found[-1].joined(row) if found else None
        if both is None:
            found.append(row)
        else:
            found[-1] = both
    return found


def _in_parts(some: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    for low in range(0, len(some), most):
        yield some[low : low + most]
