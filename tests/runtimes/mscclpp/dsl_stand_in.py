"""A stand-in of the classes of ``mscclpp.language`` that programs of the DSL call.

It records operations, joins neighbours like the DSL, and prints the plan as JSON. Like the DSL it
checks the ranks and sizes of chunks, and that signals and waits between two GPUs are equally many.
"""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from enum import Enum
from types import ModuleType
from typing import Any, NamedTuple, Self
from unittest.mock import patch

SyncType = Enum("SyncType", "none before after both")
BufferType = Enum("BufferType", {"input": "i", "output": "o", "scratch": "s"})

CURRENT: list["CollectiveProgram"] = []


class Chunk(NamedTuple):
    rank: int
    buffer: str
    index: int
    size: int

    @property
    def local(self) -> dict[str, Any]:
        return {"type": self.buffer, "index": self.index, "size": self.size}


class Chunks:
    """A buffer; slices of it are chunks."""

    def __init__(self, rank: int, buffer: str, size: int) -> None:
        self.rank, self.buffer, self.size = rank, buffer, size

    def __getitem__(self, key: slice) -> Chunk:
        assert 0 <= key.start <= key.stop <= self.size
        return Chunk(self.rank, self.buffer, key.start, key.stop - key.start)


class Collective:
    """Numbers of chunks of input and output."""

    def __init__(self, name: str, inplace: bool, chunks: tuple[int, int]) -> None:
        self.name, self.inplace, self.chunks = name, inplace, chunks


def all_gather(ranks: int, factor: int, inplace: bool) -> Collective:
    return Collective("allgather", inplace, (factor, ranks * factor))


def all_reduce(ranks: int, factor: int, inplace: bool) -> Collective:
    return Collective("allreduce", inplace, (ranks * factor, ranks * factor))


def all_to_all(ranks: int, factor: int, inplace: bool) -> Collective:
    return Collective("alltoall", inplace, (ranks * factor, ranks * factor))


def reduce_scatter(ranks: int, factor: int, inplace: bool) -> Collective:
    return Collective("reducescatter", inplace, (ranks * factor, factor))


def collective_of_sizes(ranks: int, input_size: int, output_size: int) -> Collective:
    return Collective("test", False, (input_size, output_size))


class Numbers(list[Any]):
    """The places of things in the order of first use."""

    def of(self, one: Any) -> int:
        if one not in self:
            self.append(one)
        return self.index(one)


class Threadblock:
    def __init__(self) -> None:
        self.ops: list[dict[str, Any]] = []
        self.channels = {kind: Numbers() for kind in ("memory", "port", "switch")}
        self.buffers = {kind: Numbers() for kind in ("memory", "port")}

    def add(self, name: str, **fields: Any) -> None:
        op = {"name": name, **fields}
        if not (self.ops and joined(self.ops[-1], op)):
            self.ops.append(op)


