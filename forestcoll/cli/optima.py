"""``forestcoll optimum`` and ``certificate``: find an optimum, write its certificate."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from forestcoll.cli.changed import NewLinks, Scale, Without, changed_network
from forestcoll.cli.demands import (
    ALL_TO_ALL_SECONDS,
    AllToAllSeconds,
    DemandText,
    check_all_to_all,
    optimum_facts,
    stated_demand,
)
from forestcoll.cli.options import (
    CollectiveName,
    Group,
    Idle,
    Json,
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
from forestcoll.cli.output import expect_writable, progress_bars, report
from forestcoll.cli.sized_optima import (
    AlphaIfSized,
    CertificateIfSized,
    DrawingIfSized,
    LeastTimeOf,
    NoOnePassIfSized,
    expect_size,
    time_facts,
)
from forestcoll.core.optimality import optimum
from forestcoll.errors import UnsupportedError
from forestcoll.problem.options import Options
from forestcoll.problem.weights import weights_for

if TYPE_CHECKING:
    from forestcoll.core.fixed_k import FixedK

__all__ = ["certify_optimum", "show_optimum"]


def show_optimum(
    spec: Spec,
    collective: CollectiveName = "allgather",
    root: Root = None,
    weights: WeightsFile = None,
    members: Group = None,
    idle: Idle = None,
    without: Without = None,
    scale: Scale = None,
    links: NewLinks = None,
    k: Trees = None,
    demand: DemandText = None,
    seconds: AllToAllSeconds = ALL_TO_ALL_SECONDS,
    size: LeastTimeOf = None,
    alpha: AlphaIfSized = None,
    no_one_pass: NoOnePassIfSized = False,
    output: CertificateIfSized = None,
    drawing: DrawingIfSized = None,
    json_: Json = False,
) -> None:
    """Find the throughput optimum of a network, or the least time of a size, with its proof."""
    network = changed_network(spec, without, scale, links)
    topology = in_group(network, members, idle)
    sized = {
        "alpha": alpha,
        "no-one-pass": no_one_pass or None,
        "output": output,
        "draw": drawing,
    }
    if expect_size(size, sized, {"demand": demand, "k": k}):
        facts = time_facts(
            topology,
            collective,
            str(size),
            alpha or "10",
            root=root_of(topology, root),
            weights=read_if_given(weights),
            seconds=seconds,
            exact=json_,
            one_pass=not no_one_pass,
            certificate=output,
            drawing=drawing,
        )
        report({**idle_fact(members, idle), **facts}, json_)
        return
    if check_all_to_all(collective, demand, {"root": root, "weights": weights, "k": k}):
        facts = optimum_facts(topology, demand, seconds)
        report({**idle_fact(members, idle), **facts}, json_)
        return
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
        from forestcoll.core.fixed_k import fixed_k

        found = fixed_k(topology, k, weights=whole, reduction=reduction)
        report({**idle_fact(members, idle), **_best_with(found)}, json_)
        return
    best = optimum(topology, weights=whole, reduction=reduction)
    facts = {
        "topology": best.topology.name,
        **idle_fact(members, idle),
        "collective": best.collective,
        "gpus": best.topology.num_compute,
        "inverse_rate": best.inverse_rate,
        "algbw_gb_s": best.algbw_gb_s,
        "time_s_per_gb": best.time_s_per_gb,
        "k": best.k,
        "model": best.bound.model,
        "bottleneck_cut": best.bottleneck if best.prices is None else None,
        "what_binds": None if best.prices is None else best.what_binds(),
    }
    report(facts, json_)


def _best_with(found: FixedK) -> dict[str, Any]:
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


def certify_optimum(
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
    demand: DemandText = None,
    seconds: AllToAllSeconds = ALL_TO_ALL_SECONDS,
    json_: Json = False,
) -> None:
    """Write a certificate of the optimum, which addition alone checks, to a .json file."""
    from forestcoll.all_to_all.bound_certificate import certify_demand
    from forestcoll.certificate import certify
    from forestcoll.schedule import verify_certificate, write_certificate

    expect_writable(output, [".json"])
    network = changed_network(spec, without, scale, links)
    topology = in_group(network, members, idle)
    if check_all_to_all(collective, demand, {"root": root, "weights": weights, "k": k}):
        priced = certify_demand(topology, stated_demand(topology, demand), seconds=seconds)
        found = verify_certificate(priced)
        write_certificate(priced, output)
        report({**idle_fact(members, idle), **asdict(found), "file": output}, json_)
        return
    asked = Options(
        collective=collective, root=root_of(topology, root), weights=read_if_given(weights), k=k
    )
    with progress_bars() as progress:
        certificate = certify(topology, asked, progress=progress)
    verdict = verify_certificate(certificate)
    write_certificate(certificate, output)
    report({**idle_fact(members, idle), **asdict(verdict), "file": output}, json_)
