"""``forestcoll score``: measure a file of MSCCL, MSCCL++ or another tool on a network."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.demands import (
    ALL_TO_ALL_SECONDS,
    AllToAllSeconds,
    DemandText,
    RoundUp,
    stated_demand,
)
from forestcoll.cli.facts import share_facts
from forestcoll.cli.options import Group, Idle, Json, idle_fact, in_group, rate_of
from forestcoll.cli.output import SCHEDULES, expect_writable, report
from forestcoll.cli.runtime_files.checking import RootRank
from forestcoll.errors import InvalidParameterError, VerificationError
from forestcoll.problem.demand import Demand
from forestcoll.runtimes.msccl import read_leniently
from forestcoll.runtimes.mscclpp import Plan, read_plan
from forestcoll.runtimes.mscclpp.reading import is_plan
from forestcoll.runtimes.scoring.file_bounds import Measurement
from forestcoll.runtimes.scoring.file_score import FileScore, score
from forestcoll.runtimes.scoring.other_tools.tool_files import is_json, read_tool_file
from forestcoll.runtimes.scoring.other_tools.tool_score import ToolScore, score_transfers
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolTransfers
from forestcoll.runtimes.scoring.sent_data import RuntimeFile
from forestcoll.runtimes.scoring.threadblock_rates import (
    NO_MACHINE,
    THREADBLOCK_RATES,
    MachineRate,
    machine_of,
    machine_rate,
)
from forestcoll.schedule import write_schedule
from forestcoll.topology import Topology, load_topology, members_from_text

__all__ = ["score_file"]

_SHOWN = 5
_LETTERS = 400
_MODEL = "transfers as in the file, over paths of fewest links through switches, shared evenly"
_MACHINES = "|".join((*THREADBLOCK_RATES, NO_MACHINE))
_UNCOUNTED = f"take no time; --machine {'|'.join(THREADBLOCK_RATES)} counts what one carries"


def score_file(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="XML of MSCCL; JSON of MSCCL++, TE-CCL, TACCL or SCCL."
        ),
    ],
    network: Annotated[
        str, typer.Option("--topology", metavar="TOPOLOGY", help="The network of the file.")
    ],
    root: RootRank = None,
    members: Group = None,
    idle: Idle = None,
    gpus: Annotated[
        str | None,
        typer.Option(
            "--gpus", help="The GPU of each of the file's ranks, in order: names, or BOXES/INDICES."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write a JSON file's transfers as a schedule."
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            metavar=_MACHINES,
            help="Whose threadblocks run the file; by default, that of the topology's family.",
        ),
    ] = None,
    threadblock_rate: Annotated[
        str | None,
        typer.Option(
            "--threadblock-rate",
            metavar="GB/S",
            help="What a threadblock carries with Simple or LL128, instead of the machine's rate.",
        ),
    ] = None,
    demand: DemandText = None,
    round_up: RoundUp = None,
    time_limit: AllToAllSeconds = ALL_TO_ALL_SECONDS,
    json_: Json = False,
) -> None:
    """Verify a file of another tool, and compare its rate with the optimum of a network."""
    topology = in_group(load_topology(network), members, idle)
    order = _order(topology, gpus)
    plan = is_json(file) and is_plan(file)
    if is_json(file) and not plan:
        if demand is not None or round_up is not None:
            raise InvalidParameterError(
                "--demand is for files of MSCCL and MSCCL++, whose slots are equal; files of other "
                "tools state what they carry"
            )
        if machine is not None or threadblock_rate is not None:
            raise InvalidParameterError(
                "--machine and --threadblock-rate are for files of MSCCL and MSCCL++; files of "
                "other tools have no threadblocks"
            )
        facts = _of_json(file, topology, root, order, output)
    else:
        if output is not None:
            raise InvalidParameterError(
                "--output is for JSON of other tools; what runtimes do is not written as ours"
            )
        stated = stated_demand(topology, demand, round_up)
        read = read_plan(file).plan if plan else read_leniently(file).algorithm
        chosen_rate = _machine(topology, machine, threadblock_rate)
        facts = _of_runtime(read, topology, root, order, stated, time_limit, chosen_rate)
        if "machine" in facts:
            facts["machine"]["chosen_by"] = "the topology" if machine is None else "--machine"
    chosen = idle_fact(members, idle)
    report({"file": file, "topology": topology.name, **chosen, **facts}, json_)
    if not facts["right"]:
        raise typer.Exit(1)


def _order(topology: Topology, text: str | None) -> list[int] | None:
    """Return the rank of each named GPU; the text must name all of them."""
    if text is None:
        return None
    names = members_from_text(topology, text)
    known = {topology.nodes[node].name: rank for rank, node in enumerate(topology.compute)}
    if sorted(names) != sorted(known):
        raise InvalidParameterError(
            f"--gpus names {len(names)} GPUs, which must be the {len(known)} of {topology.name}, "
            f"each once"
        )
    return [known[name] for name in names]


def _machine(topology: Topology, name: str | None, rate: str | None) -> MachineRate | None:
    """Return the machine that is named, or else that of the topology, with the given rate."""
    found = machine_of(topology) if name is None else machine_rate(name)
    gb_s = rate_of("--threadblock-rate", rate)
    if gb_s is None:
        return found
    if found is None:
        raise InvalidParameterError(
            f"--threadblock-rate needs a machine; add --machine {'|'.join(THREADBLOCK_RATES)}"
        )
    measured = replace(found.simple, value=gb_s, source="--threadblock-rate")
    return replace(found, simple=measured)


# --- files of MSCCL and MSCCL++ ------------------------------------------------------------------


def _of_runtime(
    file: RuntimeFile,
    topology: Topology,
    root: int | None,
    order: list[int] | None,
    demand: Demand | None,
    seconds: float,
    machine: MachineRate | None,
) -> dict[str, Any]:
    found = score(
        file, topology, root=root, order=order, demand=demand, seconds=seconds, machine=machine
    )
    facts = _facts(file, found)
    if demand is None:
        return facts
    rate = found.algbw_gb_s
    time_us = None if not rate else demand.bytes / rate / 1000
    return {"demand": demand.name, "bytes": demand.bytes, **facts, "time_us": time_us}


def _facts(file: RuntimeFile, found: FileScore) -> dict[str, Any]:
    wrong = [one for one in found.findings.findings if one.is_wrong]
    check = "check-plan" if isinstance(file, Plan) else "check-xml"
    return {
        "name": file.name,
        "collective": file.collective,
        "right": found.findings.is_right,
        "wrong": [f"{one.kind}: {one.message[:_LETTERS]}" for one in wrong[:_SHOWN]] or None,
        "more_wrong": f"see {check}" if wrong[_SHOWN:] else None,
        **_measured(found.measurement, found.algbw_gb_s, _threadblocks(found)),
    }


def _threadblocks(found: FileScore) -> dict[str, Any]:
    """Return the limit by threadblocks, or that they have none."""
    one = found.threadblock
    if one is None:
        return {"threadblocks": _UNCOUNTED}
    assert found.measurement is not None
    return {
        "by_links_gb_s": found.measurement.algbw_gb_s,
        "by_threadblocks_gb_s": one.algbw_gb_s,
        "busiest_threadblock": {
            "gpu": one.gpu,
            "threadblock": one.threadblock,
            "share_of_data": one.share,
        },
        "machine": {
            "name": one.machine.machine,
            "threadblock_gb_s": one.gb_s,
            "rate_by": one.machine.simple.source,
        },
    }


# --- JSON of baselines ---------------------------------------------------------------------------


def _of_json(
    file: Path, topology: Topology, root: int | None, order: list[int] | None, output: Path | None
) -> dict[str, Any]:
    if root is not None:
        raise InvalidParameterError(
            "--root is for files of MSCCL and MSCCL++; in others the chunks say where they start"
        )
    if output is not None:
        expect_writable(output, SCHEDULES)
    try:
        transfers = read_tool_file(file)
    except VerificationError as failure:
        return {"right": False, "wrong": [str(failure)[:_LETTERS]]}
    found = score_transfers(transfers, topology, order)
    if output is not None and found.measurement is not None:
        write_schedule(found.schedule, output)
    measurement = found.measurement
    rate = None if measurement is None else measurement.algbw_gb_s
    return {**_about(transfers, found), **_measured(measurement, rate, {})}


def _about(transfers: ToolTransfers, found: ToolScore) -> dict[str, Any]:
    return {
        "written_by": transfers.tool,
        "collective": transfers.collective,
        "chunks": len(transfers.chunks),
        "transfers": len(transfers.sends),
        "steps": found.schedule.num_steps,
        "right": found.wrong is None,
        "wrong": None if found.wrong is None else [found.wrong[:_LETTERS]],
    }


# --- for both formats ----------------------------------------------------------------------------


def _measured(
    found: Measurement | None, rate: Fraction | None, limits: dict[str, Any]
) -> dict[str, Any]:
    """Return a rate as a share of the optimum where that is known, else of a bound."""
    if found is None:
        return {}
    bound = found.bound
    return {
        "algbw_gb_s": rate,
        "busiest_link": found.busiest_link,
        **limits,
        "at_most_gb_s": None if bound is None else bound.algbw_gb_s,
        "at_most_by": None if bound is None else bound.by,
        "at_most_for": None if bound is None else bound.model,
        **share_facts(bound, rate),
        "model": _MODEL,
    }
