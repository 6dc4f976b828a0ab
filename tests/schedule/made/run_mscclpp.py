"""A plan of MSCCL++ carried out the slow way: any order of threads, launch after launch.

Shares nothing with what exports or interprets. A chunk is a multiset of inputs; what a threadblock
does between two nops happens in any order, chunk by chunk, but for what one thread does to
counters. What is written to another GPU is seen there sometime, at the latest when the threadblock
signals (not relaxed) or its launch ends. Some GPUs are slower than others. Each GPU begins its next
launch whenever it likes; its buffers are filled then, with inputs of that launch, and checked when
it ends.

A port channel is a row of requests, of which the first is done sometime: it reads then, and writes.
A packet has the number of the launch that wrote it, for which its readers wait.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from forestcoll.runtimes.mscclpp import Operation, Plan, PlanThreadblock, Span

RIGHT, DEADLOCK = "right", "deadlock"

Spot = tuple[int, str, int]
"""Rank, buffer, chunk."""

Parts = Counter[tuple[int, int, int]]
"""How often which input is in a chunk: rank, chunk and launch."""

GARBAGE: Parts = Counter({(-1, -1, -1): 1})

Side = tuple[int, str, int]
"""Rank, type of channel, channel of the rank."""

WAITING = {"upkt", "rppkt", "repkt", "respkt", "recpkt", "recspkt", "gstorepkt"}
ON_PACKETS = {*WAITING, "cpkt", "ppkt"}


@dataclass
class Block:
    """A threadblock where it is: what is left between the last nop and the next."""

    rank: int
    number: int
    work: PlanThreadblock
    at: int = 0
    open: list[Callable[[], bool]] = field(default_factory=list)
    threads: dict[int, list[Callable[[], bool]]] = field(default_factory=dict)
    unseen: list[tuple[Spot, Parts, int]] = field(default_factory=list)
    met: tuple[int, int] | None = None
    packets: list[tuple[int, set[int]]] = field(default_factory=list)
    """Of each operation since the nop that waits for packets: how many, and those that came."""

    def done(self) -> bool:
        left = self.open or any(self.threads.values()) or self.met
        return self.at == len(self.work.operations) and not left


class Machine:
    """All GPUs."""

    def __init__(self, plan: Plan, launches: int, seed: int, root: int) -> None:
        self.plan, self.launches, self.root = plan, launches, root
        self.chance = random.Random(seed)
        self.rest = [self.chance.choice((0.0, 0.3, 0.8)) for _ in plan.gpus]
        self.held: dict[Spot, Parts] = {}
        self.inbound, self.expected = Counter[Side](), Counter[Side]()
        self.flag: dict[Spot, int] = {}
        self.queued: dict[Side, list[Callable[[], None]]] = {}
        self.asked, self.served = Counter[Side](), Counter[Side]()
        self.permits = {
            (rank, number): value
            for rank, gpu in enumerate(plan.gpus)
            for number, value in enumerate(gpu.semaphores)
        }
        self.arrived = Counter[tuple[int, int]]()
        self.ends = dict(self._ends())
        self.launch = [0] * len(plan.gpus)
        self.blocks: list[list[Block]] = [[] for _ in plan.gpus]
        self.wrong = ""

    def _ends(self) -> Iterator[tuple[Side, Side]]:
        """Where what is signalled on a channel arrives."""
        for rank, gpu in enumerate(self.plan.gpus):
            for kind in ("memory", "port"):
                mine = getattr(gpu, f"{kind}_channels")
                for number, peer in enumerate(mine):
                    nth = mine[:number].count(peer)
                    there = getattr(self.plan.gpus[peer], f"{kind}_channels")
                    back = [one for one, other in enumerate(there) if other == rank]
                    if nth < len(back):
                        yield (rank, kind, number), (peer, kind, back[nth])

    # Launches.

    def spot(self, rank: int, buffer: str, chunk: int) -> Spot:
        """Name a chunk; the output where input and output are one."""
        if not self.plan.in_place or buffer[0] in "sp":
            return rank, buffer, chunk
        gpu, kind = self.plan.gpus[rank], self.plan.collective
        if kind == "allgather" and buffer == "i":
            return rank, "o", rank * gpu.input_chunks + chunk
        if kind == "reducescatter":
            return rank, "i", chunk + (rank * gpu.output_chunks if buffer == "o" else 0)
        return rank, "o", chunk

    def begin(self, rank: int) -> None:
        self.launch[rank] += 1
        gpu = self.plan.gpus[rank]
        for buffer, many in (("o", gpu.output_chunks), ("i", gpu.input_chunks)):
            for chunk in range(many):
                mine = {(rank, chunk, self.launch[rank]): 1}
                there = buffer == "i" and (self.plan.collective != "broadcast" or rank == self.root)
                self.held[self.spot(rank, buffer, chunk)] = Counter(mine) if there else GARBAGE
        self.blocks[rank] = [Block(rank, n, work) for n, work in enumerate(gpu.threadblocks)]

    def end(self, rank: int) -> None:
        for block in self.blocks[rank]:
            self.show(block, all_of_it=True)
        for (buffer, chunk), due in self.due(rank).items():
            found = self.held[self.spot(rank, buffer, chunk)]
            if found != due and not self.wrong:
                self.wrong = f"rank {rank} has {found} in {buffer}[{chunk}], not {due}"
        # The caller does what it likes with its buffers.
        for spot in [one for one in self.held if one[0] == rank and one[1] in "io"]:
            self.held[spot] = GARBAGE
        self.blocks[rank] = []

    def due(self, rank: int) -> dict[tuple[str, int], Parts]:
        gpu, kind, when = self.plan.gpus[rank], self.plan.collective, self.launch[rank]
        ranks, share = range(len(self.plan.gpus)), gpu.input_chunks
        found: dict[tuple[str, int], Parts] = {}
        for chunk in range(gpu.output_chunks):
            if kind == "allgather":
                parts = {(chunk // share, chunk % share, when): 1}
            elif kind == "alltoall":
                part = share // len(ranks)
                parts = {(chunk // part, rank * part + chunk % part, when): 1}
            elif kind == "broadcast":
                parts = {(self.root, chunk, when): 1}
            else:
                shift = rank * gpu.output_chunks if kind == "reducescatter" else 0
                parts = {(one, shift + chunk, when): 1 for one in ranks}
            if kind != "reduce" or rank == self.root:
                found["o", chunk] = Counter(parts)
        if not self.plan.in_place and (kind != "broadcast" or rank == self.root):
            for chunk in range(gpu.input_chunks):
                found["i", chunk] = Counter({(rank, chunk, when): 1})
        return found

    # Threadblocks.

    def step(self, block: Block) -> bool:
        """Let a threadblock do something; return whether it could."""
        if block.met is not None:
            return self.leave(block)
        choices = [
            *(("open", place) for place in range(len(block.open))),
            *(("thread", thread) for thread, left in block.threads.items() if left),
        ]
        self.chance.shuffle(choices)
        for kind, which in choices:
            todo = block.open if kind == "open" else block.threads[which]
            place = which if kind == "open" else 0
            if todo[place]():
                del todo[place]
                return True
        if choices or block.at == len(block.work.operations):
            return False
        return self.advance(block)

    def advance(self, block: Block) -> bool:
        """Take up everything up to the next nop."""
        first = block.work.operations[block.at]
        block.packets.clear()
        if first.kind == "nop":
            block.at += 1
            return True
        if first.kind == "barrier":
            block.at += 1
            self.arrived[block.rank, first.barrier] += 1
            number = self.arrived[block.rank, first.barrier]
            block.met = (first.barrier, -(-number // first.meeting) * first.meeting)
            return True
        while block.at < len(block.work.operations):
            one = block.work.operations[block.at]
            if one.kind in ("nop", "barrier"):
                break
            if one.kind == "rppkt" and one.channel_type == "port":
                self.take_up_port(block, one)
            else:
                self.take_up(block, one)
            block.at += 1
        return True

    def leave(self, block: Block) -> bool:
        assert block.met is not None
        if self.arrived[block.rank, block.met[0]] < block.met[1]:
            return False
        block.met = None
        return True

    def take_up(self, block: Block, one: Operation) -> None:
        counters = {
            "signal": self.signal,
            "rlxsignal": self.signal,
            "wait": self.wait,
            "rlxwait": self.wait,
            "sem_acquire": self.acquire,
            "sem_release": self.release,
        }
        if one.kind in counters:
            for thread, number in enumerate(one.channels or one.semaphores):
                row = block.threads.setdefault(thread, [])
                row += [
                    self.behind(block, thread, do) for do in counters[one.kind](block, one, number)
                ]
            return
        if one.kind == "flush":
            for thread, number in enumerate(one.channels[: len(one.targets)]):
                row = block.threads.setdefault(thread, [])
                row += self.flushed((block.rank, "port", block.work.port_channels[number]))
            return
        if one.channel_type == "port" and one.kind in ("put", "pws", "pwsf"):
            self.queue(block, one, [[source] for source in one.sources])
            return
        block.open += self.chunks(block, one)

    def behind(self, block: Block, thread: int, do: Callable[[], bool]) -> Callable[[], bool]:
        """What a thread does only after the packets that it waits for first."""
        before = [came for many, came in block.packets if thread < many]
        return lambda: all(thread in came for came in before) and do()

    def in_turn(self, block: Block, thread: int, do: Callable[[], bool]) -> Callable[[], bool]:
        """What a thread does only after all that it did to counters before."""
        row = block.threads.get(thread, [])
        earlier = row[-1:]
        return lambda: all(one not in row for one in earlier) and do()

    def take_up_port(self, block: Block, one: Operation) -> None:
        """Wait for all packets, then queue them for each target."""
        source = one.sources[0]
        spots = [
            spot
            for nth in range(source.size)
            for spot in self.spots(block, source, nth, packets=True)
        ]

        def all_there() -> bool:
            return all(self.flag.get(spot) == self.launch[block.rank] for spot in spots)

        came: set[int] = set()
        block.packets.append((1000, came))
        rows = [(block.threads.setdefault(thread, [])) for thread in range(len(one.channels))]

        def wait() -> bool:
            if all_there():
                came.update(range(1000))
            return bool(came)

        for row in rows:
            row.append(wait)
        self.queue(block, one, [[source] for _ in one.targets])

    def queue(self, block: Block, one: Operation, sources: list[list[Span]]) -> None:
        """Let the k-th thread ask for the k-th transfer, and what comes with it."""
        packets = one.kind == "rppkt"
        for thread, (number, read, target) in enumerate(
            zip(one.channels, sources, one.targets, strict=True)
        ):
            side = block.rank, "port", block.work.port_channels[number]
            row = block.threads.setdefault(thread, [])
            pairs = [
                (here, there)
                for nth in range(target.size)
                for here in self.spots(block, read[0], nth, packets=packets)
                for there in self.spots(block, target, nth, packets=packets)
            ]

            def ask(side: Side = side, pairs: list[tuple[Spot, Spot]] = pairs) -> bool:
                for here, there in pairs:
                    self.ask(side, lambda here=here, there=there: self.carry(here, there))
                if one.kind in ("pws", "pwsf"):
                    self.ask(side, lambda: self.arrive(side))
                return True

            row.append(self.behind(block, thread, ask))
            if one.kind == "pwsf":
                row += self.flushed(side)

    def ask(self, side: Side, do: Callable[[], None]) -> None:
        self.queued.setdefault(side, []).append(do)
        self.asked[side] += 1

    def carry(self, here: Spot, there: Spot) -> None:
        self.held[there] = self.held.get(here, GARBAGE)
        if here in self.flag:
            self.flag[there] = self.flag[here]

    def arrive(self, side: Side) -> None:
        if side in self.ends:
            self.inbound[self.ends[side]] += 1

    def flushed(self, side: Side) -> list[Callable[[], bool]]:
        """Wait until all that was asked for up to now is done."""
        due: list[int] = []

        def count() -> bool:
            due.append(self.asked[side])
            return True

        return [count, lambda: self.served[side] >= due[0]]

    def serve(self, *, all_of_it: bool = False) -> bool:
        """Let the proxies do some of what they were asked for."""
        served = False
        for side, row in self.queued.items():
            many = len(row) if all_of_it else self.chance.choice((0, 0, 1, len(row)))
            for do in row[:many]:
                do()
                self.served[side] += 1
                served = True
            del row[:many]
        return served

    def signal(self, block: Block, one: Operation, number: int) -> list[Callable[[], bool]]:
        if one.channel_type == "port":
            side = block.rank, "port", block.work.port_channels[number]

            def ask() -> bool:
                self.show(block, all_of_it=True)
                self.ask(side, lambda: self.arrive(side))
                return True

            return [ask]
        side = block.rank, "memory", block.work.memory_channels[number]

        def do() -> bool:
            if one.kind == "signal":
                self.show(block, all_of_it=True)
            if side in self.ends:
                self.inbound[self.ends[side]] += 1
            return True

        return [do]

    def wait(self, block: Block, one: Operation, number: int) -> list[Callable[[], bool]]:
        """First the thread counts, then it waits for what it read."""
        known = getattr(block.work, f"{one.channel_type}_channels")
        side = block.rank, one.channel_type, known[number]
        due: list[int] = []

        def count() -> bool:
            self.expected[side] += 1
            due.append(self.expected[side])
            return True

        return [count, lambda: self.inbound[side] >= due[0]]

    def acquire(self, block: Block, one: Operation, number: int) -> list[Callable[[], bool]]:
        side = block.rank, number

        def do() -> bool:
            if self.permits[side] <= 0:
                return False
            self.permits[side] -= 1
            return True

        return [do]

    def release(self, block: Block, one: Operation, number: int) -> list[Callable[[], bool]]:
        def do() -> bool:
            self.show(block, all_of_it=True)
            self.permits[block.rank, number] += 1
            return True

        return [do]

    def show(self, block: Block, *, all_of_it: bool = False) -> None:
        """Let others see what a threadblock has written to them."""
        many = len(block.unseen) if all_of_it else min(1, len(block.unseen))
        for _ in range(many):
            place = 0 if all_of_it else self.chance.randrange(len(block.unseen))
            spot, parts, launch = block.unseen.pop(place)
            self.held[spot] = parts
            self.flag[spot] = launch

    def show_everything(self) -> bool:
        """Whether something written was seen by nobody yet."""
        late = [block for blocks in self.blocks for block in blocks if block.unseen]
        for block in late:
            self.show(block, all_of_it=True)
        return bool(late)

    # Data.

    def chunks(self, block: Block, one: Operation) -> list[Callable[[], bool]]:
        """Each chunk of a data operation by itself."""
        paired = one.kind in ("put", "copy", "get", "ppkt", "pws", "pwsf")
        groups = (
            [([source], [target]) for source, target in zip(one.sources, one.targets, strict=True)]
            if paired
            else [(list(one.sources), list(one.targets))]
        )
        if one.kind == "get":  # as the kernel has it
            groups = [
                ([replace(there, index=here.index)], [replace(here, index=there.index)])
                for (there,), (here,) in groups
            ]
        came: set[int] = set()
        found = [
            self.behind(
                block,
                nth,
                self.in_turn(block, nth, self.moved(block, one, sources, targets, nth, came)),
            )
            for sources, targets in groups
            for nth in range(targets[0].size)
        ]
        if one.kind in WAITING:
            block.packets.append((one.targets[0].size, came))
        return found

    def moved(
        self,
        block: Block,
        one: Operation,
        sources: list[Span],
        targets: list[Span],
        nth: int,
        came: set[int],
    ) -> Callable[[], bool]:
        packed = [self.packed(one, place, "sources") for place in range(len(sources))]
        made = [self.packed(one, place, "targets") for place in range(len(targets))]
        read, awaited = [], []
        for span, packets in zip(sources, packed, strict=True):
            spots = self.spots(block, span, nth, packets=packets)
            read += spots
            awaited += spots if packets else []
        written = [
            spot
            for span, packets in zip(targets, made, strict=True)
            for spot in self.spots(block, span, nth, packets=packets)
        ]

        def do() -> bool:
            launch = self.launch[block.rank]
            if any(self.flag.get(spot) != launch for spot in awaited):
                return False
            total: Parts = Counter()
            for spot in read:
                total = total + self.held.get(spot, GARBAGE)
            for spot in written:
                if spot[0] == block.rank:
                    self.held[spot] = total
                    self.flag[spot] = launch
                else:
                    block.unseen.append((spot, total, launch))
            came.add(nth)
            return True

        return do

    def packed(self, one: Operation, place: int, side: str) -> bool:
        """Whether an operand consists of packets."""
        if one.kind not in ON_PACKETS:
            return False
        if side == "sources":
            return one.kind in WAITING and (place > 0 or one.kind in ("upkt", "rppkt", "gstorepkt"))
        return one.kind != "upkt" and (
            place > 0 or one.kind in ("cpkt", "ppkt", "rppkt", "gstorepkt")
        )

    def spots(self, block: Block, span: Span, nth: int, *, packets: bool = False) -> list[Spot]:
        gpu = self.plan.gpus[block.rank]
        chunk = span.index + nth
        if span.where in ("remote", "port"):
            known = block.work.memory_buffers if span.where == "remote" else block.work.port_buffers
            there = gpu.remote_buffers[known[span.number]]
            found = [(there.rank, there.buffer)]
        elif span.where == "switch":
            group = gpu.switch_channels[block.work.switch_channels[span.number]]
            found = [(rank, group.buffer) for rank in group.ranks]
        else:
            found = [(block.rank, span.where)]
        half = self.launch[block.rank] % 2 if self.plan.double_scratch else 0
        if packets:
            found = [(rank, f"p{half}") for rank, _ in found]
        elif self.plan.double_scratch:  # plain operations on others' scratch do not shift
            found = [
                (rank, f"s{half if rank == block.rank else 1}" if name == "s" else name)
                for rank, name in found
            ]
        return [self.spot(rank, name, chunk) for rank, name in found]

    # All of it.

    def run(self) -> str:
        ranks = list(range(len(self.plan.gpus)))
        idle = 0
        while idle < 3 and not self.wrong:
            moved = False
            self.chance.shuffle(ranks)
            for rank in ranks:
                # In the last round before a deadlock is said, nobody rests.
                if idle == 2 or self.chance.random() >= self.rest[rank]:
                    moved |= self.turn(rank)
            moved |= self.serve()
            moved = moved or self.serve(all_of_it=True) or self.show_everything()
            idle = 0 if moved else idle + 1
        if self.wrong:
            return self.wrong
        if any(self.blocks) or min(self.launch) < self.launches:
            return DEADLOCK
        if +self.inbound != +self.expected:
            return "counters are apart in the end"
        return RIGHT

    def turn(self, rank: int) -> bool:
        """Let one GPU go on a little."""
        if not self.blocks[rank]:
            if self.launch[rank] == self.launches:
                return False
            self.begin(rank)
            return True
        moved = False
        for block in self.chance.sample(self.blocks[rank], len(self.blocks[rank])):
            for _ in range(self.chance.choice((0, 1, 3, 40))):
                if not self.step(block):
                    break
                moved = True
            if self.chance.random() < 0.3:
                moved |= bool(block.unseen)
                self.show(block)
        if all(block.done() for block in self.blocks[rank]):
            self.end(rank)
            return True
        return moved or self.can_move(rank)

    def can_move(self, rank: int) -> bool:
        """Whether something was left out by chance alone."""
        return any(self.step(block) for block in self.blocks[rank])


def carried_out(plan: Plan, *, launches: int = 3, seed: int = 0, root: int = 0) -> str:
    """Say whether the data comes out right in some order, or what goes wrong."""
    return Machine(plan, launches, seed, root).run()
