"""Writer of plans as Python programs of MSCCL++'s DSL, to be edited.

Problem: a plan is hard to edit, since its numbers of channels and buffers depend on each other.
Input:   a plan of the exporter.
Output:  a program of ``mscclpp.language`` that prints the plan.
Cost:    linear in the operations of the plan.
Source:  the DSL of MSCCL++ v0.10. It joins neighbouring calls to one operation, without regard to
         the limits of the executor. A nop comes between calls that it must not join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from forestcoll.errors import RuntimeLimitError, UnsupportedError
from forestcoll.runtimes.mscclpp.execution_plan import (
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    Span,
    SwitchGroup,
)

__all__ = ["written_dsl"]

_MOST_OPERATIONS, _MOST_SPANS, _MOST_IDS = 64, 10, 8
_PUTS = {
    "put": "put",
    "pws": "put_with_signal",
    "pwsf": "put_with_signal_and_flush",
    "ppkt": "put_packets",
    "rppkt": "read_put_packets",
}
_COPIES = {"copy": "copy", "cpkt": "copy_packets", "upkt": "unpack_packets"}
_CLASSES = {
    "allgather": "AllGather",
    "reducescatter": "ReduceScatter",
    "allreduce": "AllReduce",
    "alltoall": "AllToAll",
}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the DSL.

    Parameters
    ----------
    joins : tuple
        The DSL joins neighbours with equal ones, unless they are empty.
    fits : str
        The executor takes joined calls only if these are equal: the buffer that puts read.
    most : int
        Calls that the executor takes in one operation.
    number : int
        Channel of a signal or wait, of which the DSL joins only different ones; else -1.
    ends : bool
        Whether the DSL may join what follows to it, with another effect.
    """

    text: str
    joins: tuple[object, ...] = ()
    fits: str = ""
    most: int = 1
    number: int = -1
    ends: bool = False


def written_dsl(plan: Plan) -> str:
    """Return the text of a program of MSCCL++'s DSL that prints a plan.

    Raises
    ------
    UnsupportedError
        If the DSL has no call for an operation.
    RuntimeLimitError
        If a threadblock gets too many operations, since the DSL joins fewer than the plan.
    """
    body = [line for rank in range(len(plan.gpus)) for line in _gpu_lines(plan, rank)]
    return "\n".join([*_head(plan), *(f"        {line}".rstrip() for line in body), _END])


def _head(plan: Plan) -> Iterator[str]:
    many = len(plan.gpus)
    yield f'"""Program of {_plain(plan.name)}, for {many} GPUs, in the DSL of MSCCL++.'
    yield _ABOUT
    yield f"COLLECTIVE = {_collective(plan)}"
    if not _has_class(plan):
        yield f"COLLECTIVE.name, COLLECTIVE.inplace = {plan.collective!r}, {plan.in_place}"
    yield "NONE = SyncType.none"
    for name, of in _LISTS:
        yield f"{name} = ("
        yield from (
            f"    ({''.join(f'{one}, ' for one in of(gpu)).rstrip()})," for gpu in plan.gpus
        )
        yield ")"
    yield f"SCRATCH = ({''.join(f'{gpu.scratch_chunks}, ' for gpu in plan.gpus).rstrip()})"
    switches = "".join(f"({list(one.ranks)}, {one.buffer!r}), " for one in _switches(plan))
    yield f"SWITCHES = ({switches.rstrip()})"
    yield from ("", "")
    yield "def program() -> CollectiveProgram:"
    yield '    """Return the program; every line is a part of an operation."""'
    yield "    with CollectiveProgram("
    for argument in (
        f"{plan.name!r}, COLLECTIVE, {many}, protocol={plan.protocol!r}, instr_fusion=True",
        f"auto_sync=False, reuse_resources={plan.reuse_resources}",
        f"use_double_scratch_buffer={plan.double_scratch}",
        f"buffer_alignment={plan.buffer_alignment}, num_threads_per_block={plan.block_threads}",
        f"min_message_size={plan.min_bytes}, max_message_size={plan.max_bytes}",
    ):
        yield f"        {argument},"
    yield "    ) as made:"
    yield _SETUP


def _plain(text: str) -> str:
    """Return a name that cannot end a docstring."""
    return text.replace("\\", "/").replace('"', "'")


def _has_class(plan: Plan) -> bool:
    """Return whether a class of the DSL has the plan's numbers of chunks."""
    many = len(plan.gpus)
    gathers = (plan.gpus[0].input_chunks, plan.gpus[0].output_chunks)
    return plan.collective in _CLASSES and gathers == _chunks(plan.collective, many, _factor(plan))


def _chunks(collective: str, ranks: int, factor: int) -> tuple[int, int]:
    whole = ranks * factor
    return {"allgather": (factor, whole), "reducescatter": (whole, factor)}.get(
        collective, (whole, whole)
    )


def _factor(plan: Plan) -> int:
    first = plan.gpus[0]
    return max(first.input_chunks, first.output_chunks) // len(plan.gpus)


