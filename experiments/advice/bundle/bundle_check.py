"""Check that a bundle is complete and that each of its files is correct.

Files get copied, edited and lost, and a runtime loads any file without a check. Each file is read
back and executed on the CPU.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from experiments.advice.bundle.bundle_index import (
    INDEX,
    MOST_FILE_BYTES,
    Bundle,
    BundledRange,
    read_bundle,
)
from experiments.advice.bundle.size_ranges import faults_of
from forestcoll.bounded_read import read_at_most
from forestcoll.errors import ForestCollError, InvalidScheduleError
from forestcoll.runtimes.formats import FORMATS
from forestcoll.runtimes.msccl import Algorithm, parse_algorithm
from forestcoll.runtimes.msccl.interpreter import interpret
from forestcoll.runtimes.mscclpp import parse_plan
from forestcoll.runtimes.mscclpp.interpreter import interpret_calls

__all__ = ["READERS", "RuntimeFile", "faults_in"]

Tick = Callable[[int, int], None]


def faults_in(
    folder: Path, *, execute: bool = True, tick: Tick = lambda done, total: None
) -> Iterator[str]:
    """Yield the faults of a bundle.

    Parameters
    ----------
    execute : bool
        Whether to also execute the files.
    tick : callable
        Called with the number of checked files, and of all files.

    Raises
    ------
    InvalidScheduleError
        If there is no index of a bundle.
    """
    bundle = read_bundle(folder)
    sizes = [(one.first_bytes, one.last_bytes) for one in bundle.ranges]
    yield from faults_of(sizes, bundle.first_bytes, bundle.last_bytes)
    if bundle.runtime not in FORMATS:
        yield f"its files are for {bundle.runtime!r}, which is none of {', '.join(FORMATS)}"
        return
    yield from _strangers(folder, bundle)
    for place, one in enumerate(bundle.ranges):
        tick(place, len(bundle.ranges))
        if one.file is not None:
            yield from _file_faults(folder, bundle, one, execute)


def _strangers(folder: Path, bundle: Bundle) -> Iterator[str]:
    """Yield files that the index does not name: a runtime would read them too."""
    named = {one.file for one in bundle.ranges} | {INDEX}
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        name = path.relative_to(folder).as_posix()
        if name not in named:
            yield f"{name} is in no range; the runtime reads all files in its folder"


def _file_faults(folder: Path, bundle: Bundle, one: BundledRange, execute: bool) -> Iterator[str]:
    assert one.file is not None  # an open range has nothing to check
    try:
        data = read_at_most(folder / one.file, MOST_FILE_BYTES, InvalidScheduleError)
    except InvalidScheduleError as error:
        yield f"{one.file} {str(error).removeprefix(f'{folder / one.file}: ')}"
        return
    if hashlib.sha256(data).hexdigest() != one.sha256:
        yield f"{one.file} is not the file that was written: its sha256 differs"
    if bundle.runtime not in READERS:
        return
    try:
        read = READERS[bundle.runtime](data.decode("utf-8"), bundle.root, execute)
    except (ForestCollError, UnicodeDecodeError) as error:
        yield f"{one.file} cannot be read: {error}"
        return
    yield from _unlike(bundle, one, read)
    if read.wrong:
        yield f"{one.file} is wrong: {read.wrong}"


def _unlike(bundle: Bundle, one: BundledRange, read: RuntimeFile) -> Iterator[str]:
    """Yield differences between a file and the index."""
    compared = {
        "collective": (read.collective.replace("-", ""), bundle.collective.replace("-", "")),
        "GPUs": (read.gpus, bundle.gpus),
        "name": (read.name, one.name),
        "protocol": (read.protocol, one.protocol),
        "chunks": (read.chunks, one.chunks),
    }
    if one.sizes_in_file:
        compared["least size"] = (read.min_bytes, one.first_bytes)
        compared["largest size"] = (read.max_bytes, one.last_bytes)
    for what, (found, expected) in compared.items():
        if found != expected:
            yield f"{one.file}: its {what} is {found}, and {expected} in the index"


@dataclass(frozen=True, slots=True)
class RuntimeFile:
    """The contents of a runtime file, and the result of its execution."""

    name: str
    collective: str  # as the runtime spells it
    gpus: int
    protocol: str
    # A runtime takes a call only if its elements are a multiple of these; MSCCL++ counts bytes, so
    # that is enough whatever the elements are
    chunks: int
    min_bytes: int  # both included; 0 is no limit
    max_bytes: int  # both included; 0 is no limit
    executed: tuple[str, ...] = ()  # how it was executed; empty if not requested
    wrong: str = ""  # the first fault; empty if there is none


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
