"""Operand rules of MSCCL++ operations, and the operations that the interpreter refuses.

Problem: the loader checks almost nothing, and the kernel's behaviour is unclear for some
         operations.
Input:   the operations of a plan.
Output:  operations that cannot be executed here, with the reason; invalid operands; operations
         that the kernel executes in another way than their names suggest.
Cost:    one pass.
Source:  the kernel of MSCCL++ (microsoft/mscclpp, after v0.10).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from forestcoll.runtimes.mscclpp.execution_plan import Operation, Plan, PlanThreadblock, Span

__all__ = [
    "ON_PACKETS", "WAITING", "as_executed", "check_operands", "each_operation", "is_over_port",
    "packets_of", "positions_of", "refusals", "shifted_faults", "surprises",
]  # fmt: skip

_LOCAL = ("i", "o", "s")
_REMOTE, _SWITCH, _SCRATCH = ("remote",), ("switch",), ("s",)
_MANY = 10**9


@dataclass(frozen=True, slots=True)
class _Rule:
    """Places allowed for the first and for further operands of a side, and their number.

    Attributes
    ----------
    source_packets, target_packets : tuple of bool
        Whether an operand consists of packets, by its position; the last entry is for all further
        positions.
    """

    first_source: tuple[str, ...]
    sources: tuple[str, ...]
    first_target: tuple[str, ...]
    targets: tuple[str, ...]
    most_sources: int = _MANY
    most_targets: int = _MANY
    paired: bool = False
    source_packets: tuple[bool, ...] = (False,)
    target_packets: tuple[bool, ...] = (False,)
    copies: int = 0
    """Targets after the first that are in its own scratch."""


_ADDS = (False, True)
_PUT = _Rule(_LOCAL, _LOCAL, _REMOTE, _REMOTE, paired=True)

_RULES: Mapping[str, _Rule] = {
    "copy": _Rule(_LOCAL, _LOCAL, _LOCAL, _LOCAL, 1, 1),
    "put": _PUT,
    "pws": _PUT,
    "pwsf": _PUT,
    "get": _Rule(_REMOTE, _REMOTE, _LOCAL, _LOCAL, paired=True),
    "re": _Rule(_LOCAL, _LOCAL, _LOCAL, _LOCAL, most_targets=1),
    "res": _Rule(_LOCAL, _LOCAL, _LOCAL, _REMOTE),
    "rre": _Rule(_LOCAL, _REMOTE, _LOCAL, _LOCAL, most_targets=1),
    "rres": _Rule(_LOCAL, _REMOTE, _LOCAL, _REMOTE),
    "gstore": _Rule(_LOCAL, _LOCAL, _SWITCH, _SWITCH, 1, 1),
    "glres": _Rule(_SWITCH, _SWITCH, _SWITCH, _SWITCH, 1, 1),
    "cpkt": _Rule(_LOCAL, _LOCAL, _SCRATCH, _SCRATCH, 1, 1, target_packets=(True,)),
    "upkt": _Rule(_SCRATCH, _SCRATCH, _LOCAL, _LOCAL, 1, 1, source_packets=(True,)),
    "ppkt": _Rule(_LOCAL, _LOCAL, _REMOTE, _REMOTE, paired=True, target_packets=(True,)),
    "rppkt": _Rule(
        *(_SCRATCH, _SCRATCH, _REMOTE, _REMOTE, 1),
        source_packets=(True,),
        target_packets=(True,),
    ),
    "repkt": _Rule(_LOCAL, _SCRATCH, _LOCAL, _LOCAL, most_targets=1, source_packets=_ADDS),
    "respkt": _Rule(
        _LOCAL, _SCRATCH, _LOCAL, _REMOTE, source_packets=_ADDS, target_packets=(False, True)
    ),
    "recpkt": _Rule(
        *(_LOCAL, _SCRATCH, _LOCAL, _SCRATCH, _MANY, 2),
        source_packets=_ADDS,
        target_packets=(False, True),
        copies=1,
    ),
    "recspkt": _Rule(
        *(_LOCAL, _SCRATCH, _LOCAL, _REMOTE),
        source_packets=_ADDS,
        target_packets=(False, True),
        copies=1,
    ),
    "gstorepkt": _Rule(
        *(_SCRATCH, _SCRATCH, _SWITCH, _SWITCH, 1, 1),
        source_packets=(True,),
        target_packets=(True,),
    ),
}

ON_PACKETS = frozenset(
    kind for kind, rule in _RULES.items() if any((*rule.source_packets, *rule.target_packets))
)
"""Operations with packets among their operands."""

WAITING = frozenset(kind for kind, rule in _RULES.items() if any(rule.source_packets))
"""Operations that wait for the flags of packets."""

_OVER_PORTS = ("put", "pws", "pwsf", "ppkt", "rppkt")
_OF_PORTS = ("pws", "pwsf")
_PLAIN_REMOTE = frozenset({"put", "pws", "pwsf", "get", "res", "rre", "rres", "gstore", "glres"})


def each_operation(block: PlanThreadblock) -> Iterator[tuple[str, Operation]]:
    """Yield the operations of a threadblock with their places, including those of pipelines."""
    for place, one in enumerate(block.operations):
        yield str(place), one
        for inner_place, inner in enumerate(one.inner):
            yield f"{place}.{inner_place}", inner


def is_over_port(one: Operation) -> bool:
    """Return whether threads queue an operation on port channels; local ones have no channel."""
    return one.channel_type == "port" and one.kind in _OVER_PORTS


def packets_of(one: Operation) -> tuple[list[bool], list[bool]]:
    """Return, for each source and for each target, whether it consists of packets."""
    rule = _RULES.get(one.kind)
    if rule is None:
        return [False] * len(one.sources), [False] * len(one.targets)
    return _flags(rule.source_packets, one.sources), _flags(rule.target_packets, one.targets)


def positions_of(one: Operation, spans: int, apart: int) -> list[int]:
    """Return the position at which each span of a side begins: what one thread handles.

    An operation that pairs its sources and targets moves one pair after another, each at positions
    ``apart`` from the last. Any other one handles the same position of all spans together.
    """
    rule = _RULES.get(one.kind)
    paired = rule is not None and rule.paired
    return [place * apart if paired else 0 for place in range(spans)]


def _flags(rule: tuple[bool, ...], spans: tuple[Span, ...]) -> list[bool]:
    return [rule[min(place, len(rule) - 1)] for place in range(len(spans))]


def as_executed(plan: Plan) -> Plan:
    """Return a plan whose operations do what the kernel does with those of the given one.

    The kernel takes the two indices of a get for each other.
    """
    return replace(
        plan,
        gpus=tuple(
            replace(gpu, threadblocks=tuple(map(_block_as_executed, gpu.threadblocks)))
            for gpu in plan.gpus
        ),
    )


def _block_as_executed(block: PlanThreadblock) -> PlanThreadblock:
    return replace(block, operations=tuple(map(_exchanged, block.operations)))


def _exchanged(one: Operation) -> Operation:
    if one.inner:
        return replace(one, inner=tuple(map(_exchanged, one.inner)))
    if one.kind != "get" or len(one.sources) != len(one.targets):
        return one
    pairs = list(zip(one.sources, one.targets, strict=True))
    return replace(
        one,
        sources=tuple(replace(there, index=here.index) for there, here in pairs),
        targets=tuple(replace(here, index=there.index) for there, here in pairs),
    )


def surprises(plan: Plan) -> Iterator[str]:
    """Yield the operations that the kernel executes in another way than their names suggest."""
    for where, one in _each(plan):
        pairs = zip(one.sources, one.targets, strict=False)
        if one.kind == "get" and any(there.index != here.index for there, here in pairs):
            yield f"{where}: the kernel takes its two indices for each other, and so it is executed"
        if one.kind in _OF_PORTS and one.channel_type == "memory":
            yield f"{where}: over a memory channel the kernel only puts, and does not signal"
        if one.kind == "flush" and len(one.targets) < len(one.channels):
            yield (
                f"{where}: waits for {len(one.targets)} of its {len(one.channels)} channels, as "
                f"the kernel counts dst_buff; pwsf waits for what it puts"
            )


def refusals(plan: Plan) -> Iterator[str]:
    """Yield the reasons why a plan cannot be executed here; none if it can."""
    for where, one in _each(plan):
        reason = _refusal(one)
        if reason:
            yield f"{where}: {reason}"


def _each(plan: Plan) -> Iterator[tuple[str, Operation]]:
    for rank, gpu in enumerate(plan.gpus):
        for number, block in enumerate(gpu.threadblocks):
            for place, one in each_operation(block):
                yield f"{one.kind} of GPU {rank}, threadblock {number}, operation {place}", one


def _refusal(one: Operation) -> str:
    if one.kind == "ppkt" and one.channel_type == "port":
        return (
            "over a port channel the kernel sends packets from buffers of the first plan of the "
            "process; write cpkt and rppkt"
        )
    if one.loop is not None:
        return _loop_refusal(one)
    return ""


def _loop_refusal(one: Operation) -> str:
    # The k-th round of a span that is not of all chunks would reach beyond it.
    moving = [inner for inner in one.inner if inner.kind in _RULES]
    spans = [span for inner in moving for span in (*inner.sources, *inner.targets)]
    if any(inner.kind in ON_PACKETS for inner in moving):
        return "an operation in it is on packets, which do not advance with its rounds"
    if one.loop is not None and any(span.size != one.loop.chunks for span in spans):
        return f"an operation in it is not of all its {one.loop.chunks} chunks"
    if any(inner.parts > 1 for inner in one.inner):
        return "an operation in it is for a group of threadblocks"
    return ""


def check_operands(one: Operation) -> Iterator[str]:
    """Yield the errors of an operation's operands, in words."""
    if one.kind == "flush" and one.channel_type != "port":
        yield "it is for port channels"
    rule = _RULES.get(one.kind)
    if rule is None:
        return
    sides = (
        ("src_buff", one.sources, (rule.first_source, rule.sources), rule.most_sources, 0),
        ("dst_buff", one.targets, (rule.first_target, rule.targets), rule.most_targets, 1),
    )
    for name, spans, allowed, most, side in sides:
        least = 1 + side * rule.copies
        if not least <= len(spans) <= most:
            due = str(most) if most == least else f"at least {least}"
            yield f"it has {len(spans)} in {name}; it must have {due}"
        for place, span in enumerate(spans):
            places = _SCRATCH if side and 0 < place <= rule.copies else allowed[place > 0]
            if side and is_over_port(one):
                places = ("port",)
            if span.where not in places:
                yield f"{name}[{place}] is {_words(span)}; it must be {_due(places)}"
    if rule.paired and len(one.sources) != len(one.targets):
        yield f"it has {len(one.sources)} in src_buff and {len(one.targets)} in dst_buff"
    yield from _port_faults(one)
    sizes = {span.size for span in (*one.sources, *one.targets)}
    if len(sizes) > 1 and not rule.paired:
        yield "its spans are of several sizes"
    pairs = zip(one.sources, one.targets, strict=False)
    if rule.paired and any(source.size != target.size for source, target in pairs):
        yield "a source and its target are of two sizes"


