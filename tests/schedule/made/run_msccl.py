"""An algorithm of MSCCL carried out the slow way: chunk by chunk, threadblocks in turn.

Shares nothing with what exports or interprets. A chunk of a buffer is a multiset of whose parts of
the data are in it; a queue holds so many chunks; a threadblock does its steps in order, pass after
pass, each pass on buffers of its own.
"""

import random
from collections import Counter, deque
from dataclasses import dataclass, field

from forestcoll.runtimes.msccl import Algorithm, Instruction, Threadblock

RIGHT, DEADLOCK = "right", "deadlock"

Parts = Counter[tuple[int, int]]
"""How often the part of a rank, by its number in its input, is in a chunk."""

Spot = tuple[int, int, str, int]
"""Pass, rank, buffer, chunk."""


@dataclass
class _Block:
    """Where a threadblock is."""

    rank: int
    number: int
    work: Threadblock
    at: tuple[int, int] = (0, 0)
    done: int = 0
    flag: tuple[int, int] = (-1, -1)


@dataclass
class _Machine:
    algorithm: Algorithm
    in_place: bool
    depth: int
    passes: int
    held: dict[Spot, Parts] = field(default_factory=dict)
    queues: dict[tuple[int, int, int], deque[Parts]] = field(default_factory=dict)
    blocks: list[_Block] = field(default_factory=list)

    def spot(self, when: int, rank: int, buffer: str, chunk: int) -> Spot:
        """Where a chunk is; the output is named where both are one."""
        share = self.algorithm.chunks_per_loop // len(self.algorithm.gpus)
        if not self.in_place or buffer == "s":
            return when, rank, buffer, chunk
        if self.algorithm.collective == "allgather" and buffer == "i":
            return when, rank, "o", rank * share + chunk
        if self.algorithm.collective == "reducescatter" and buffer == "o":
            return when, rank, "i", rank * share + chunk
        if self.algorithm.collective in ("allgather", "reducescatter"):
            return when, rank, buffer, chunk
        return when, rank, "o", chunk

    def start(self) -> None:
        """Fill the inputs."""
        for when in range(self.passes):
            for rank, gpu in enumerate(self.algorithm.gpus):
                for chunk in range(gpu.input_chunks):
                    self.held[self.spot(when, rank, "i", chunk)] = Counter({(rank, chunk): 1})
        for rank, gpu in enumerate(self.algorithm.gpus):
            self.blocks += [_Block(rank, n, work) for n, work in enumerate(gpu.threadblocks)]

    def step(self, block: _Block) -> bool:
        """Let a threadblock do one chunk; return whether it could."""
        when, step = block.at
        if when == self.passes or not block.work.instructions:
            return False
        now = block.work.instructions[step]
        if not block.done and not self.may_begin(block, now):
            return False
        if now.count and not self.chunk(block, now):
            return False
        block.done += 1
        if block.done >= now.count:
            if now.is_waited_for:
                block.flag = block.at
            last = step + 1 == len(block.work.instructions)
            block.at, block.done = (when + 1, 0) if last else (when, step + 1), 0
        return True

    def may_begin(self, block: _Block, now: Instruction) -> bool:
        if now.waits_for < 0:
            return True
        flags = {other.number: other.flag for other in self.blocks if other.rank == block.rank}
        return flags[now.waits_for] >= (block.at[0], now.waits_step)

    def chunk(self, block: _Block, now: Instruction) -> bool:
        """Do one chunk of a step."""
        if now.kind == "nop":
            return True
        when, place = block.at[0], block.done
        source = self.spot(when, block.rank, now.source, now.source_offset + place)
        target = self.spot(when, block.rank, now.target, now.target_offset + place)
        channel, receives, sends = block.work.channel, now.kind[0] == "r", now.kind[-1] == "s"
        receives &= now.kind != "re"
        into = self.queues.setdefault((block.work.receive, block.rank, channel), deque())
        out = self.queues.setdefault((block.rank, block.work.send, channel), deque())
        if (receives and not into) or (sends and len(out) >= self.depth):
            return False
        came = into.popleft() if receives else Counter()
        if now.kind in ("s", "cpy", "re", "rrs", "rrc", "rrcs"):
            came = came + self.held[source]
        if now.kind == "re":
            came = came + self.held[target]
        if now.kind in ("r", "rcs", "rrc", "rrcs", "cpy", "re"):
            self.held[target] = came
        if sends:
            out.append(came)
        return True

    def due(self) -> dict[tuple[int, str, int], Parts]:
        """What must be where in the end."""
        kind, whole = self.algorithm.collective, self.algorithm.chunks_per_loop
        gpus = range(len(self.algorithm.gpus))
        share = whole // len(gpus)
        due: dict[tuple[int, str, int], Parts] = {}
        for rank in gpus:
            for chunk in range(self.algorithm.gpus[rank].output_chunks):
                theirs, place = divmod(chunk, max(share, 1))
                if kind == "allgather":
                    parts = Counter({(theirs, place): 1})
                elif kind == "alltoall":
                    parts = Counter({(theirs, rank * share + place): 1})
                elif kind == "broadcast":
                    roots = [gpu for gpu in gpus if self.algorithm.gpus[gpu].input_chunks]
                    parts = Counter({(root, chunk): 1 for root in roots})
                else:
                    shift = rank * share if kind == "reducescatter" else 0
                    parts = Counter({(gpu, shift + chunk): 1 for gpu in gpus})
                due[rank, "o", chunk] = parts
        if not self.in_place:
            for rank in gpus:
                for chunk in range(self.algorithm.gpus[rank].input_chunks):
                    due[rank, "i", chunk] = Counter({(rank, chunk): 1})
        return due


def carried_out(
    algorithm: Algorithm, in_place: bool, *, depth: int = 1, passes: int = 2, seed: int = 0
) -> str:
    """Say whether the data comes out right, or what goes wrong.

    With a seed other than 0, threadblocks are let go on in a random order, some more often.
    """
    machine = _Machine(algorithm, in_place, depth, passes)
    machine.start()
    chance = random.Random(seed)
    blocks = list(machine.blocks)
    moved = True
    while moved:
        moved = False
        if seed:
            chance.shuffle(blocks)
        for block in blocks:
            try:
                for _ in range(chance.choice((1, 1, 1000)) if seed else 1000):
                    if not machine.step(block):
                        break
                    moved = True
            except KeyError as missing:
                return f"rank {block.rank} reads {missing}, where nothing is"
    if any(block.at[0] < passes and block.work.instructions for block in blocks):
        return DEADLOCK
    if any(machine.queues.values()):
        return "a queue is not empty in the end"
    for when in range(passes):
        for (rank, buffer, chunk), parts in machine.due().items():
            found = machine.held.get(machine.spot(when, rank, buffer, chunk))
            if found != parts:
                return f"rank {rank} has {found} in {buffer}[{chunk}], not {parts}"
    return RIGHT
