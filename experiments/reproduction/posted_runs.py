"""Table of docs/papers/posted-runs.md: runs that people posted, beside their networks' bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from experiments.advice.expected import NCCL_METHODS, expected
from experiments.measures.docs import piped, with_tables
from experiments.published import printed
from forestcoll.topology import load_topology, members_from_text

__all__ = ["Posted", "Run", "compared", "posted_lines", "read_runs", "updated"]

_HEADS = (
    "machine", "network", "collective", "posted", "at most", "share", "NCCL at best", "share",
    "source",
)  # fmt: skip
_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Run:
    """A posted run; busbw in GB/s. ``group`` has the GPUs of it, if they are not all."""

    machine: str
    topology: str
    group: str
    collective: str
    busbw_gb_s: Fraction
    source: str
    remark: str


@dataclass(frozen=True, slots=True)
class Posted:
    """A run beside the bound of its network and NCCL's fastest algorithm, all in busbw."""

    run: Run
    bound_gb_s: Fraction
    method: str
    method_gb_s: Fraction

    @property
    def share(self) -> Fraction:
        """Of the bound; at most 1, or the network is another one."""
        return self.run.busbw_gb_s / self.bound_gb_s


def read_runs() -> list[Run]:
    """Return the posted runs of ``experiments/published/posted_runs.csv``."""
    return [
        Run(
            line["machine"],
            line["topology"],
            line["group"],
            line["collective"],
            Fraction(line["posted_busbw_gb_s"]),
            line["source"],
            line["remark"],
        )
        for line in printed("posted_runs.csv")
    ]


def compared(run: Run) -> Posted:
    """Compute the bound and NCCL's rates on the network of a run.

    Raises
    ------
    ForestCollError
        As :func:`experiments.advice.expected.expected`.
    """
    topology = load_topology(run.topology)
    members = members_from_text(topology, run.group) if run.group else None
    found = expected(topology, run.collective, members=members, seconds=_SECONDS)
    bound = max(one.busbw_gb_s for one in found.bounds if one.busbw_gb_s is not None)
    method, rate = max(
        ((one.what, one.busbw_gb_s) for one in found.rates if one.what in NCCL_METHODS
         and one.busbw_gb_s is not None),
        key=lambda pair: pair[1],
    )  # fmt: skip
    return Posted(run, bound, method, rate)


def posted_lines(runs: Iterable[Posted]) -> list[str]:
    """Return the rows of the table, each a line of the page."""
    lines = []
    for one in runs:
        run = one.run
        project, _, number = run.source.partition("#")
        link = f"[{run.source}](https://github.com/{project}/issues/{number})"
        group = f", group `{run.group}`" if run.group else ""
        remark = f" ({run.remark})" if run.remark else ""
        lines.append(
            piped(
                [
                    run.machine, f"`{run.topology}`{group}", run.collective,
                    f"{float(run.busbw_gb_s):.5g}{remark}", f"{float(one.bound_gb_s):.5g}",
                    f"{float(one.share):.0%}",
                    f"{float(one.method_gb_s):.5g} ({one.method.removeprefix('NCCL ')})",
                    f"{float(run.busbw_gb_s / one.method_gb_s):.0%}", link,
                ]
            )
        )  # fmt: skip
    return lines


def updated(page: str, runs: Iterable[Posted]) -> str:
    """Return the page with the table between its marks."""
    table = "\n".join([piped(_HEADS), piped(["---"] * len(_HEADS)), *posted_lines(runs)])
    return with_tables(page, {"runs": table}, "forestcoll reproduction posted-runs")
