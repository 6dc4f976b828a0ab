"""The formats that programs are exported in, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.export.goal import goal
from forestcoll.schedule.export.msccl import MscclOptions, to_msccl
from forestcoll.schedule.export.mscclpp import MscclppOptions, to_mscclpp
from forestcoll.schedule.msccl import Algorithm, written_algorithm
from forestcoll.schedule.mscclpp import Plan, written_plan
from forestcoll.schedule.program import Program
from forestcoll.topology.describe import counted

__all__ = ["FORMATS", "Exported", "Format", "export"]


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export comes to.

    Parameters
    ----------
    text : str
        Of the file.
    facts : mapping
        What there is to say of it.
    """

    text: str = field(repr=False)
    facts: Mapping[str, Any]


Relaxed = Iterator[tuple[str, Mapping[str, Any]]]
"""What may be changed, in words, and the options that come of it."""


def _nothing(program: Program, options: Mapping[str, Any]) -> Relaxed:
    return iter(())


@dataclass(frozen=True, slots=True)
class Format:
    """A format.

    Parameters
    ----------
    summary : str
        What it is, in a line.
    options : tuple of str
        By name, what may be said of an export.
    write : callable
        From a program and some of the options to what is exported.
    relaxed : callable
        From a program and options to others that need less of the runtime, from the next to the
        least.
    ending : str
        Of the names of its files.
    """

    summary: str
    options: tuple[str, ...]
    write: Callable[[Program, Mapping[str, Any]], Exported] = field(repr=False)
    relaxed: Callable[[Program, Mapping[str, Any]], Relaxed] = field(default=_nothing, repr=False)
    ending: str = ".json"


def _msccl(program: Program, options: Mapping[str, Any]) -> Exported:
    algorithm = to_msccl(program, MscclOptions(**options))
    return Exported(written_algorithm(algorithm), _facts(algorithm))


def _msccl_relaxed(program: Program, options: Mapping[str, Any]) -> Relaxed:
    """Leave the channels open, then take fewer instances, then leave copies away."""
    least = {option: value for option, value in options.items() if option != "channels"}
    if options.get("channels") is not None:
        yield "channels left open", dict(least)
    for instances in range(options.get("instances", 1) - 1, 0, -1):
        least["instances"] = instances
        yield counted(instances, "instance"), dict(least)
    if not options.get("in_place") and program.collective in ("allgather", "broadcast"):
        yield "calls in place only", {**least, "in_place": True}


def _mscclpp(program: Program, options: Mapping[str, Any]) -> Exported:
    plan = to_mscclpp(program, MscclppOptions(**options))
    facts = {**_plan_facts(plan), "channels_between_boxes": _between_boxes(plan, program)}
    return Exported(written_plan(plan), facts)


def _mscclpp_relaxed(program: Program, options: Mapping[str, Any]) -> Relaxed:
    """Take fewer instances."""
    for instances in range(options.get("instances", 1) - 1, 0, -1):
        yield counted(instances, "instance"), {**options, "instances": instances}


def _goal(program: Program, options: Mapping[str, Any]) -> Exported:
    asked: dict[str, Any] = {"size_bytes": 2**20, **options}
    facts = {**asked, "ranks": program.topology.num_compute, "transfers": program.num_transfers}
    return Exported(goal(program, **asked), facts)


def _facts(algorithm: Algorithm) -> dict[str, Any]:
    blocks = [block for gpu in algorithm.gpus for block in gpu.threadblocks]
    return {
        "protocol": algorithm.protocol,
        "chunks": algorithm.chunks_per_loop,
        "scratch_chunks": max(gpu.scratch_chunks for gpu in algorithm.gpus),
        "channels": algorithm.channels,
        "threadblocks": max(len(gpu.threadblocks) for gpu in algorithm.gpus),
        "steps": max(len(block.instructions) for block in blocks),
        "in_place": algorithm.in_place,
        "out_of_place": algorithm.out_of_place,
    }


def _plan_facts(plan: Plan) -> dict[str, Any]:
    blocks = [block for gpu in plan.gpus for block in gpu.threadblocks]
    first = plan.gpus[0]
    return {
        "protocol": plan.protocol,
        "chunks": max(first.input_chunks, first.output_chunks),
        "scratch_chunks": max(gpu.scratch_chunks for gpu in plan.gpus),
        "channels": max(len(gpu.memory_channels) for gpu in plan.gpus),
        "switch_channels": max(len(gpu.switch_channels) for gpu in plan.gpus),
        "threadblocks": max(len(gpu.threadblocks) for gpu in plan.gpus),
        "operations": max(len(block.operations) for block in blocks),
        "in_place": plan.in_place,
        "min_bytes": plan.min_bytes,
        "max_bytes": plan.max_bytes,
    }


def _between_boxes(plan: Plan, program: Program) -> int:
    """Count the memory channels from one box to another, which not all machines have."""
    topology = program.topology
    box = [topology.nodes[position].box for position in topology.compute]
    return sum(
        None not in (box[rank], box[peer]) and box[rank] != box[peer]
        for rank, gpu in enumerate(plan.gpus)
        for peer in gpu.memory_channels
    )


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "msccl": Format(
            "XML for the executor of MSCCL",
            ("protocol", "channels", "instances", "in_place", "min_bytes", "max_bytes"),
            _msccl,
            _msccl_relaxed,
            ".xml",
        ),
        "mscclpp": Format(
            "execution plans, JSON, for MSCCL++",
            ("threadblocks", "instances", "in_place", "min_bytes", "max_bytes"),
            _mscclpp,
            _mscclpp_relaxed,
        ),
        "goal": Format(
            "GOAL for the simulators LogGOPSim and ATLAHS",
            ("size_bytes", "gamma_s_per_gb"),
            _goal,
            ending=".goal",
        ),
    }
)
"""By name."""


def export(program: Program, name: str, options: Mapping[str, Any] | None = None) -> Exported:
    """Write a program in a format.

    Parameters
    ----------
    program : Program
        Of a schedule that is right.
    name : str
        One of :data:`FORMATS`.
    options : mapping, optional
        Of that format.

    Raises
    ------
    InvalidParameterError
        If there is no such format, or it has no such option.
    RuntimeLimitError
        If it needs more of something than the runtime has.
    UnsupportedError, ExportError
        If the program cannot be written in it.
    """
    options = options or {}
    if name not in FORMATS:
        raise InvalidParameterError(
            f"there is no format {name!r}; formats are {', '.join(FORMATS)}"
        )
    unknown = [option for option in options if option not in FORMATS[name].options]
    if unknown:
        raise InvalidParameterError(
            f"{name} has no option {', '.join(unknown)}; it has {', '.join(FORMATS[name].options)}"
        )
    return FORMATS[name].write(program, options)
