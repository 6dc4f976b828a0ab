"""Reports of the findings in runtime files, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer

from forestcoll.runtimes.interpretation.findings import Finding, Findings, Kind
from forestcoll.runtimes.interpretation.multiprocessors import MACHINES

__all__ = ["Machine", "Threadblocks", "lines_of", "record_of"]

_SHOWN = 5
_LETTERS = 400

Machine = Annotated[
    str | None,
    typer.Option(
        "--machine", metavar="|".join(MACHINES), help="The machine, for limits on threadblocks."
    ),
]
Threadblocks = Annotated[
    int | None,
    typer.Option(
        "--threadblocks",
        min=1,
        max=100_000,
        help="Threadblocks that run at once on a GPU (its multiprocessors), instead of a machine.",
    ),
]


def record_of(one: Finding) -> dict[str, Any]:
    """Return a finding with all its fields."""
    return {
        "kind": str(one.kind),
        "wrong": one.is_wrong,
        "message": one.message,
        "gpu": one.gpu,
        "threadblock": one.threadblock,
        "step": one.step,
        "line": one.line,
        "lines": list(one.lines),
    }


def lines_of(findings: Iterable[Finding], found: Findings) -> Iterator[str]:
    """Return a line for each of the first findings of each kind."""
    by_kind: dict[Kind, list[str]] = {}
    for one in findings:
        by_kind.setdefault(one.kind, []).append(one.message)
    for kind, messages in by_kind.items():
        for message in messages[:_SHOWN]:
            cut = message if len(message) <= _LETTERS else f"{message[:_LETTERS]} ..."
            yield cut if kind is Kind.NOTE else f"{kind}: {cut}"
        if (left := len(messages) - _SHOWN) > 0:
            yield f"{kind}: {left}{' or more' if kind in found.more else ''} others; see --json"
