"""``forestcoll optimum --size``: the proved least time of a collective at a size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from forestcoll.cli.output import expect_drawable, expect_writable
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.over_time.time_bound import TimeBound, TimeCut
from forestcoll.problem.sizes import size_text
from forestcoll.problem.weights import Weights
from forestcoll.topology import Topology
from forestcoll.topology.describe import decimal

__all__ = [
    "AlphaIfSized", "CertificateIfSized", "DrawingIfSized", "LeastTimeOf", "NoOnePassIfSized",
    "expect_size", "time_facts",
]  # fmt: skip


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
CertificateIfSized = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="With --size: write its certificate to a .json file."
    ),
]
DrawingIfSized = Annotated[
    Path | None,
    typer.Option(
        "--draw", metavar="FILE", help="With --size: draw the cut over time, as .png, .pdf or .svg."
    ),
]


NoOnePassIfSized = Annotated[
    bool,
    typer.Option(
        "--no-one-pass",
        help="With --size: bound allreduces in which no switch reduces and multicasts in one pass.",
    ),
]


def expect_size(
    size: str | None, sized: Mapping[str, object], others: Mapping[str, object]
) -> bool:
    """Whether the least time of a size is asked for; check that no option contradicts it.

    Parameters
    ----------
    sized, others : dict
        Options by name; None where not given. The first are of a size only, the others of none.
    """
    if size is None:
        for name, value in sized.items():
            if value is not None:
                raise InvalidParameterError(
                    f"--{name} is of a size; add --size, such as --size 4MB"
                )
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
    seconds: float,
    exact: bool,
    one_pass: bool = True,
    certificate: Path | None = None,
    drawing: Path | None = None,
) -> dict[str, Any]:
    """Return the bound, checked, with its proof in words; write its certificate and drawing.

    Parameters
    ----------
    seconds : float
        For the program of an all-to-all, where one is needed.
    exact : bool
        Whether to add the size in bytes, and the label of each node.
    one_pass : bool
        Whether a switch may reduce and multicast in one pass. If so, the bound without that is
        added where it is larger.
    """
    from forestcoll.cut_over_time.time_search import LeastTimes
    from forestcoll.schedule.verification import verify_time_bound

    expect_drawable(drawing)
    if certificate is not None:
        expect_writable(certificate, [".json"])
    found = LeastTimes(topology, collective, alpha, root=root, weights=weights, seconds=seconds)
    bound = found.bound(size, one_pass=one_pass)
    proved = verify_time_bound(bound)
    without = verify_time_bound(found.bound(size, one_pass=False))
    share = bound.share_of_rate
    facts = {
        "topology": topology.name,
        "collective": collective,
        "gpus": topology.num_compute,
        "size": size_text(bound.size_bytes),
        "alpha_us": bound.alpha_us,
        "at_least_us": proved,
        **({"without_one_pass_us": without} if without > proved else {}),
        "algbw_at_most_gb_s": bound.algbw_gb_s,
        "by_rate_alone_us": bound.by_rate_us,
        "share_of_the_rate": None if share is None else f"{decimal(100 * share, 3)} %",
        "what_binds": bound.in_words(),
        **_written(bound, certificate, drawing),
    }
    if not exact:
        return facts
    return {**facts, "size_bytes": bound.size_bytes, "labels_us": _labels(bound)}


def _written(bound: TimeBound, certificate: Path | None, drawing: Path | None) -> dict[str, Any]:
    """Write what is asked for, a verified certificate and a drawing; return the files."""
    if certificate is not None:
        from forestcoll.cut_over_time.time_certification import certificate_of_time
        from forestcoll.schedule import verify_certificate, write_certificate

        made = certificate_of_time(bound)
        verify_certificate(made)
        write_certificate(made, certificate)
    if drawing is not None:
        from forestcoll.draw import draw_time_bound, save_figure  # loads matplotlib

        save_figure(draw_time_bound(bound), drawing)
    files = {"certificate": certificate, "drawing": drawing}
    return {name: file for name, file in files.items() if file is not None}


def _labels(bound: TimeBound) -> dict[str, object] | None:
    if not isinstance(bound.proof, TimeCut):
        return None
    names = [node.name for node in bound.topology.nodes]
    return dict(zip(names, bound.proof.labels_us, strict=True))
