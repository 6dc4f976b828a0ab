"""``forestcoll optimum --size``: the proved least time of a collective at a size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.over_time.time_bound import DelayedRate, TimeBound
from forestcoll.problem.sizes import size_text
from forestcoll.problem.weights import Weights
from forestcoll.topology import Topology
from forestcoll.topology.describe import decimal

__all__ = ["AlphaIfSized", "LeastTimeOf", "expect_size", "time_facts"]


LeastTimeOf = Annotated[
    str | None,
    typer.Option(
        "--size",
        help="Find the proved least time of this size, latencies included: 4MB, or bytes; 1MB is "
        "2^20.",
    ),
]
AlphaIfSized = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        metavar="US",
        help="With --size: latency of a hop from GPU to GPU, in microseconds; 10 by default.",
    ),
]


def expect_size(size: str | None, alpha: str | None, others: Mapping[str, object]) -> bool:
    """Whether the least time of a size is asked for; check that no other option contradicts it."""
    if size is None:
        if alpha is not None:
            raise InvalidParameterError("--alpha is of a size; add --size, such as --size 4MB")
        return False
    for name, value in others.items():
        if value is not None:
            raise InvalidParameterError(
                f"--size asks for the least time of a collective; leave --{name} out"
            )
    return True


def time_facts(
    topology: Topology,
    collective: str,
    size: str,
    alpha: str,
    *,
    root: str | int | None,
    weights: Weights | None,
    exact: bool,
) -> dict[str, Any]:
    """Return the bound, checked, with its proof in words.

    Parameters
    ----------
    exact : bool
        Whether to add the size in bytes, and the label of each node.
    """
    from forestcoll.cut_over_time.time_search import time_bound
    from forestcoll.schedule.verification import verify_time_bound

    bound = time_bound(topology, collective, size, alpha, root=root, weights=weights)
    proved = verify_time_bound(bound)
    share = bound.share_of_rate
    facts = {
        "topology": topology.name,
        "collective": collective,
        "gpus": topology.num_compute,
        "size": size_text(bound.size_bytes),
        "alpha_us": bound.alpha_us,
        "at_least_us": proved,
        "algbw_at_most_gb_s": bound.algbw_gb_s,
        "by_rate_alone_us": bound.by_rate_us,
        "share_of_the_rate": None if share is None else f"{decimal(100 * share, 3)} %",
        "what_binds": bound.in_words(),
    }
    if not exact:
        return facts
    return {**facts, "size_bytes": bound.size_bytes, "labels_us": _labels(bound)}


def _labels(bound: TimeBound) -> dict[str, object] | None:
    if isinstance(bound.proof, DelayedRate):
        return None
    names = [node.name for node in bound.topology.nodes]
    return dict(zip(names, bound.proof.labels_us, strict=True))
