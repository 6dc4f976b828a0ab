"""Program order: the nodes of each threadblock, and the edges between them.

Problem: the threads of a threadblock drift, so its operations are in order only across a nop.
Input:   a plan without dangling references.
Output:  nodes, and the edges within each threadblock; signals and waits with their places.
Cost:    one pass.
Source:  the kernel of MSCCL++. All threads execute a data operation, between the nop before it and
         the nop after it. The k-th thread handles the k-th channel of a signal or wait: after its
         own earlier channel operations, and before the next nop. A launch begins before its
         threadblocks, and ends after them. On a port channel a thread only queues requests, of
         which a proxy does one after another. So what a put reads and writes is over when a later
         signal of its channel arrives, or when the thread has waited for it (pwsf, flush). No end
         of a launch waits for it.
"""

from __future__ import annotations

from dataclasses import replace

from forestcoll.runtimes.interpretation.findings import Place
from forestcoll.runtimes.mscclpp.execution_plan import Operation
from forestcoll.runtimes.mscclpp.interpreter.buffer_cells import PlanCells
from forestcoll.runtimes.mscclpp.interpreter.nodes import Channel, Data, Meeting, PlanNodes, Sync
from forestcoll.runtimes.mscclpp.interpreter.operand_rules import WAITING, is_over_port
from forestcoll.runtimes.mscclpp.interpreter.port_queues import PortQueues

__all__ = ["plan_nodes_of"]


def plan_nodes_of(layout: PlanCells) -> PlanNodes:
    """Return the nodes of a launch, with the order of each threadblock."""
    nodes = PlanNodes()
    for rank, gpu in enumerate(layout.plan.gpus):
        launch = nodes.lines + len(gpu.threadblocks)
        nodes.begin.append(nodes.add(rank, launch))
        queues = PortQueues(nodes, rank, launch + 2)
        ends = []
        for number, block in enumerate(gpu.threadblocks):
            walk = _Block(nodes, rank, number, nodes.lines + number, launch + 1, queues)
            nodes.join(nodes.begin[-1], walk.nop)
            for place, one in enumerate(block.operations):
                walk.do(layout, one, place)
            ends.append(walk.close(-1))
        nodes.end.append(nodes.add(rank, launch))
        for end in (*ends, nodes.begin[-1]):
            nodes.join(end, nodes.end[-1])
        nodes.lines = queues.next_line
    return nodes