def joined(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Join an operation to the one before it as the DSL does, if it does."""
    if one["name"] != other["name"] or one.get("channel_type") != other.get("channel_type"):
        return False
    match one["name"]:
        case "nop":
            return True
        case "signal" | "wait" | "rlxsignal" | "rlxwait":
            if set(one["channel_ids"]) & set(other["channel_ids"]):
                return False
            one["channel_ids"] += other["channel_ids"]
            return True
        case "sem_acquire" | "sem_release":
            one["semaphore_ids"] += other["semaphore_ids"]
            return True
        case "put" | "ppkt" | "pws" | "pwsf" if same_size(one, other):
            one["src_buff"] += other["src_buff"]
        case "rppkt" if one["src_buff"] == other["src_buff"]:
            pass
        case _:
            return False
    one["dst_buff"] += other["dst_buff"]
    if "channel_ids" in one:
        one["channel_ids"] += other["channel_ids"]
    return True


def same_size(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(one["src_buff"][0]["size"] == other["src_buff"][0]["size"])


class Gpu:
    def __init__(self, chunks: tuple[int, int]) -> None:
        self.chunks, self.scratch = chunks, 0
        self.peers: dict[str, list[int]] = {"memory": [], "port": []}
        self.switches: list[dict[str, Any]] = []
        self.remote, self.access = Numbers(), list[set[str]]()
        self.semaphores: list[int] = []
        self.threadblocks: list[Threadblock] = []

    def block(self, tb: int) -> Threadblock:
        while len(self.threadblocks) <= tb:
            self.threadblocks.append(Threadblock())
        return self.threadblocks[tb]


class CollectiveProgram:
    def __init__(
        self, name: str, collective: Collective, num_ranks: int, *, protocol: str, **options: Any
    ) -> None:
        assert protocol in ("Simple", "LL")
        assert options.pop("instr_fusion")
        assert not options.pop("auto_sync")
        self.collective = collective
        self.head = {
            "name": name,
            "collective": collective.name,
            "protocol": protocol,
            "inplace": collective.inplace,
            **options,
        }
        self.gpus = [Gpu(collective.chunks) for _ in range(num_ranks)]
        self.balance = Counter[tuple[str, int, int]]()

    def __enter__(self) -> Self:
        CURRENT.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        CURRENT.pop()

    def to_json(self) -> str:
        assert not any(self.balance.values())
        return json.dumps({**self.head, "gpus": [*map(gpu_json, range(9999), self.gpus)]})


def gpu_json(rank: int, gpu: Gpu) -> dict[str, Any]:
    channels: list[dict[str, Any]] = [
        {"channel_type": kind, "connected_to": peers} for kind, peers in gpu.peers.items() if peers
    ]
    return {
        "id": rank,
        "input_chunks": gpu.chunks[0],
        "output_chunks": gpu.chunks[1],
        "scratch_chunks": gpu.scratch,
        "channels": channels + gpu.switches,
        "remote_buffers": [
            {"rank": peer, "type": kind, "access_channel_types": sorted(access)}
            for (peer, kind), access in zip(gpu.remote, gpu.access, strict=True)
        ],
        "semaphores": [{"init_value": value} for value in gpu.semaphores],
        "threadblocks": [*map(block_json, range(9999), gpu.threadblocks)],
    }


def block_json(number: int, block: Threadblock) -> dict[str, Any]:
    return {
        "id": number,
        "ops": block.ops,
        "channels": [
            {"channel_type": kind, "channel_ids": ids}
            for kind, ids in block.channels.items()
            if ids
        ],
        "remote_buffer_refs": [
            {"access_channel_type": kind, "remote_buffer_ids": ids}
            for kind, ids in block.buffers.items()
            if ids
        ],
    }


class Channel:
    kind = ""

    def __init__(self, dst_rank: int, src_rank: int) -> None:
        self.program, self.src, self.dst = CURRENT[-1], src_rank, dst_rank
        peers = self.program.gpus[src_rank].peers[self.kind]
        self.number = len(peers)
        peers.append(dst_rank)

    def _block(self, tb: int) -> tuple[Threadblock, dict[str, Any]]:
        block = self.program.gpus[self.src].block(tb)
        ids = [block.channels[self.kind].of(self.number)]
        return block, {"channel_type": self.kind, "channel_ids": ids}

    def signal(self, tb: int, data_sync: Any, relaxed: bool = False) -> None:
        self._count(tb, "signal", relaxed, data_sync)
        self.program.balance[self.kind, self.src, self.dst] += 1

    def wait(self, tb: int, data_sync: Any, relaxed: bool = False) -> None:
        self._count(tb, "wait", relaxed, data_sync)
        self.program.balance[self.kind, self.dst, self.src] -= 1

    def _count(self, tb: int, name: str, relaxed: bool, data_sync: Any) -> None:
        assert data_sync == SyncType.none
        assert not (relaxed and self.kind == "port")
        block, fields = self._block(tb)
        block.add("rlx" * relaxed + name, **fields)

    def put(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        self._put("put", dst_chunk, src_chunk, tb)

    def put_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        assert dst_chunk.buffer == "s"
        self._put("ppkt", dst_chunk, src_chunk, tb)

    def read_put_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        assert dst_chunk.buffer == src_chunk.buffer == "s"
        self._put("rppkt", dst_chunk, src_chunk, tb)

    def _put(self, name: str, there: Chunk, here: Chunk, tb: int) -> None:
        assert (here.rank, there.rank, there.size) == (self.src, self.dst, here.size)
        gpu = self.program.gpus[self.src]
        block, fields = self._block(tb)
        if self.kind == "memory":
            del fields["channel_ids"]
        remote = gpu.remote.of((there.rank, there.buffer))
        gpu.access += [set() for _ in gpu.remote[len(gpu.access) :]]
        gpu.access[remote].add(self.kind)
        target = {"buffer_id": block.buffers[self.kind].of(remote)}
        target |= {"index": there.index, "size": there.size}
        block.add(name, src_buff=[here.local], dst_buff=[target], **fields)


class MemoryChannel(Channel):
    kind = "memory"


class PortChannel(Channel):
    kind = "port"

    def put_with_signal(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        self._put("pws", dst_chunk, src_chunk, tb)
        self.program.balance[self.kind, self.src, self.dst] += 1

    def put_with_signal_and_flush(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        self._put("pwsf", dst_chunk, src_chunk, tb)
        self.program.balance[self.kind, self.src, self.dst] += 1


class SwitchChannel:
    def __init__(self, rank_list: list[int], buffer_type: Any) -> None:
        self.ranks, self.program, self.number = rank_list, CURRENT[-1], dict[int, int]()
        for rank in rank_list:
            rows = self.program.gpus[rank].switches
            self.number[rank] = len(rows)
            group = {"size": len(rank_list), "ranks": rank_list}
            where = {"channel_type": "switch", "buffer_type": buffer_type.value}
            rows.append({**where, "rank_groups": [group]})

    def at_rank(self, rank: int) -> "AtRank":
        return AtRank(self, rank)


class AtRank:
    def __init__(self, channel: SwitchChannel, rank: int) -> None:
        self.channel, self.rank = channel, rank

    def _span(self, index: int, size: int, tb: int) -> tuple[Threadblock, list[dict[str, int]]]:
        block = self.channel.program.gpus[self.rank].block(tb)
        local = block.channels["switch"].of(self.channel.number[self.rank])
        return block, [{"switch_channel_id": local, "index": index, "size": size}]

    def reduce(self, buffer_offset: int, size: int, dst_chunk: Chunk, tb: int) -> None:
        block, span = self._span(buffer_offset, size, tb)
        block.add("glre", src_buff=span, dst_chunk=dst_chunk, channel_type="switch")

    def broadcast(self, src_chunk: Chunk, buffer_offset: int, size: int, tb: int) -> None:
        block, span = self._span(buffer_offset, size, tb)
        last = block.ops[-1] if block.ops else {}
        if last.get("name") == "glre" and last["dst_chunk"] == src_chunk:
            # The DSL writes the index of the source.
            block.ops[-1] = {
                "name": "glres",
                "src_buff": last["src_buff"],
                "dst_buff": last["src_buff"],
                "channel_type": "switch",
            }
            return
        block.add("gstore", src_buff=[src_chunk.local], dst_buff=span, channel_type="switch")


class Rank:
    def __init__(self, rank: int) -> None:
        self.rank, self.program = rank, CURRENT[-1]

    def get_input_buffer(self) -> Chunks:
        return Chunks(self.rank, "i", self.program.collective.chunks[0])

    def get_output_buffer(self) -> Chunks:
        return Chunks(self.rank, "o", self.program.collective.chunks[1])

    def barrier(self, tb_list: list[int]) -> None:
        self.program.gpus[self.rank].block(tb_list[0]).add("nop")

    def copy(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        self._do("copy", [src_chunk], dst_chunk, tb)

    def unpack_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        assert src_chunk.buffer == "s"
        self._do("upkt", [src_chunk], dst_chunk, tb)

    def copy_packets(self, dst_chunk: Chunk, src_chunk: Chunk, tb: int) -> None:
        assert dst_chunk.buffer == "s"
        self._do("cpkt", [src_chunk], dst_chunk, tb)

    def reduce(
        self,
        src_chunk: Chunk,
        other_chunks: Sequence[Chunk],
        tb: int,
        dst_chunk: Chunk,
        packet: bool = False,
    ) -> None:
        assert all(one.buffer == "s" for one in other_chunks) or not packet
        self._do("repkt" if packet else "re", [src_chunk, *other_chunks], dst_chunk, tb)

    def _do(self, name: str, sources: Sequence[Chunk], target: Chunk, tb: int) -> None:
        assert {one.rank for one in (*sources, target)} == {self.rank}
        assert {one.size for one in sources} == {target.size}
        block = self.program.gpus[self.rank].block(tb)
        block.add(name, src_buff=[one.local for one in sources], dst_buff=[target.local])


class Scratch(Chunks):
    def __init__(self, rank: int, size: int) -> None:
        super().__init__(rank, "s", size)
        CURRENT[-1].gpus[rank].scratch += size


class Semaphore:
    def __init__(self, rank: int, initial_value: int) -> None:
        self.gpu = CURRENT[-1].gpus[rank]
        self.number = len(self.gpu.semaphores)
        self.gpu.semaphores.append(initial_value)

    def acquire(self, tb: int, data_sync: Any) -> None:
        assert data_sync == SyncType.none
        self.gpu.block(tb).add("sem_acquire", semaphore_ids=[self.number])

    def release(self, tb: int, data_sync: Any) -> None:
        assert data_sync == SyncType.none
        self.gpu.block(tb).add("sem_release", semaphore_ids=[self.number])


NAMES: dict[str, dict[str, Any]] = {
    "channel": {
        "MemoryChannel": MemoryChannel,
        "PortChannel": PortChannel,
        "SwitchChannel": SwitchChannel,
    },
    "collectives": {
        "AllGather": all_gather,
        "AllReduce": all_reduce,
        "AllToAll": all_to_all,
        "ReduceScatter": reduce_scatter,
        "TestCollective": collective_of_sizes,
    },
    "internal.types": {"BufferType": BufferType, "SyncType": SyncType},
    "program": {"CollectiveProgram": CollectiveProgram},
    "rank": {"Buffer": Scratch, "Rank": Rank, "Semaphore": Semaphore},
}


def printed_plan(text: str) -> str:
    """Execute a program, and return the JSON of its plan."""
    names: dict[str, Any] = {"__name__": "written"}
    with ExitStack() as stack:
        for home, values in NAMES.items():
            module = ModuleType(home)
            vars(module).update(values)
            stack.enter_context(patch.dict(sys.modules, {f"mscclpp.language.{home}": module}))
        exec(compile(text, "program", "exec"), names)
        made: CollectiveProgram = names["program"]()
    return made.to_json()
