"""The commands that find, prove and draw schedules."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.best_k import best_k
from forestcoll.certificate import certify
from forestcoll.cli.options import (
    CollectiveName,
    Group,
    Json,
    Output,
    Root,
    ScheduleFile,
    Spec,
    Trees,
    WeightsFile,
    network_of,
    read_if_given,
    root_of,
)
from forestcoll.cli.output import expect_writable, progress_bars, report
from forestcoll.core.assembly import expand
from forestcoll.core.fixed_k import FixedK, fixed_k
from forestcoll.core.optimality import optimum
from forestcoll.errors import (
    ExportError,
    InvalidParameterError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.generate import Options, generate_factored_timed, generate_multicast, generate_timed
from forestcoll.latency import latency
from forestcoll.multicast.in_network import InNetwork
from forestcoll.problem.request import PROGRAM_S
from forestcoll.problem.weights import weights_for
from forestcoll.schedule import (
    Allreduce,
    AllreduceVerdict,
    FactoredForest,
    Verdict,
    is_certificate,
    read_certificate,
    read_schedule,
    verify,
    verify_certificate,
    write_certificate,
    write_schedule,
)
from forestcoll.schedule.allreduce import TreeSchedule
from forestcoll.topology import Topology
from forestcoll.topology.comparison import differences
from forestcoll.topology.describe import counted

__all__ = [
    "certify_optimum",
    "draw_one_tree",
    "generate_schedule",
    "show_optimum",
    "verify_schedule",
]


class Phase(StrEnum):
    """Of an allreduce."""

    REDUCE = "reduce"
    GATHER = "gather"


def show_optimum(
    spec: Spec,
    collective: CollectiveName = "allgather",
    root: Root = None,
    weights: WeightsFile = None,
    members: Group = None,
    k: Trees = None,
    json_: Json = False,
) -> None:
    """Find the throughput optimum of a network and the bottleneck cut that proves it."""
    topology = network_of(spec, members)
    if collective == "allreduce":
        raise UnsupportedError(
            "the best allreduce is found with its schedule: forestcoll generate --collective "
            "allreduce; each of its phases has an optimum of its own"
        )
    whole = weights_for(
        topology, collective, root=root_of(topology, root), weights=read_if_given(weights)
    )
    reduction = collective in ("reduce-scatter", "reduce")
    if k is not None:
        report(_best_with(fixed_k(topology, k, weights=whole, reduction=reduction)), json_)
        return
    best = optimum(topology, weights=whole, reduction=reduction)
    facts = {
        "topology": best.topology.name,
        "collective": best.collective,
        "gpus": best.topology.num_compute,
        "inverse_rate": best.inverse_rate,
        "algbw_gb_s": best.algbw_gb_s,
        "time_s_per_gb": best.time_s_per_gb,
        "k": best.k,
        "bottleneck_cut": best.bottleneck,
    }
    report(facts, json_)


def _best_with(found: FixedK) -> dict[str, Any]:
    """Return what is known of the best with a fixed number of trees per GPU."""
    return {
        "topology": found.optimum.topology.name,
        "collective": found.optimum.collective,
        "gpus": found.optimum.topology.num_compute,
        "k": found.k,
        "congestion": found.congestion,
        "algbw_gb_s": found.algbw_gb_s,
        "time_s_per_gb": found.time_s_per_gb,
        "exact": found.exact,
        "greatest_possible_algbw_gb_s": None if found.exact else found.bound_algbw_gb_s,
        "any_k_algbw_gb_s": found.optimum.algbw_gb_s,
        "limiting_cut": found.witness,
        "trees_lacking_below": found.certificate(),
    }


def generate_schedule(
    spec: Spec,
    output: Output,
    collective: CollectiveName = "allgather",
    root: Root = None,
    weights: WeightsFile = None,
    members: Group = None,
    k: Trees = None,
    max_k: Annotated[
        int | None,
        typer.Option(
            "--best-k", metavar="MAX", help="The fastest number of trees per GPU up to this one."
        ),
    ] = None,
    low: Annotated[
        bool, typer.Option("--low", help="With --best-k: of the fastest numbers the lowest trees.")
    ] = False,
    method: Annotated[
        str,
        typer.Option("--method", help="forestcoll, or paper: its own, slow algorithms."),
    ] = "forestcoll",
    check: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Prove the schedule before writing it.")
    ] = True,
    factored: Annotated[
        bool, typer.Option("--factored", help="Do not write the trees out (.npz only).")
    ] = False,
    in_network: Annotated[
        bool, typer.Option("--multicast", help="Let switches marked multicast copy and add.")
    ] = False,
    program_s: Annotated[
        float,
        typer.Option(
            "--program-time",
            metavar="SECONDS",
            help="For the allreduce program, where no cut proves reduction + gathering optimal.",
        ),
    ] = PROGRAM_S,
    json_: Json = False,
) -> None:
    """Generate a schedule, verify it, say whether it is optimal, write it as .json or .npz."""
    expect_writable(output)
    if factored and output.suffix.lower() != ".npz":
        raise ExportError(f"{output}: --factored needs a name that ends in .npz")
    _check_choices(k=k, max_k=max_k, low=low, factored=factored, in_network=in_network)
    topology = network_of(spec, members)
    options: Options = {
        "root": root_of(topology, root),
        "weights": read_if_given(weights),
        "method": method,
        "program_s": program_s,
    }
    tried = None
    if max_k is not None:
        tried = best_k(topology, max_k, collective=collective, multicast=in_network, **options)
    if tried is not None:
        k = tried.lowest.k if low else tried.fastest.k
    options["k"] = k
    with progress_bars() as progress:
        options["progress"] = progress
        schedule, seconds, saved = _made(topology, collective, options, factored, in_network)
    verdict = verify(schedule) if check else None
    write_schedule(schedule, output)
    facts = {
        "topology": topology.name,
        "collective": schedule.collective,
        "tried": None if tried is None else [asdict(choice) for choice in tried.choices],
        **_tree_facts(schedule),
        "algbw_gb_s": schedule.algbw_gb_s if schedule.time_s_per_gb else None,
        **_proved(schedule, verdict),
        **saved,
        "stages_s": seconds,
        "file": output,
    }
    report(facts, json_)


def _made(
    topology: Topology, collective: str, options: Options, factored: bool, in_network: bool
) -> InNetwork | tuple[TreeSchedule, dict[str, float], dict[str, Any]]:
    """Make the schedule; return it with the seconds of the stages and the traffic saved."""
    if in_network:
        return generate_multicast(topology, collective=collective, **options)
    run = generate_factored_timed if factored else generate_timed
    return *run(topology, collective=collective, **options), {}


def _proved(schedule: TreeSchedule, verdict: Verdict | AllreduceVerdict | None) -> dict[str, Any]:
    """Return what was proved; of an allreduce with the model in which, and why it is this one."""
    facts: dict[str, Any] = {"verified": verdict is not None}
    if isinstance(schedule, Allreduce):
        facts |= {"in_turn_s_per_gb": schedule.in_turn_s_per_gb, "made_by": schedule.remark}
    if isinstance(verdict, AllreduceVerdict):
        facts |= {"at_most_gb_s": verdict.bound_gb_s, "model": verdict.model}
    return facts | {"optimal": None if verdict is None else verdict.optimal}


def _check_choices(
    *, k: int | None, max_k: int | None, low: bool, factored: bool, in_network: bool
) -> None:
    """Refuse options that contradict each other."""
    if factored and in_network:
        raise InvalidParameterError("--multicast writes physical trees out; leave --factored away")
    if k is not None and max_k is not None:
        raise InvalidParameterError("--k and --best-k exclude each other; give one of them")
    if low and max_k is None:
        raise InvalidParameterError("--low chooses among numbers of trees; give --best-k too")


def _tree_facts(schedule: TreeSchedule) -> dict[str, Any]:
    """Return what there is to say of the trees, for each phase of an allreduce by itself."""
    if isinstance(schedule, Allreduce):
        phases = {"reduce": schedule.reduce, "gather": schedule.gather}
        return {name: {"by": part.collective, **_tree_facts(part)} for name, part in phases.items()}
    facts = {"k": schedule.k, "trees": schedule.num_trees}
    written_out = not isinstance(schedule, FactoredForest)
    return {**facts, **asdict(latency(schedule, physical=written_out))}


def certify_optimum(
    spec: Spec,
    output: Output,
    collective: CollectiveName = "allgather",
    root: Root = None,
    weights: WeightsFile = None,
    members: Group = None,
    k: Trees = None,
    json_: Json = False,
) -> None:
    """Write what proves the optimum of a network, for anybody to add up, to a .json file."""
    expect_writable(output)
    topology = network_of(spec, members)
    with progress_bars() as progress:
        certificate = certify(
            topology,
            collective=collective,
            root=root_of(topology, root),
            weights=read_if_given(weights),
            k=k,
            progress=progress,
        )
    verdict = verify_certificate(certificate)
    write_certificate(certificate, output)
    report({**asdict(verdict), "file": output}, json_)


def verify_schedule(
    file: ScheduleFile,
    network: Annotated[
        str | None,
        typer.Option(
            "--topology", metavar="TOPOLOGY", help="The network that it has to be for, if not any."
        ),
    ] = None,
    members: Group = None,
    json_: Json = False,
) -> None:
    """Prove that a schedule file, or a certificate, is right, or say what is wrong."""
    if is_certificate(file):
        if network is not None or members is not None:
            raise InvalidParameterError(
                "--topology and --group are for schedules, not certificates"
            )
        certified = asdict(verify_certificate(read_certificate(file)))
        report({"file": file, "verified": True, "certificate": True, **certified}, json_)
        return
    schedule = read_schedule(file)
    if network is None and members is not None:
        raise InvalidParameterError("--group is of a --topology; give that too")
    if network is not None:
        _check_network(file, schedule.topology, network_of(network, members))
    verdict = verify(schedule)
    if isinstance(verdict, AllreduceVerdict) and isinstance(schedule, Allreduce):
        facts = {
            "collective": verdict.collective,
            "reduce": _verdict_facts(verdict.reduce, schedule.reduce),
            "gather": _verdict_facts(verdict.gather, schedule.gather),
            "time_s_per_gb": verdict.time_s_per_gb,
            "algbw_gb_s": verdict.algbw_gb_s,
            "busiest_link": verdict.busiest_link,
            "in_turn_s_per_gb": verdict.in_turn_s_per_gb,
            "at_most_gb_s": verdict.bound_gb_s,
            "model": verdict.model,
            "optimal": verdict.optimal,
        }
    else:
        facts = _verdict_facts(verdict, schedule)
    report({"file": file, "verified": True, **facts}, json_)


def _check_network(file: Path, found: Topology, due: Topology) -> None:
    """Refuse a schedule for another network, whatever that is called."""
    others = list(differences(due, found))
    if others:
        more = f" (and {counted(len(others) - 1, 'more difference')})" if others[1:] else ""
        raise VerificationError(
            f"{file} is for another network than {due.name}: in it {others[0]}{more}"
        )


def _verdict_facts(verdict: Any, schedule: object) -> dict[str, Any]:
    facts = asdict(verdict)
    if isinstance(schedule, FactoredForest):
        facts["greatest_possible_height"] = facts.pop("height")
    return facts


def draw_one_tree(
    file: ScheduleFile,
    output: Output,
    tree: Annotated[int, typer.Option("--tree", min=0, help="Which tree, from 0.")] = 0,
    phase: Annotated[
        Phase, typer.Option("--phase", help="Which phase of an allreduce.")
    ] = Phase.REDUCE,
    json_: Json = False,
) -> None:
    """Verify a schedule file and draw one of its trees, as .png, .pdf or .svg."""
    from forestcoll.draw import check_format, draw_tree, save_figure  # loads matplotlib

    check_format(output)
    expect_writable(output)
    schedule = read_schedule(file)
    verify(schedule)
    forest: Any = schedule
    if isinstance(schedule, Allreduce):
        forest = schedule.reduce if phase == "reduce" else schedule.gather
    explicit = expand(forest) if isinstance(forest, FactoredForest) else forest
    save_figure(draw_tree(explicit, tree), output)
    report({"schedule": file, "tree": tree, "file": output}, json_)
