"""Capabilities of methods, from their rows: tables of the ForestColl paper and slides.

Problem: say of each method whether it takes switches, whether it is optimal, how far it scales.
Input:   rows of allgathers; what the paper says (``published/methods.csv``).
Output:  a table, printed words beside what was found.
Source:  ForestColl table 2; the slides' table of ticks.
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
    """What the paper says of a method, and what its allgathers here show.

    Parameters
    ----------
    method : str
        As the paper calls it.
    optimality, generality, scalability : str
        As printed.
    slides : str
        The slides' ticks: switches, optimal, scalable; empty where they do not name it.
    switches : bool or None
        Whether any of its allgathers here is on a network with switches; None if it made none.
    networks, optimal : int
        On how many networks it made one, and on how many of these one that flows at the optimum.
    worst : float or None
        The least share of the optimum.
    largest, beyond : int or None
        GPUs of the largest network on which it ended within the limits, and of the smallest on
        which none of its choices did.
    """

    method: str
    optimality: str
    generality: str
    scalability: str
    slides: str
    switches: bool | None
    networks: int
    optimal: int
    worst: float | None
    largest: int | None
    beyond: int | None


def capabilities(rows: Iterable[Row]) -> list[Capability]:
    """Hold what the paper says of methods against rows.

    Of several choices of parameters the best counts on each network.
    """
    known = [row for row in rows if row.collective == "allgather"]
    return [
        _capability(line, [row for row in known if row.method == line["ours"]])
        for line in printed("methods.csv")
    ]


def _capability(line: dict[str, str], rows: Sequence[Row]) -> Capability:
    best: dict[str, float] = {}
    for row in rows:
        if row.status is Status.OK and row.ratio is not None:
            best[row.topology] = max(best.get(row.topology, 0.0), row.ratio)
    done = [row.gpus for row in rows if row.status is Status.OK and row.gpus]
    stopped = (Status.TIMEOUT, Status.OUT_OF_MEMORY)
    made = {row.topology for row in rows if row.status is Status.OK}
    lost = [row.gpus for row in rows if row.status in stopped and row.topology not in made]
    ticks = [line[f"slides_{name}"] for name in ("switches", "optimal", "scalable")]
    return Capability(
        method=line["method"],
        optimality=line["optimality"],
        generality=line["generality"],
        scalability=line["scalability"],
        slides=", ".join(ticks) if all(ticks) else "",
        switches=_on_switches(rows),
        networks=len(best),
        optimal=sum(share == 1 for share in best.values()),
        worst=min(best.values(), default=None),
        largest=max(done, default=None),
        beyond=min((size for size in lost if size), default=None),
    )


def _on_switches(rows: Iterable[Row]) -> bool | None:
    made = {row.topology for row in rows if row.status is Status.OK}
    return any(map(_has_switches, made)) if made else None


@functools.cache
def _has_switches(topology: str) -> bool:
    specification, _, _changes = topology.partition(" ")
    return bool(load_topology(specification).switches)
