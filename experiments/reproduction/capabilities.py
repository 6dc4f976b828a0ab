"""Capabilities of methods, from their rows: tables of the ForestColl paper and slides.

For each method of ``published/methods.csv``: whether it supports switches, is optimal, and how far
it scales. Allgathers count; of methods without, allreduces.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.published import printed
from experiments.results.rows import Row, Status
from forestcoll.topology import load_topology

__all__ = ["Capability", "capabilities"]


@dataclass(frozen=True, slots=True)
class Capability:
    """The paper's claims on a method, and the evidence of its schedules here."""

    method: str  # its name in the paper
    optimality: str  # as printed
    generality: str  # as printed
    scalability: str  # as printed
    # the slides' ticks: switches, optimal, scalable; empty if the slides do not name it
    slides: str
    collective: str  # of its schedules here; empty if it made none
    # whether any of them uses a network with switches; None if it made none, or on files alone
    switches: bool | None
    # number of networks with a schedule, and of those with an optimal pipelined rate
    networks: int
    optimal: int
    worst: float | None  # the least share of the optimum
    # GPUs of the largest network that it finished within the limits, and of the smallest that no
    # parameter choice finished
    largest: int | None
    beyond: int | None


def capabilities(rows: Iterable[Row]) -> list[Capability]:
    """Compare the paper's claims on methods with rows.

    The best of several parameter choices counts on each network.
    """
    known = list(rows)
    return [
        _capability(line, [row for row in known if row.method == line["ours"]])
        for line in printed("methods.csv")
    ]


def _capability(line: dict[str, str], its: Sequence[Row]) -> Capability:
    made = {row.collective for row in its if row.status is Status.OK}
    collective = next((name for name in ("allgather", "allreduce") if name in made), "")
    rows = [row for row in its if row.collective == collective]
    best: dict[str, float] = {}
    for row in rows:
        if row.status is Status.OK and row.ratio is not None:
            best[row.topology] = max(best.get(row.topology, 0.0), row.ratio)
    done = [row.gpus for row in rows if row.status is Status.OK and row.gpus]
    stopped = (Status.TIMEOUT, Status.OUT_OF_MEMORY)
    attained = {row.topology for row in rows if row.status is Status.OK}
    lost = [row.gpus for row in rows if row.status in stopped and row.topology not in attained]
    ticks = [line[f"slides_{name}"] for name in ("switches", "optimal", "scalable")]
    return Capability(
        method=line["method"],
        optimality=line["optimality"],
        generality=line["generality"],
        scalability=line["scalability"],
        slides=", ".join(ticks) if all(ticks) else "",
        collective=collective,
        switches=_on_switches(rows),
        networks=len(best),
        optimal=sum(share == 1 for share in best.values()),
        worst=min(best.values(), default=None),
        largest=max(done, default=None),
        beyond=min((size for size in lost if size), default=None),
    )


def _on_switches(rows: Iterable[Row]) -> bool | None:
    made = {row.topology for row in rows if row.status is Status.OK}
    known = [name for name in made if not name.endswith(".yaml")]  # families; not files
    return any(map(_has_switches, known)) if known else None


@functools.cache
def _has_switches(topology: str) -> bool:
    specification, _, _changes = topology.partition(" ")
    return bool(load_topology(specification).switches)