def _collective(plan: Plan) -> str:
    many, first = len(plan.gpus), plan.gpus[0]
    if _has_class(plan):
        return f"{_CLASSES[plan.collective]}({many}, {_factor(plan)}, {plan.in_place})"
    return f"TestCollective({many}, {first.input_chunks}, {first.output_chunks})"


def _switches(plan: Plan) -> list[SwitchGroup]:
    """Return all switch channels in an order that gives each GPU its own numbers."""
    found = sorted(
        {one for gpu in plan.gpus for one in gpu.switch_channels},
        key=lambda one: (one.ranks, one.buffer),
    )
    for rank, gpu in enumerate(plan.gpus):
        if [*gpu.switch_channels] != [one for one in found if rank in one.ranks]:
            raise UnsupportedError(
                f"unsupported: GPU {rank} has its switch channels in another order than the DSL "
                f"makes them; sort them by ranks and buffer at all GPUs"
            )
    return found


def _gpu_lines(plan: Plan, rank: int) -> Iterator[str]:
    gpu, switches = plan.gpus[rank], _switches(plan)
    yield ""
    yield f"# GPU {rank}."
    yield f"rank, m, p, sem = ranks[{rank}], memory[{rank}], port[{rank}], semaphores[{rank}]"
    if gpu.switch_channels:
        mine = ", ".join(f"switches[{switches.index(one)}]" for one in gpu.switch_channels)
        yield f"w = [one.at_rank({rank}) for one in ({mine},)]"
    for number, block in enumerate(gpu.threadblocks):
        writer = _BlockCalls(rank, gpu, block, number)
        lines = list(_with_nops([call for one in block.operations for call in writer.calls(one)]))
        many = lines.count("") + 1  # an empty line begins each operation but the first
        if many > _MOST_OPERATIONS:
            raise RuntimeLimitError(
                f"threadblock {number} of GPU {rank} has {many} operations as the DSL joins them, "
                f"and {_MOST_OPERATIONS} are possible; take more instances or fewer trees per GPU"
            )
        yield f"# Threadblock {number}."
        yield from (line.replace("NOP", f"rank.barrier([{number}])") for line in lines if line)


def _with_nops(calls: Sequence[_Call]) -> Iterator[str]:
    """Yield the calls, with nops between those that must not be joined.

    An empty line comes between two operations.
    """
    group: list[_Call] = []
    for call in calls:
        last = group[-1] if group else None
        joined = last is not None and call.joins == last.joins != ()
        joined &= all(call.number < 0 or call.number != one.number for one in group)
        fits = joined and last is not None and call.fits == last.fits and len(group) < call.most
        if last is not None and not fits:
            if joined or (last.ends and call.text != "NOP"):
                yield from ("", "NOP")
            yield ""
            group = []
        group.append(call)
        yield call.text


