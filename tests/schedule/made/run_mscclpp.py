"""A plan of MSCCL++ carried out the slow way: any order of threads, launch after launch.

Shares nothing with what exports or interprets. A chunk is a multiset of inputs; what a threadblock
does between two nops happens in any order, chunk by chunk, but for what one thread does to
counters. What is written to another GPU is seen there sometime, at the latest when the threadblock
signals (not relaxed) or its launch ends. Each GPU begins its next launch whenever it likes; its
buffers are filled then, with inputs of that launch, and looked at when it ends.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from forestcoll.runtimes.mscclpp import Operation, Plan, PlanThreadblock, Span

RIGHT, DEADLOCK = "right", "deadlock"

Spot = tuple[int, str, int]
"""Rank, buffer, chunk."""

Parts = Counter[tuple[int, int, int]]
"""How often which input is in a chunk: rank, chunk and launch."""

GARBAGE: Parts = Counter({(-1, -1, -1): 1})


@dataclass
class Block:
    """A threadblock where it is: what is left between the last nop and the next."""

    rank: int
    number: int
    work: PlanThreadblock
    at: int = 0
    open: list[Callable[[], bool]] = field(default_factory=list)
    threads: dict[int, list[Callable[[], bool]]] = field(default_factory=dict)
    unseen: list[tuple[Spot, Parts]] = field(default_factory=list)
    met: tuple[int, int] | None = None

    def done(self) -> bool:
        left = self.open or any(self.threads.values()) or self.met
        return self.at == len(self.work.operations) and not left


class Machine:
    """All GPUs."""

    def __init__(self, plan: Plan, launches: int, seed: int, root: int) -> None:
        self.plan, self.launches, self.root = plan, launches, root
        self.chance = random.Random(seed)
        self.held: dict[Spot, Parts] = {}
        self.inbound, self.expected = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
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

    def _ends(self) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Where what is signalled on a channel arrives."""
        for rank, gpu in enumerate(self.plan.gpus):
            for number, peer in enumerate(gpu.memory_channels):
                nth = gpu.memory_channels[:number].count(peer)
                there = self.plan.gpus[peer].memory_channels
                back = [one for one, other in enumerate(there) if other == rank]
                if nth < len(back):
                    yield (rank, number), (peer, back[nth])

    # Launches.

    def spot(self, rank: int, buffer: str, chunk: int) -> Spot:
        """Name a chunk; the output where input and output are one."""
        if not self.plan.in_place or buffer == "s":
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
                row += counters[one.kind](block, one, number)
            return
        block.open += self.chunks(block, one)

    def signal(self, block: Block, one: Operation, number: int) -> list[Callable[[], bool]]:
        side = block.rank, block.work.memory_channels[number]

        def do() -> bool:
            if one.kind == "signal":
                self.show(block, all_of_it=True)
            if side in self.ends:
                self.inbound[self.ends[side]] += 1
            return True

        return [do]

    def wait(self, block: Block, one: Operation, number: int) -> list[Callable[[], bool]]:
        """First the thread counts, then it waits for what it read."""
        side = block.rank, block.work.memory_channels[number]
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
            spot, parts = block.unseen.pop(place)
            self.held[spot] = parts

    # Data.

    def chunks(self, block: Block, one: Operation) -> list[Callable[[], bool]]:
        """Each chunk of a data operation by itself."""
        paired = one.kind in ("put", "copy", "get")
        groups = (
            [([source], [target]) for source, target in zip(one.sources, one.targets, strict=True)]
            if paired
            else [(list(one.sources), list(one.targets))]
        )
        return [
            self.moved(block, sources, targets, nth)
            for sources, targets in groups
            for nth in range(targets[0].size)
        ]

    def moved(
        self, block: Block, sources: list[Span], targets: list[Span], nth: int
    ) -> Callable[[], bool]:
        read = [spot for span in sources for spot in self.spots(block, span, nth)]
        written = [spot for span in targets for spot in self.spots(block, span, nth)]

        def do() -> bool:
            total: Parts = Counter()
            for spot in read:
                total = total + self.held.get(spot, GARBAGE)
            for spot in written:
                if spot[0] == block.rank:
                    self.held[spot] = total
                else:
                    block.unseen.append((spot, total))
            return True

        return do

    def spots(self, block: Block, span: Span, nth: int) -> list[Spot]:
        gpu = self.plan.gpus[block.rank]
        chunk = span.index + nth
        if span.where == "remote":
            there = gpu.remote_buffers[block.work.memory_buffers[span.number]]
            return [self.spot(there.rank, there.buffer, chunk)]
        if span.where == "switch":
            group = gpu.switch_channels[block.work.switch_channels[span.number]]
            return [self.spot(rank, group.buffer, chunk) for rank in group.ranks]
        return [self.spot(block.rank, span.where, chunk)]

    # All of it.

    def run(self) -> str:
        ranks = list(range(len(self.plan.gpus)))
        moved = True
        while moved and not self.wrong:
            moved = False
            self.chance.shuffle(ranks)
            for rank in ranks:
                moved |= self.turn(rank)
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
