"""Files of runtimes, read back and executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from forestcoll.schedule.interpret import interpret
from forestcoll.schedule.msccl import Algorithm, parse_algorithm

__all__ = ["READERS", "RuntimeFile"]


@dataclass(frozen=True, slots=True)
class RuntimeFile:
    """What a file says of itself, and whether it does that.

    Parameters
    ----------
    name : str
    collective : str
        As the runtime spells it.
    gpus : int
    protocol : str
    chunks : int
        A runtime takes a call only if its elements are a multiple of these.
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


READERS: Mapping[str, Callable[[str, int | None, bool], RuntimeFile]] = MappingProxyType(
    {"msccl": _msccl}
)
"""By format: from the text of a file, the root of a broadcast or reduce, and whether to execute it.

Files of a format without a reader are written as the export makes them, and not executed."""
