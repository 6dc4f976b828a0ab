"""Readers of runtime files, which execute what they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from forestcoll.runtimes.msccl import Algorithm, parse_algorithm
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.runtimes.mscclpp import parse_plan
from forestcoll.runtimes.mscclpp.interpreter import interpret_calls

__all__ = ["READERS", "RuntimeFile"]


@dataclass(frozen=True, slots=True)
class RuntimeFile:
    """What a file says of itself, and whether it does that.

    Parameters
    ----------
    collective : str
        As the runtime spells it.
    chunks : int
        A runtime takes a call only if its elements are a multiple of these; MSCCL++ counts bytes,
        so that is enough whatever the elements are.
    min_bytes, max_bytes : int
        Both included; 0 is no limit.
    executed : tuple of str
        How it was executed; empty if it was not to be.
    wrong : str
        The first thing that is wrong with it; empty if nothing is.
    """

    name: str
    collective: str
    gpus: int
    protocol: str
    chunks: int
    min_bytes: int
    max_bytes: int
    executed: tuple[str, ...] = ()
    wrong: str = ""


def _msccl(text: str, root: int | None, execute: bool) -> RuntimeFile:
    algorithm = parse_algorithm(text).algorithm
    if not execute:
        return _of_msccl(algorithm, (), "")
    found = interpret(algorithm, root=root)
    wrong = [one.message for one in found.findings if one.is_wrong]
    return _of_msccl(algorithm, found.runs, wrong[0] if wrong else "")


def _of_msccl(algorithm: Algorithm, executed: tuple[str, ...], wrong: str) -> RuntimeFile:
    return RuntimeFile(
        name=algorithm.name,
        collective=algorithm.collective,
        gpus=len(algorithm.gpus),
        protocol=algorithm.protocol,
        chunks=algorithm.chunks_per_loop,
        min_bytes=algorithm.min_bytes,
        max_bytes=algorithm.max_bytes,
        executed=executed,
        wrong=wrong,
    )


def _mscclpp(text: str, root: int | None, execute: bool) -> RuntimeFile:
    plan = parse_plan(text).plan
    found = list(interpret_calls(plan, root=root)) if execute else []
    wrong = [one.message for each in found for one in each.findings if one.is_wrong]
    first = plan.gpus[0]
    return RuntimeFile(
        name=plan.name,
        collective=plan.collective,
        gpus=len(plan.gpus),
        protocol=plan.protocol,
        chunks=plan.buffer_alignment * max(first.input_chunks, first.output_chunks),
        min_bytes=plan.min_bytes,
        max_bytes=plan.max_bytes,
        executed=tuple(run for each in found for run in each.runs),
        wrong=wrong[0] if wrong else "",
    )


READERS: Mapping[str, Callable[[str, int | None, bool], RuntimeFile]] = MappingProxyType(
    {"msccl": _msccl, "mscclpp": _mscclpp}
)
"""By format: from the text of a file, the root of a broadcast or reduce, and whether to execute it.

Files of a format without a reader are written as the export makes them, and not executed."""
