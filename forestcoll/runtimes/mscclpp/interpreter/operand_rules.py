"""Operand rules of MSCCL++ operations, and the operations that the interpreter refuses.

Problem: the loader checks almost nothing, and the kernel's behaviour is unclear for some
         operations.
Input:   the operations of a plan.
Output:  operations that cannot be executed here, with the reason; invalid operands.
Cost:    one pass.
Source:  the kernel of MSCCL++ (microsoft/mscclpp, after v0.10).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from forestcoll.runtimes.mscclpp.execution_plan import Operation, Plan, PlanThreadblock, Span

__all__ = ["check_operands", "each_operation", "refusals"]

_LOCAL = ("i", "o", "s")
_REMOTE, _SWITCH = ("remote",), ("switch",)
_MANY = 10**9


@dataclass(frozen=True, slots=True)
class _Rule:
    """Places allowed for the first and for further operands of a side, and their number."""

    first_source: tuple[str, ...]
    sources: tuple[str, ...]
    first_target: tuple[str, ...]
    targets: tuple[str, ...]
    most_sources: int = _MANY
    most_targets: int = _MANY
    paired: bool = False


_RULES: Mapping[str, _Rule] = {
    "copy": _Rule(_LOCAL, _LOCAL, _LOCAL, _LOCAL, 1, 1),
    "put": _Rule(_LOCAL, _LOCAL, _REMOTE, _REMOTE, paired=True),
    "get": _Rule(_REMOTE, _REMOTE, _LOCAL, _LOCAL, paired=True),
    "re": _Rule(_LOCAL, _LOCAL, _LOCAL, _LOCAL, most_targets=1),
    "res": _Rule(_LOCAL, _LOCAL, _LOCAL, _REMOTE),
    "rre": _Rule(_LOCAL, _REMOTE, _LOCAL, _LOCAL, most_targets=1),
    "rres": _Rule(_LOCAL, _REMOTE, _LOCAL, _REMOTE),
    "gstore": _Rule(_LOCAL, _LOCAL, _SWITCH, _SWITCH, 1, 1),
    "glres": _Rule(_SWITCH, _SWITCH, _SWITCH, _SWITCH, 1, 1),
}
_PACKETS = ("cpkt", "upkt", "ppkt", "rppkt", "repkt", "respkt", "recpkt", "recspkt", "gstorepkt")


def each_operation(block: PlanThreadblock) -> Iterator[tuple[str, Operation]]:
    """Yield the operations of a threadblock with their places, including those of pipelines."""
    for place, one in enumerate(block.operations):
        yield str(place), one
        for inner_place, inner in enumerate(one.inner):
            yield f"{place}.{inner_place}", inner


def refusals(plan: Plan) -> Iterator[str]:
    """Yield the reasons why a plan cannot be executed here; none if it can."""
    if plan.double_scratch:
        yield "use_double_scratch_buffer: only operations on packets shift to its other half"
    for rank, gpu in enumerate(plan.gpus):
        for number, block in enumerate(gpu.threadblocks):
            for place, one in each_operation(block):
                reason = _refusal(one)
                if reason:
                    where = f"{one.kind} of GPU {rank}, threadblock {number}, operation {place}"
                    yield f"{where}: {reason}"


def _refusal(one: Operation) -> str:
    if one.kind in _PACKETS:
        return "packets are not modelled, of which readers wait for flags in the data"
    if one.channel_type == "port":
        return "port channels are not modelled, which move data after the operation is over"
    if one.kind in ("flush", "pws", "pwsf"):
        return "it is for port channels"
    if one.kind == "get" and any(
        there.index != here.index for there, here in zip(one.sources, one.targets, strict=False)
    ):
        return "the kernel takes its two indices for each other; let them be equal"
    if one.loop is not None:
        return _loop_refusal(one)
    return ""


def _loop_refusal(one: Operation) -> str:
    spans = [span for inner in one.inner for span in (*inner.sources, *inner.targets)]
    if one.loop is not None and any(span.size != one.loop.chunks for span in spans):
        return f"an operation in it is not of all its {one.loop.chunks} chunks"
    if any(inner.parts > 1 for inner in one.inner):
        return "an operation in it is for a group of threadblocks"
    return ""


def check_operands(one: Operation) -> Iterator[str]:
    """Yield the errors of an operation's operands, in words."""
    rule = _RULES.get(one.kind)
    if rule is None:
        return
    sides = (
        ("src_buff", one.sources, (rule.first_source, rule.sources), rule.most_sources),
        ("dst_buff", one.targets, (rule.first_target, rule.targets), rule.most_targets),
    )
    for name, spans, allowed, most in sides:
        if not 1 <= len(spans) <= most:
            due = "1" if most == 1 else "at least 1"
            yield f"it has {len(spans)} in {name}; it must have {due}"
        for place, span in enumerate(spans):
            if span.where not in allowed[place > 0]:
                yield f"{name}[{place}] is {_words(span)}; it must be {_due(allowed[place > 0])}"
    if rule.paired and len(one.sources) != len(one.targets):
        yield f"it has {len(one.sources)} in src_buff and {len(one.targets)} in dst_buff"
    if one.kind == "put" and len({span.where for span in one.sources}) > 1:
        yield "its sources are in several buffers; the kernel takes the first for all"
    sizes = {span.size for span in (*one.sources, *one.targets)}
    if len(sizes) > 1 and not rule.paired:
        yield "its spans are of several sizes"
    pairs = zip(one.sources, one.targets, strict=False)
    if rule.paired and any(source.size != target.size for source, target in pairs):
        yield "a source and its target are of two sizes"


def _words(span: Span) -> str:
    return {"remote": "a remote buffer", "switch": "a switch channel"}.get(
        span.where, f"buffer {span.where}"
    )


def _due(allowed: tuple[str, ...]) -> str:
    return "one of its own buffers" if allowed == _LOCAL else _words(Span(allowed[0], 0, 1))
