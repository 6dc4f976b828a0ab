"""``forestcoll generate``: make, verify and write a schedule."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.demands import (
    ALL_TO_ALL_SECONDS,
    DemandText,
    PathParts,
    RoundUp,
    check_all_to_all,
    flow_facts,
    flow_for,
)
from forestcoll.cli.options import (
    CollectiveName,
    Group,
    Idle,
    Json,
    MaxDepth,
    Output,
    Root,
    Spec,
    Trees,
    WeightsFile,
    idle_fact,
    in_group,
    read_if_given,
    root_of,
)
from forestcoll.cli.output import SCHEDULES, expect_writable, report
from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.problem.limits import MOST_SECONDS
from forestcoll.problem.options import LP_TIME_LIMIT_S, Options

__all__ = ["generate_schedule"]

_EXCESS_HOPS = 2
"""Hops above the lower bound on depth from which on a shallower forest is worth a look."""

_SHALLOWER = "forestcoll depths shows the rate at smaller depths; --max-depth takes one"


def generate_schedule(
    spec: Spec,
    output: Output,
    collective: CollectiveName = "allgather",
    root: Root = None,
    weights: WeightsFile = None,
    members: Group = None,
    idle: Idle = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    k: Trees = None,
    max_k: Annotated[
        int | None,
        typer.Option(
            "--best-k",
            metavar="MAX",
            max=10_000,
            help="Choose the number of trees per GPU, up to this one, with the highest rate.",
        ),
    ] = None,
    low: Annotated[
        bool, typer.Option("--low", help="With --best-k: at the highest rate, choose least depth.")
    ] = False,
    max_depth: MaxDepth = None,
    sparse_exchange: Annotated[
        bool,
        typer.Option(
            "--sparse-exchange", help="Exchange between few boxes: deeper trees, made faster."
        ),
    ] = False,
    method: Annotated[
        str, typer.Option("--method", help="forestcoll, or paper: the paper's slow algorithms.")
    ] = "forestcoll",
    check: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Prove the schedule before writing it.")
    ] = True,
    factored: Annotated[
        bool, typer.Option("--factored", help="Do not write the trees out (.npz only).")
    ] = False,
    exact_depth: Annotated[
        bool,
        typer.Option(
            "--exact-depth",
            help="With --factored: measure the depth of every tree and bound it, both slow for "
            "large networks.",
        ),
    ] = False,
    in_network: Annotated[
        bool, typer.Option("--multicast", help="Use multicast and reduction in marked switches.")
    ] = False,
    lp_time_limit_s: Annotated[
        float,
        typer.Option(
            "--lp-time-limit",
            max=MOST_SECONDS,
            metavar="SECONDS",
            help="Seconds for the allreduce LP, used where no cut proves two phases optimal.",
        ),
    ] = LP_TIME_LIMIT_S,
    demand: DemandText = None,
    round_up: RoundUp = None,
    parts: PathParts = 720_720,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            min=0.001,
            max=MOST_SECONDS,
            metavar="SECONDS",
            help="With --size: the best schedule found by then. For an all-to-all: of its program, "
            f"{ALL_TO_ALL_SECONDS:g} if not given.",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="SIZE",
            help="Make the schedule of least time found for this size, latencies included: "
            "4MB; 1MB is 2^20 bytes.",
        ),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            "--alpha", metavar="US", help="With --size: latency of a hop from GPU to GPU; 10us."
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Generate a schedule, verify it, report whether it is optimal, and write .json or .npz."""
    # Half of the start of a command, which its help does not need.
    from forestcoll.cli.written_trees import written_trees
    from forestcoll.k_scan import best_k
    from forestcoll.schedule.files import write_schedule

    expect_writable(output, SCHEDULES)
    if factored and output.suffix.lower() != ".npz":
        raise ExportError(f"{output}: --factored needs a name that ends in .npz")
    _check_choices(k=k, max_k=max_k, low=low, factored=factored, in_network=in_network)
    if size is not None and max_k is not None:
        raise InvalidParameterError("--size chooses its trees itself; leave out --best-k")
    # Changes name nodes of the whole network, so they come before the group.
    whole = changed_network(spec, without, scale, links)
    topology = in_group(whole, members, idle)
    trees = {
        "root": root, "weights": weights, "k": k, "best-k": max_k, "low": low,
        "max-depth": max_depth, "sparse-exchange": sparse_exchange, "factored": factored,
        "multicast": in_network, "method": None if method == "forestcoll" else method,
        "size": size, "alpha": alpha,
    }  # fmt: skip
    about = idle_fact(members, idle)
    if check_all_to_all(collective, demand, trees):
        limit = ALL_TO_ALL_SECONDS if seconds is None else seconds
        flow = flow_for(topology, demand, limit, round_up, parts)
        facts = {**about, **flow_facts(flow, check=check)}
        write_schedule(flow, output)
        report({**facts, "file": output}, json_)
        return
    options = Options(
        collective=collective,
        root=root_of(topology, root),
        weights=read_if_given(weights),
        k=k,
        max_depth=max_depth,
        sparse_exchange=sparse_exchange,
        multicast=in_network,
        factored=factored,
        method=method,
        lp_time_limit_s=lp_time_limit_s,
        routed=True,
        size=size,
        alpha_us=alpha,
        time_limit_s=seconds,
    )
    tried = None if max_k is None else best_k(topology, max_k, options)
    if tried is not None:
        options = replace(options, k=tried.lowest.k if low else tried.fastest.k)
    made = written_trees(topology, options, output, check=check, exact_depth=exact_depth)
    choices = None if tried is None else [asdict(choice) for choice in tried.choices]
    facts = {"topology": topology.name, **about, "collective": collective, "tried": choices, **made}
    if not json_ and _may_be_shallower(made, options):
        facts["shallower"] = _SHALLOWER
    report({**facts, "file": output}, json_)


def _may_be_shallower(made: dict[str, Any], options: Options) -> bool:
    """Whether the depth that throughput took is far above its bound, and a limit was possible.

    The rate of a shallower forest is a search of its own, often longer than this generation. So the
    command that searches is named, and nothing is searched.
    """
    limited = options.max_depth is not None or options.size is not None
    others = options.multicast or options.factored or options.sparse_exchange
    if limited or others or options.method != "forestcoll":
        return False
    phases = [made] if "depth" in made else [made["reduce"], made["gather"]]
    excess: int = sum(phase["depth"] - phase["at_least"]["depth"] for phase in phases)
    return excess >= _EXCESS_HOPS


def _check_choices(
    *, k: int | None, max_k: int | None, low: bool, factored: bool, in_network: bool
) -> None:
    if factored and in_network:
        raise InvalidParameterError("--multicast writes physical trees out; leave --factored away")
    if k is not None and max_k is not None:
        raise InvalidParameterError("--k and --best-k exclude each other; give one of them")
    if low and max_k is None:
        raise InvalidParameterError("--low chooses among numbers of trees; give --best-k too")
