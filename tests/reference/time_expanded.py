"""What a collective can deliver by a time, as a linear program on the time-expanded network.

With whole latencies, rates that are constant in each microsecond lose nothing: any others can be
averaged. Data that arrive in a step may leave in the same. The one-way collectives may code: each
root has rates g on links that all its destinations share, and a flow within g to each of them.
Switches forward (out <= in of g, in every step), and shared capacities limit the sum of all g.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from forestcoll.topology import Topology

__all__ = ["Rows", "most_delivered"]


class Rows:
    """Rows of coefficients that are at most, or exactly, a number."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, int, float]] = []
        self.right: list[float] = []

    def add(self, terms: list[tuple[int, float]], right: float) -> None:
        self.entries += [(len(self.right), column, value) for column, value in terms]
        self.right.append(right)

    def matrix(self, columns: int) -> sp.csr_matrix:
        row, column, value = zip(*self.entries, strict=True)
        return sp.csr_matrix((value, (row, column)), shape=(len(self.right), columns))


def most_delivered(
    topology: Topology, collective: str, weights: Sequence[int], alpha: int, steps: int
) -> float:
    """Return the largest size, in bytes as nccl-tests counts it, that is done after whole steps.

    Parameters
    ----------
    topology : Topology
        With whole latencies.
    collective : str
        "allgather" (with one weight: a broadcast) or "all-to-all".
    alpha, steps : int
        In microseconds.
    """
    gpus = topology.compute
    links = [
        (e.tail, e.head, float(e.bandwidth_gb_s), int(e.latency_us) + alpha * (e.tail in gpus))
        for e in topology.links
    ]
    uses = [
        (i, step) for i, link in enumerate(links) for step in range(steps) if step + link[3] < steps
    ]
    column: dict[object, int] = {"scale": 0}

    def at(*key: object) -> int:
        return column.setdefault(key, len(column))

    equal, most = Rows(), Rows()
    load: dict[tuple[int, int], list[int]] = defaultdict(list)
    for source, weight in zip(gpus, weights, strict=True):
        if not weight:
            continue
        for sink in gpus:
            if sink != source:
                _flow(topology, links, uses, steps, (source, sink), weight, at, equal)
        for use in uses:
            if collective == "all-to-all":
                load[use] += [at("f", source, sink, *use) for sink in gpus if sink != source]
                continue
            load[use].append(at("g", source, *use))
            for sink in gpus:
                if sink != source:
                    terms = [(at("f", source, sink, *use), 1.0), (at("g", source, *use), -1.0)]
                    most.add(terms, 0)
        if collective != "all-to-all":
            _forwarding(topology, links, uses, steps, source, at, most)
    for (i, _), columns in load.items():
        most.add([(one, 1.0) for one in columns], links[i][2])
    for group in topology.shared:
        members = [i for i, link in enumerate(links) if link[:2] in group.links]
        for step in range(steps):
            shared = [(one, 1.0) for i in members for one in load.get((i, step), ())]
            if shared:
                most.add(shared, float(group.bandwidth_gb_s))
    goal = np.zeros(len(column))
    goal[0] = -1
    found = linprog(
        goal,
        A_ub=most.matrix(len(column)),
        b_ub=most.right,
        A_eq=equal.matrix(len(column)),
        b_eq=equal.right,
        method="highs",
    )
    assert found.status == 0, found.message
    whole = len(gpus) if collective == "all-to-all" else sum(weights)
    return float(1000 * whole * found.x[0])


def _flow(topology, links, uses, steps, ends, weight, at, equal) -> None:  # type: ignore[no-untyped-def]
    """A flow of the weight from one GPU at the start to another at the end; GPUs store."""
    source, sink = ends
    net: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
    for i, step in uses:
        tail, head, _, latency = links[i]
        one = at("f", source, sink, i, step)
        net[tail, step].append((one, -1.0))
        net[head, step + latency].append((one, 1.0))
    for v in topology.compute:
        for step in range(steps - 1):
            one = at("stored", source, sink, v, step)
            net[v, step].append((one, -1.0))
            net[v, step + 1].append((one, 1.0))
    net[source, 0].append((0, float(weight)))
    net[sink, steps - 1].append((0, -float(weight)))
    for terms in net.values():
        equal.add(terms, 0)


def _forwarding(topology, links, uses, steps, source, at, most) -> None:  # type: ignore[no-untyped-def]
    """Switches send no more of a root's data in a step than arrives in it."""
    net: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
    for i, step in uses:
        tail, head, _, latency = links[i]
        one = at("g", source, i, step)
        if topology.nodes[tail].is_switch:
            net[tail, step].append((one, 1.0))
        if topology.nodes[head].is_switch:
            net[head, step + latency].append((one, -1.0))
    for terms in net.values():
        most.add(terms, 0)
