"""``forestcoll score``: measure a file of MSCCL, MSCCL++ or another tool on a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.demands import AllToAllSeconds, DemandText, RoundUp, stated_demand
from forestcoll.cli.options import Group, Idle, Json, idle_fact, in_group
from forestcoll.cli.output import SCHEDULES, expect_writable, report
from forestcoll.cli.runtime_files.checking import RootRank
from forestcoll.errors import InvalidParameterError, VerificationError
from forestcoll.problem.demand import Demand
from forestcoll.runtimes.msccl import read_leniently
from forestcoll.runtimes.mscclpp import Plan, read_plan
from forestcoll.runtimes.mscclpp.reading import is_plan
from forestcoll.runtimes.scoring.file_bounds import Measurement
from forestcoll.runtimes.scoring.file_score import FileScore, PeerScore, score, score_transfers
from forestcoll.runtimes.scoring.other_tools.tool_files import is_json, read_tool_file
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolTransfers
from forestcoll.runtimes.scoring.sent_data import RuntimeFile
from forestcoll.schedule import write_schedule
from forestcoll.topology import Topology, load_topology, members_from_text

__all__ = ["score_file"]

_SHOWN = 5
_LETTERS = 400
_MODEL = "transfers as in the file, over paths of fewest links through switches, shared evenly"


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
    demand: DemandText = None,
    round_up: RoundUp = None,
    time_limit: AllToAllSeconds = 60.0,
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
        facts = _of_json(file, topology, root, order, output)
    else:
        if output is not None:
            raise InvalidParameterError(
                "--output is for JSON of other tools; what runtimes do is not written as ours"
            )
        stated = stated_demand(topology, demand, round_up)
        read = read_plan(file).plan if plan else read_leniently(file).algorithm
        facts = _of_runtime(read, topology, root, order, stated, time_limit)
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


# --- files of MSCCL and MSCCL++ ------------------------------------------------------------------


def _of_runtime(
    file: RuntimeFile,
    topology: Topology,
    root: int | None,
    order: list[int] | None,
    demand: Demand | None,
    seconds: float,
) -> dict[str, Any]:
    found = score(file, topology, root=root, order=order, demand=demand, seconds=seconds)
    facts = _facts(file, found)
    if demand is None:
        return facts
    rate = None if found.measurement is None else found.measurement.algbw_gb_s
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
        **_measured(found.measurement),
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
    return {**_about(transfers, found), **_measured(found.measurement)}


def _about(transfers: ToolTransfers, found: PeerScore) -> dict[str, Any]:
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


def _measured(found: Measurement | None) -> dict[str, Any]:
    """Return the measured rate as a share of the optimum where that is known, else of a bound."""
    if found is None:
        return {}
    bound = found.bound
    optimal = bound is not None and bound.optimal
    return {
        "algbw_gb_s": found.algbw_gb_s,
        "busiest_link": found.busiest_link,
        "at_most_gb_s": None if bound is None else bound.algbw_gb_s,
        "at_most_by": None if bound is None else bound.by,
        "at_most_for": None if bound is None else bound.model,
        "share_of_optimum": found.share if optimal else None,
        "share_at_least": None if optimal else found.share,
        "model": _MODEL,
    }
