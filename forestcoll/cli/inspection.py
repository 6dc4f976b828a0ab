"""Commands on schedule files: verify one, compare two, draw one, or how it comes about."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.options import Group, Idle, Json, Output, ScheduleFile, idle_fact, in_group
from forestcoll.cli.output import expect_drawable, report
from forestcoll.errors import InvalidParameterError, InvalidScheduleError, VerificationError
from forestcoll.problem.options import MOST_TREES

# The commands import what they work with: their help needs none of it.
if TYPE_CHECKING:
    from forestcoll.schedule.allreduce import AnySchedule
    from forestcoll.topology import Topology

__all__ = ["Phase", "Stage", "compare_schedules", "draw_one_tree", "verify_schedule"]


class Phase(StrEnum):
    """The phases of an allreduce."""

    REDUCE = "reduce"
    GATHER = "gather"


class Stage(StrEnum):
    """The stages of the core, as drawn on a network."""

    SCALED = "scaled"
    SPLIT = "split"
    AUXILIARY = "auxiliary"
    LOGICAL = "logical"
    TREE = "tree"
    PATHS = "paths"


def verify_schedule(
    file: ScheduleFile,
    network: Annotated[
        str | None,
        typer.Option(
            "--topology", metavar="TOPOLOGY", help="The network that the file must be for."
        ),
    ] = None,
    members: Group = None,
    idle: Idle = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    json_: Json = False,
) -> None:
    """Verify a schedule file or a certificate: prove it right, or report what is wrong."""
    from forestcoll.cli.facts import bound_facts
    from forestcoll.runtimes.scoring.file_bounds import bound_of_schedule
    from forestcoll.schedule import (
        Allreduce,
        AllreduceVerdict,
        is_certificate,
        read_schedule,
        verify,
    )

    if is_certificate(file):
        from forestcoll.schedule import read_certificate, verify_certificate

        if network is not None or members is not None:
            raise InvalidParameterError(
                "--topology and --group are for schedules, not certificates"
            )
        certified = asdict(verify_certificate(read_certificate(file)))
        report({"file": file, "verified": True, "certificate": True, **certified}, json_)
        return
    schedule = read_schedule(file)
    if network is None and (members or idle or without or scale or links):
        raise InvalidParameterError(
            "--group, --idle, --without, --scale and --with are of a --topology; give that too"
        )
    if network is not None:
        due = changed_network(network, without, scale, links)
        _check_network(file, schedule.topology, in_group(due, members, idle))
    verdict = verify(schedule)
    if isinstance(verdict, AllreduceVerdict) and isinstance(schedule, Allreduce):
        facts = {
            "collective": verdict.collective,
            "reduce": _verdict_facts(verdict.reduce, schedule.reduce),
            "gather": _verdict_facts(verdict.gather, schedule.gather),
            "time_s_per_gb": verdict.time_s_per_gb,
            "algbw_gb_s": verdict.algbw_gb_s,
            "busiest_link": verdict.busiest_link,
            "sequential_s_per_gb": verdict.sequential_s_per_gb,
            "at_most_gb_s": verdict.bound_gb_s,
            "model": verdict.model,
            "optimal": verdict.optimal,
        }
    else:
        facts = _verdict_facts(verdict, schedule)
    if getattr(verdict, "model", None) is None:  # nothing is claimed
        del facts["optimal"]
        facts |= bound_facts(bound_of_schedule(schedule), verdict.algbw_gb_s)
    report({"file": file, "verified": True, **idle_fact(members, idle), **facts}, json_)


def _check_network(file: Path, found: Topology, due: Topology) -> None:
    """Refuse a schedule for another network; names of networks do not matter."""
    from forestcoll.topology.describe import counted
    from forestcoll.topology.differences import differences

    others = list(differences(due, found))
    if others:
        more = f" (and {counted(len(others) - 1, 'more difference')})" if others[1:] else ""
        raise VerificationError(
            f"{file} is for another network than {due.name}: in it {others[0]}{more}"
        )


def _verdict_facts(verdict: Any, schedule: object) -> dict[str, Any]:
    from forestcoll.schedule import FactoredForest
    from forestcoll.schedule.flows import FlowSchedule

    facts = asdict(verdict)
    if getattr(verdict, "model", None) is None and not verdict.optimal:
        facts["optimal"] = None  # unknown, as nothing is claimed
    if isinstance(schedule, FactoredForest):
        facts["greatest_possible_depth"] = facts.pop("depth")
    if isinstance(schedule, FlowSchedule) and verdict.congestion:
        congestion = facts.pop("congestion")  # which is in trees elsewhere
        if schedule.demand is None:
            facts["pair_gb_s"] = 1 / congestion
        else:
            facts["time_us"] = congestion / 1000
    return facts


def compare_schedules(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="A schedule file.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="Another schedule file.")],
    json_: Json = False,
) -> None:
    """Verify two schedule files and report what differs; the exit code is 1 if anything does."""
    from forestcoll.comparison.diff_in_words import as_document, in_words
    from forestcoll.comparison.schedule_diff import diff

    found = diff(*(_verified(file) for file in (first, second)))
    files = {"first_file": first, "second_file": second}
    report({**files, **(as_document(found) if json_ else in_words(found))}, json_)
    if not found.is_same:
        raise typer.Exit(1)


def _verified(file: Path) -> AnySchedule:
    """Read a schedule to compare; a wrong one is bad input, not a difference."""
    from forestcoll.schedule import read_schedule, verify

    schedule = read_schedule(file)
    try:
        verify(schedule)
    except VerificationError as error:
        raise InvalidScheduleError(
            f"{file} is not right, so it is not compared: {error}"
        ) from error
    return schedule


def draw_one_tree(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A schedule file; with --stage, a TOPOLOGY."),
    ],
    output: Output,
    tree: Annotated[
        int, typer.Option("--tree", min=0, max=MOST_TREES, help="Number of the tree, from 0.")
    ] = 0,
    phase: Annotated[Phase, typer.Option("--phase", help="Phase of an allreduce.")] = Phase.REDUCE,
    stage: Annotated[
        Stage | None,
        typer.Option(
            "--stage", help="Draw a stage of an allgather's generation on a small network instead."
        ),
    ] = None,
    number: Annotated[
        int,
        typer.Option(
            "--number",
            min=0,
            max=MOST_TREES,
            help="With --stage split, auxiliary, tree or paths: number of the split, the tree or "
            "the logical link, from 0.",
        ),
    ] = 0,
    json_: Json = False,
) -> None:
    """Draw one tree of a verified schedule, or a stage of its generation, as .png, .pdf or .svg."""
    from forestcoll.core.assembly import expand
    from forestcoll.draw import draw_stage, draw_tree, save_figure  # loads matplotlib
    from forestcoll.schedule import Allreduce, FactoredForest, read_schedule, verify

    expect_drawable(output)
    if stage is not None:
        save_figure(draw_stage(file, stage, number), output)
        report({"topology": file, "stage": stage, "file": output}, json_)
        return
    schedule = read_schedule(file)
    verify(schedule)
    forest: Any = schedule
    if isinstance(schedule, Allreduce):
        forest = schedule.reduce if phase == "reduce" else schedule.gather
    explicit = expand(forest) if isinstance(forest, FactoredForest) else forest
    save_figure(draw_tree(explicit, tree), output)
    report({"schedule": file, "tree": tree, "file": output}, json_)
