"""Small plans by hand: operations in a few words, threadblocks and GPUs around them."""

from collections.abc import Sequence

from forestcoll.runtimes.interpretation.findings import Findings, Kind
from forestcoll.runtimes.mscclpp import (
    Operation,
    Plan,
    PlanGpu,
    PlanThreadblock,
    RemoteBuffer,
    Span,
)
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan

NOP = Operation("nop")


def own(place: str, size: int = 1) -> Span:
    """A span such as "o3"."""
    return Span(place[0], int(place[1:]), size)


def there(number: int, index: int, size: int = 1) -> Span:
    """A span of a remote buffer."""
    return Span("remote", index, size, number)


def data(kind: str, sources: Sequence[Span], targets: Sequence[Span]) -> Operation:
    return Operation(kind, tuple(sources), tuple(targets), "memory")


def copy(source: str, target: str, size: int = 1) -> Operation:
    return Operation("copy", (own(source, size),), (own(target, size),))


def tell(kind: str, *channels: int) -> Operation:
    return Operation(kind, channel_type="memory", channels=channels)


def share(kind: str, *semaphores: int) -> Operation:
    return Operation(kind, semaphores=semaphores)


def meet(barrier: int, many: int) -> Operation:
    return Operation("barrier", barrier=barrier, meeting=many)


def alone(*blocks: Sequence[Operation], chunks: int = 2, semaphores: int = 0) -> Plan:
    """One GPU, which is to end with its input in its output; scratch of as many chunks."""
    gpu = PlanGpu(
        *(chunks, chunks, chunks),
        tuple(PlanThreadblock(tuple(block)) for block in blocks),
        semaphores=(0,) * semaphores,
    )
    return Plan("alone", "allreduce", "Simple", False, (gpu,))


def pair(
    first: Sequence[Operation], second: Sequence[Operation], collective: str = "allreduce"
) -> Plan:
    """Two GPUs of a threadblock each, two channels; buffers 0, 1, 2 are i, o, s of the other."""
    gpus = []
    for rank, operations in enumerate((first, second)):
        block = PlanThreadblock(tuple(operations), memory_channels=(0, 1), memory_buffers=(0, 1, 2))
        other = 1 - rank
        remote = tuple(RemoteBuffer(other, buffer, ("memory",)) for buffer in "ios")
        gpus.append(
            PlanGpu(2, 2, 2, (block,), memory_channels=(other, other), remote_buffers=remote)
        )
    return Plan("pair", collective, "Simple", False, tuple(gpus))


def swap() -> list[Operation]:
    """What each of two GPUs does in an allreduce of two chunks: swap inputs, add them."""
    return [
        tell("rlxsignal", 0),
        tell("rlxwait", 0),
        NOP,
        data("put", [own("i0", 2)], [there(2, 0, 2)]),
        NOP,
        tell("signal", 0),
        tell("wait", 0),
        NOP,
        Operation("re", (own("i0", 2), own("s0", 2)), (own("o0", 2),)),
    ]


def kinds(found: Findings) -> set[str]:
    return {str(one.kind) for one in found.findings if one.is_wrong}


def messages(plan: Plan, kind: Kind, **options: int) -> list[str]:
    return [one.message for one in interpret_plan(plan, **options).findings if one.kind is kind]