def _port_faults(one: Operation) -> Iterator[str]:
    several = len({span.where for span in one.sources}) > 1
    if several and one.kind in ("put", "pws", "pwsf", "ppkt") and not is_over_port(one):
        yield "its sources are in several buffers; the kernel takes the first for all"
    if is_over_port(one) and len(one.channels) != len(one.targets):
        yield f"it names {len(one.channels)} channels for {len(one.targets)} in dst_buff"


def shifted_faults(one: Operation, buffers: tuple[str, ...]) -> Iterator[str]:
    """Yield the error of plain operations on others' scratch of two halves.

    Parameters
    ----------
    buffers : tuple of str
        The buffers of other GPUs that it reads or writes.
    """
    first_half = is_over_port(one) and any(span.where == "s" for span in one.sources)
    if one.kind in _PLAIN_REMOTE and first_half:
        yield "over a port channel it reads the first half of its scratch in every launch"
    if one.kind in _PLAIN_REMOTE and "s" in buffers:
        yield (
            "it reads or writes the first half of another GPU's scratch in every launch; with "
            "use_double_scratch_buffer, only operations on packets follow to the other half"
        )


def _words(span: Span) -> str:
    return {
        "remote": "a remote buffer",
        "port": "a remote buffer of port channels",
        "switch": "a switch channel",
    }.get(span.where, f"buffer {span.where}")


def _due(allowed: tuple[str, ...]) -> str:
    if allowed == _LOCAL:
        return "one of its own buffers"
    return "its own scratch" if allowed == _SCRATCH else _words(Span(allowed[0], 0, 1))