class _Block:
    """State of a threadblock while its operations are read."""

    def __init__(
        self,
        nodes: PlanNodes,
        rank: int,
        number: int,
        block: int,
        loose: int,
        queues: PortQueues,
    ) -> None:
        self.nodes, self.rank, self.number = nodes, rank, number
        self.block, self.loose, self.queues = block, loose, queues
        self._waiting = -1  # the last operation since the nop that waits for packets
        self.epoch = 0
        self.nop = nodes.add(rank, block)
        self._threads: dict[int, int] = {}
        self._data: list[Data] = []

    def do(self, layout: PlanCells, one: Operation, place: int) -> None:
        """Add an operation; of a pipeline, all rounds."""
        if one.loop is None:
            self._one(layout, one, self._named(one, str(place)), -1)
            return
        inner = [self._named(each, f"{place}.{at}") for at, each in enumerate(one.inner)]
        for turn in range(one.loop.chunks * layout.parts):
            for each, what in zip(one.inner, inner, strict=True):
                self._one(layout, each, what, turn)

    def _named(self, one: Operation, place: str) -> int:
        where = f"{one.kind} of GPU {self.rank}, threadblock {self.number}, operation {place}"
        at = Place(self.rank, self.number, int(place.split(".")[0]))
        self.nodes.places.append((where, at))
        return len(self.nodes.places) - 1

    def _one(self, layout: PlanCells, one: Operation, what: int, turn: int) -> None:
        if one.kind == "nop" or (one.kind == "barrier" and one.meeting == 1):
            self.close(what)
        elif one.kind == "barrier":
            come = self.close(what)
            go = self.close(what)
            self.nodes.meetings[self.rank, one.barrier].append(
                Meeting(self.block, come, go, one.meeting)
            )
        elif one.kind in ("sem_acquire", "sem_release"):
            to = self.nodes.acquires if one.kind == "sem_acquire" else self.nodes.releases
            for thread, number in enumerate(one.semaphores):
                to[self.rank, number].append(self._sync(thread, what, relaxed=False))
        elif one.kind in ("signal", "rlxsignal", "wait", "rlxwait"):
            for thread, channel in enumerate(self._channels(layout, one)):
                self._count(one, channel, thread, what)
        elif one.kind == "flush":
            # The kernel takes the number of channels from the number of targets.
            channels = self._channels(layout, one)[: len(one.targets)]
            for thread, channel in enumerate(channels):
                self._flush(channel, self._sync(thread, what, relaxed=False))
        elif is_over_port(one):
            self._port(layout, one, what, turn)
        else:
            self._move(one, what, turn)

    def _channels(self, layout: PlanCells, one: Operation) -> list[Channel]:
        """Return the channels of an operation, by thread."""
        block = layout.plan.gpus[self.rank].threadblocks[self.number]
        known = block.port_channels if one.channel_type == "port" else block.memory_channels
        return [(self.rank, one.channel_type, known[number]) for number in one.channels]

    def _count(self, one: Operation, channel: Channel, thread: int, what: int) -> None:
        """Add a signal or wait of one thread."""
        # On port channels the kernel has one kind of signal only.
        port = channel[1] == "port"
        sync = self._sync(thread, what, relaxed=one.kind.startswith("rlx") and not port)
        if not one.kind.endswith("signal"):
            self.nodes.waits[channel].append(sync)
            return
        if port:
            sync = replace(sync, node=self.queues.add(channel, sync, what))
        self.nodes.signals[channel].append(sync)

    def _move(self, one: Operation, what: int, turn: int) -> None:
        """Add a data operation of all threads."""
        node = self.nodes.add(self.rank, self.loose, what)
        self.nodes.join(self.nop, node)
        self._behind_packets(node)
        # A thread that waits does its share later, and a reader of packets needs all shares.
        for earlier in self._threads.values():
            self.nodes.join_threads(earlier, node)
        data = Data(node, self.rank, self.number, one, turn, self.nop, [])
        self.nodes.data.append(data)
        self._data.append(data)
        if one.kind in WAITING:
            self._waiting = node

    def _port(self, layout: PlanCells, one: Operation, what: int, turn: int) -> None:
        """Add the transfers that threads queue, one for each target."""
        if one.kind == "rppkt":
            # All threads wait for the packets first, and meet at a nop.
            self._move(replace(one, targets=(), channels=(), channel_type=""), what, turn)
            self.close(what)
        sources = one.sources if len(one.sources) > 1 else one.sources * len(one.targets)
        for thread, (channel, source, target) in enumerate(
            zip(self._channels(layout, one), sources, one.targets, strict=True)
        ):
            sync = self._sync(thread, what, relaxed=False)
            done = self.queues.add(channel, sync, what)
            part = replace(one, sources=(source,), targets=(target,))
            data = Data(done, self.rank, self.number, part, turn, self.nop, [done])
            self.nodes.data.append(data)
            if one.kind in ("pws", "pwsf"):
                signal = replace(sync, node=self.queues.add(channel, sync, what))
                self.nodes.signals[channel].append(signal)
            if one.kind == "pwsf":
                self._flush(channel, self._sync(thread, what, relaxed=False))

    def _flush(self, channel: Channel, sync: Sync) -> None:
        for node in self.queues.before(channel, sync):
            self.nodes.join(node, sync.node)

    def _behind_packets(self, node: int) -> None:
        if self._waiting >= 0:
            self.nodes.join_threads(self._waiting, node)

    def _sync(self, thread: int, what: int, *, relaxed: bool) -> Sync:
        node = self.nodes.add(self.rank, self.loose, what)
        self.nodes.join(self._threads.get(thread, self.nop), node)
        self._behind_packets(node)
        self._threads[thread] = node
        return Sync(node, self.block, self.epoch, thread, relaxed)

    def close(self, what: int) -> int:
        """Add a barrier of all threads; return its node."""
        node = self.nodes.add(self.rank, self.block, what)
        self.nodes.join(self.nop, node)
        for before in self._threads.values():
            self.nodes.join(before, node)
        for data in self._data:
            self.nodes.join(data.node, node)
            data.after.append(node)
        self._threads, self._data, self._waiting = {}, [], -1
        self.nop, self.epoch = node, self.epoch + 1
        return node
