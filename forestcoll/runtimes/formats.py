"""Table of export formats (runtimes, simulators, Python modules) and their options, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from forestcoll.errors import InvalidParameterError, did_you_mean
from forestcoll.runtimes.between_gpus import between_gpus
from forestcoll.runtimes.msccl import Algorithm, written_algorithm
from forestcoll.runtimes.msccl.exporter import MscclOptions, to_msccl
from forestcoll.runtimes.mscclpp import Plan, written_plan
from forestcoll.runtimes.mscclpp.exporter import MscclppOptions, to_mscclpp
from forestcoll.runtimes.python_modules.python_module import (
    Nccl4pyOptions,
    TorchOptions,
    python_module,
)
from forestcoll.runtimes.simulators.astra_sim_run import MEMORY, network_files, system_file
from forestcoll.runtimes.simulators.chakra_trace import (
    ChakraOptions,
    chakra_traces,
    chakra_workload,
)
from forestcoll.runtimes.simulators.goal import GoalOptions, goal
from forestcoll.runtimes.simulators.goal_network import htsim_topology, loggp_arguments
from forestcoll.runtimes.simulators.hidden_limits import slower_than_ports
from forestcoll.schedule.program import Program
from forestcoll.topology.describe import counted

__all__ = [
    "FORMATS", "ExportOptions", "Exported", "Format", "asked_of", "export", "format_of",
    "options_of",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Parameters
    ----------
    text : str
        The content of the file.
    facts : mapping
        Figures to report about it.
    beside : mapping of str to str or bytes
        Contents of further files, by the endings that take the place of the file's own.
    """

    text: str = field(repr=False)
    facts: Mapping[str, Any]
    beside: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)


ExportOptions = (
    MscclOptions | MscclppOptions | GoalOptions | ChakraOptions | Nccl4pyOptions | TorchOptions
)
"""How a program is to be exported; the type says in which format."""

O = TypeVar(  # noqa: E741
    "O", MscclOptions, MscclppOptions, GoalOptions, ChakraOptions, Nccl4pyOptions, TorchOptions
)


def _nothing(program: Program, options: O) -> Iterator[tuple[str, O]]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Format(Generic[O]):
    """An export format.

    Parameters
    ----------
    summary : str
        A description in one line.
    options : type
        The class of its options.
    write : callable
        Takes a program and options; returns the export.
    relaxed : callable
        Takes a program and options; returns options that need less of the runtime, in descending
        order of need. Each comes with a description of the change.
    ending : str
        The extension of its files.
    """

    summary: str
    options: type[O]
    write: Callable[[Program, O], Exported] = field(repr=False)
    relaxed: Callable[[Program, O], Iterator[tuple[str, O]]] = field(default=_nothing, repr=False)
    ending: str = ".json"

    @property
    def option_names(self) -> tuple[str, ...]:
        """The names of the options."""
        return tuple(one.name for one in fields(self.options))


def _msccl(program: Program, options: MscclOptions) -> Exported:
    algorithm = to_msccl(program, options)
    return Exported(written_algorithm(algorithm), _facts(algorithm))


def _msccl_relaxed(program: Program, options: MscclOptions) -> Iterator[tuple[str, MscclOptions]]:
    """Leave the number of channels open, then use fewer instances, then omit copies."""
    least = replace(options, channels=None)
    if options.channels is not None:
        yield "channels left open", least
    for instances in range(options.instances - 1, 0, -1):
        least = replace(least, instances=instances)
        yield counted(instances, "instance"), least
    if not options.in_place and program.collective in ("allgather", "broadcast"):
        yield "calls in place only", replace(least, in_place=True)


def _mscclpp(program: Program, options: MscclppOptions) -> Exported:
    plan = to_mscclpp(program, options)
    facts = {**_plan_facts(plan), "channels_between_boxes": _between_boxes(plan, program)}
    return Exported(written_plan(plan), facts)


def _mscclpp_relaxed(
    program: Program, options: MscclppOptions
) -> Iterator[tuple[str, MscclppOptions]]:
    for instances in range(options.instances - 1, 0, -1):
        yield counted(instances, "instance"), replace(options, instances=instances)


def _goal(program: Program, options: GoalOptions) -> Exported:
    text = goal(program, options)
    if options.holds_ports:
        beside = {".loggp": loggp_arguments(program, options)}
    else:
        beside = {".topo": htsim_topology(program, options)}
    facts = {**_simulated(program, options), "simulator": str(options.simulator)}
    return Exported(text, {**facts, "hidden_limits": _hidden(program)}, beside)


def _chakra(program: Program, options: ChakraOptions) -> Exported:
    network = network_files(program, options)
    beside: dict[str, str | bytes] = {**network, ".memory.json": MEMORY}
    for rank, trace in enumerate(chakra_traces(program, options)):
        beside[f".{rank}.et"] = trace
        beside[f".workload.{rank}.et"] = chakra_workload(program, options)
    facts = {
        **_simulated(program, options),
        "network": "analytical" if ".network.yml" in network else "ns-3",
        "files": 1 + len(beside),
    }
    return Exported(system_file(program, options), facts, beside)