class _BlockCalls:
    """The calls for the operations of one threadblock."""

    def __init__(self, rank: int, gpu: PlanGpu, block: PlanThreadblock, number: int) -> None:
        self._rank, self._gpu, self._block, self._number = rank, gpu, block, number

    def calls(self, one: Operation) -> Iterator[_Call]:
        """Yield the calls that the DSL joins to an operation."""
        kind, tb = one.kind, f"tb={self._number}"
        if one.parts > 1:
            raise self._refused(f"{kind} of several threadblocks")
        if kind == "nop":
            yield _Call("NOP")
        elif kind.removeprefix("rlx") in ("signal", "wait"):
            yield from self._counters(one)
        elif kind in ("sem_acquire", "sem_release"):
            for number in one.semaphores:
                what = kind.removeprefix("sem_")
                text = f"sem[{number}].{what}({tb}, data_sync=NONE)"
                yield _Call(text, (kind,), most=_MOST_IDS)
        elif kind in _PUTS:
            yield from self._puts(one)
        elif kind in _COPIES:
            target, source = self._chunk(one.targets[0]), self._chunk(one.sources[0])
            yield _Call(f"rank.{_COPIES[kind]}({target}, {source}, {tb})")
        elif kind in ("re", "repkt"):
            first, *others = map(self._chunk, one.sources)
            packet = ", packet=True" if kind == "repkt" else ""
            target = f"dst_chunk={self._chunk(one.targets[0])}"
            text = f"rank.reduce({first}, [{', '.join(others)}], {tb}, {target}{packet})"
            yield _Call(text, ends=True)
        elif kind in ("gstore", "glres"):
            yield self._of_switch(one)
        else:
            raise self._refused(kind)

    def _counters(self, one: Operation) -> Iterator[_Call]:
        relaxed = ", relaxed=True" if one.kind.startswith("rlx") else ""
        for local in one.channels:
            channel, what = self._channel(one.channel_type, local), one.kind.removeprefix("rlx")
            text = f"{channel}.{what}(tb={self._number}, data_sync=NONE{relaxed})"
            yield _Call(text, (one.kind, one.channel_type), most=_MOST_IDS, number=local)

    def _channel(self, channel_type: str, local: int) -> str:
        ids = {"memory": self._block.memory_channels, "port": self._block.port_channels}
        return f"{channel_type[0]}[{ids[channel_type][local]}]"

    def _puts(self, one: Operation) -> Iterator[_Call]:
        is_port = one.channel_type == "port"
        sources = one.sources if one.kind != "rppkt" else one.sources * len(one.targets)
        for place, (source, target) in enumerate(zip(sources, one.targets, strict=True)):
            buffers = self._block.port_buffers if is_port else self._block.memory_buffers
            there = self._gpu.remote_buffers[buffers[target.number]]
            if is_port:
                channel = self._channel("port", one.channels[place])
            else:
                channel = f"m[{self._channel_to(there.rank)}]"
            remote = f"{there.buffer}[{there.rank}][{target.index}:{target.index + target.size}]"
            text = (
                f"{channel}.{_PUTS[one.kind]}({remote}, {self._chunk(source)}, tb={self._number})"
            )
            same = source if one.kind == "rppkt" else source.size
            joins = one.kind, one.channel_type, same
            yield _Call(text, joins, source.where, _MOST_IDS if is_port else _MOST_SPANS)

    def _channel_to(self, peer: int) -> int:
        """Return a memory channel to a GPU, one of the threadblock if it has any."""
        peers = self._gpu.memory_channels
        channels: list[int] = [*self._block.memory_channels, *range(len(peers))]
        for channel in channels:
            if peers[channel] == peer:
                return channel
        raise self._refused(f"a put to GPU {peer} without a channel")

    def _of_switch(self, one: Operation) -> _Call:
        target = one.targets[0]
        channel = self._block.switch_channels[target.number]
        where, tb = f"{target.index}, {target.size}", f"tb={self._number}"
        if one.kind == "gstore":
            text = f"w[{channel}].broadcast({self._chunk(one.sources[0])}, {where}, {tb})"
            return _Call(text)
        if one.sources[0] != target:
            raise self._refused("a sum in a switch that is written elsewhere; export it in place")
        buffer = self._gpu.switch_channels[channel].buffer
        own = self._chunk(Span(buffer, target.index, target.size))
        reduced = f"w[{channel}].reduce({where}, {own}, {tb})"
        return _Call(f"{reduced}; w[{channel}].broadcast({own}, {where}, {tb})")

    def _chunk(self, span: Span) -> str:
        return f"{span.where}[{self._rank}][{span.index}:{span.index + span.size}]"

    def _refused(self, what: str) -> UnsupportedError:
        return UnsupportedError(
            f"unsupported: threadblock {self._number} of GPU {self._rank} has {what}, for which no "
            f"program of the DSL is written; use the plan itself"
        )


_LISTS: tuple[tuple[str, Callable[[PlanGpu], tuple[int, ...]]], ...] = (
    ("MEMORY", lambda gpu: gpu.memory_channels),
    ("PORTS", lambda gpu: gpu.port_channels),
    ("SEMAPHORES", lambda gpu: gpu.semaphores),
)

_ABOUT = '''
    python THIS_FILE > plan.json

prints the execution plan. MEMORY and PORTS have a line for each GPU: the GPU at the other end of
each channel. SEMAPHORES has initial values, SCRATCH numbers of chunks. The buffers of GPU g are
i[g] (input), o[g] (output) and s[g] (scratch), in chunks. The DSL joins neighbouring lines to one
operation. rank.barrier([tb]) is the nop that orders the threads of a threadblock; the DSL adds no
other (auto_sync=False, data_sync=NONE), so keep those around what you change.
"""

from mscclpp.language.channel import MemoryChannel, PortChannel, SwitchChannel
from mscclpp.language.collectives import (
    AllGather,
    AllReduce,
    AllToAll,
    ReduceScatter,
    TestCollective,
)
from mscclpp.language.internal.types import BufferType, SyncType
from mscclpp.language.program import CollectiveProgram
from mscclpp.language.rank import Buffer, Rank, Semaphore

'''

_SETUP = """
        ranks = [Rank(rank) for rank in range(len(MEMORY))]
        i = [rank.get_input_buffer() for rank in ranks]
        o = [rank.get_output_buffer() for rank in ranks]
        s = [Buffer(rank, chunks) for rank, chunks in enumerate(SCRATCH)]
        memory = [[MemoryChannel(peer, a) for peer in peers] for a, peers in enumerate(MEMORY)]
        port = [[PortChannel(peer, a) for peer in peers] for a, peers in enumerate(PORTS)]
        semaphores = [[Semaphore(a, one) for one in some] for a, some in enumerate(SEMAPHORES)]
        switches = [SwitchChannel(some, BufferType(buffer)) for some, buffer in SWITCHES]
""".strip("\n")

_END = """
        return made


if __name__ == "__main__":
    print(program().to_json())
"""