def _simulated(program: Program, options: GoalOptions | ChakraOptions) -> dict[str, Any]:
    gamma = options.gamma_s_per_gb
    return {
        "size_bytes": options.size_bytes,
        "alpha_us": options.alpha_us,
        **({"gamma_s_per_gb": gamma} if gamma else {}),
        "ranks": program.topology.num_compute,
        "transfers": program.num_transfers,
        "pipeline_chunks": options.pipeline_chunks,
    }


def _hidden(program: Program) -> list[str] | None:
    """Return what limits the schedule more than its ports, in words."""
    found = slower_than_ports(between_gpus(program))
    return [f"{name}: {float(ratio):.3g} times the busiest port" for name, ratio in found] or None


def _module(program: Program, options: Nccl4pyOptions | TorchOptions) -> Exported:
    written = python_module(program, options)
    facts = {
        "ranks": program.topology.num_compute,
        "transfers": written.transfers,
        "steps": written.steps,
        "messages_at_once": written.messages,
    }
    return Exported(written.text, facts)


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
        "port_channels": max(len(gpu.port_channels) for gpu in plan.gpus),
        "switch_channels": max(len(gpu.switch_channels) for gpu in plan.gpus),
        "threadblocks": max(len(gpu.threadblocks) for gpu in plan.gpus),
        "operations": max(len(block.operations) for block in blocks),
        "in_place": plan.in_place,
        "min_bytes": plan.min_bytes,
        "max_bytes": plan.max_bytes,
        "least_bytes": max(first.input_chunks, first.output_chunks) * plan.buffer_alignment,
    }


def _between_boxes(plan: Plan, program: Program) -> int:
    """Count the memory channels between boxes, which only some machines support."""
    topology = program.topology
    box = [topology.nodes[position].box for position in topology.compute]
    return sum(
        None not in (box[rank], box[peer]) and box[rank] != box[peer]
        for rank, gpu in enumerate(plan.gpus)
        for peer in gpu.memory_channels
    )


FORMATS: Mapping[str, Format[Any]] = MappingProxyType(
    {
        "msccl": Format(
            "XML for the executor of MSCCL", MscclOptions, _msccl, _msccl_relaxed, ".xml"
        ),
        "mscclpp": Format(
            "execution plans, JSON, for MSCCL++", MscclppOptions, _mscclpp, _mscclpp_relaxed
        ),
        "goal": Format(
            "GOAL for the simulators LogGOPSim and htsim of ATLAHS, with the network",
            GoalOptions,
            _goal,
            ending=".goal",
        ),
        "chakra": Format(
            "Chakra traces for ASTRA-sim, with its system and network",
            ChakraOptions,
            _chakra,
        ),
        "nccl4py": Format(
            "Python modules with grouped sends and receives, for NCCL's Python bindings",
            Nccl4pyOptions,
            _module,
            ending=".py",
        ),
        "torch": Format("the same for torch.distributed", TorchOptions, _module, ending=".py"),
    }
)
"""By name."""


def options_of(name: str, given: Mapping[str, Any]) -> ExportOptions:
    """Return the options of a format; a value of None counts as not given.

    Raises InvalidParameterError if the format is unknown, has no such option, or does not allow the
    value.

    Parameters
    ----------
    name : str
        One of :data:`FORMATS`.
    given : mapping
        Values by name, as a command or a file states them.

    Examples
    --------
    >>> options_of("goal", {"size_bytes": 64, "gamma_s_per_gb": None}) == GoalOptions(64)
    True
    """
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS, f"formats are {', '.join(FORMATS)}")
        raise InvalidParameterError(f"there is no format {name!r}; {hint}")
    known, options_given = (
        FORMATS[name].option_names,
        {k: v for k, v in given.items() if v is not None},
    )
    if unknown := [option for option in options_given if option not in known]:
        raise InvalidParameterError(
            f"{name} has no option {', '.join(unknown)}; it has {', '.join(known) or 'none'}"
        )
    options: ExportOptions = FORMATS[name].options(**options_given)
    return options


def format_of(options: ExportOptions) -> str:
    """Return the name of the format to which options belong.

    Raises InvalidParameterError if the argument is anything else, such as the name of a format.
    """
    for name, one in FORMATS.items():
        if isinstance(options, one.options):
            return name
    known = ", ".join(one.options.__name__ for one in FORMATS.values())
    raise InvalidParameterError(f"{options!r} is not options of a format; give one of {known}")


def asked_of(options: ExportOptions) -> dict[str, Any]:
    """Return the options that differ from their defaults, by name.

    Examples
    --------
    >>> asked_of(MscclOptions(protocol="LL", instances=1))
    {'protocol': 'LL'}
    """
    usual = type(options)()
    values = {one.name: getattr(options, one.name) for one in fields(options)}
    return {name: value for name, value in values.items() if value != getattr(usual, name)}


def export(program: Program, options: ExportOptions) -> Exported:
    """Write a program in the format of the options.

    Parameters
    ----------
    program : Program
        Of a correct schedule.

    Raises
    ------
    RuntimeLimitError
        If the program exceeds a limit of the runtime.
    UnsupportedError, ExportError
        If the format cannot express the program.
    """
    return FORMATS[format_of(options)].write(program, options)
