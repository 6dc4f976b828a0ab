"""Deadlocks of an MSCCL++ plan: cycles of waits, and waits that nothing ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from forestcoll.runtimes.interpretation.cells import Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.interpretation.precedence import Edges, dead_waits
from forestcoll.runtimes.mscclpp.interpreter.nodes import PlanNodes
from forestcoll.runtimes.mscclpp.interpreter.synchronisation import Why

__all__ = ["find_deadlocks"]

_SHOWN = 8
_OWN = (Why.PROGRAM, Why.THREAD)


def find_deadlocks(nodes: PlanNodes, edges: Edges, levels: Ints) -> Iterator[Finding]:
    """Report each cycle of waits, and each wait that nothing ends, once."""
    left = np.flatnonzero(levels < 0).tolist()
    deadlocked = _lines(nodes).intersection(np.array(nodes.block)[left].tolist())
    for way in dead_waits(edges, levels, {node: node for node in left}, lambda node: node):
        yield _finding(nodes, edges, way, len(deadlocked))


def _lines(nodes: PlanNodes) -> set[int]:
    """Return the lines of threadblocks: those with nops, but for launches and port channels."""
    launches = {nodes.block[node] for node in nodes.end}
    loose = {block + 1 for block in launches}
    return set(nodes.block) - launches - loose - nodes.queues


def _finding(
    nodes: PlanNodes, edges: Edges, way: Sequence[tuple[int, int]], deadlocked: int
) -> Finding:
    waits = [(node, edge) for node, edge in way if edges.reason[edge] not in _OWN]
    words = [
        f"{nodes.name(node)} waits {_reason(nodes, edges, edge)}" for node, edge in waits[:_SHOWN]
    ]
    if len(waits) > _SHOWN:
        words.append(f"and {len(waits) - _SHOWN} more")
    cycle = "in a cycle, " if edges.tail[way[0][1]] >= 0 else ""
    message = f"{deadlocked} threadblocks are deadlocked: {cycle}{'; '.join(words)}"
    return Finding.at(Kind.DEADLOCK, message, *(nodes.place(node) for node, _ in waits))


def _reason(nodes: PlanNodes, edges: Edges, edge: int) -> str:
    tail, why = int(edges.tail[edge]), Why(edges.reason[edge])
    if why is Why.BARRIER:
        other = nodes.name(tail) if tail >= 0 else "threadblocks that never come"
        return f"at its barrier for {other}"
    what = {Why.SEMAPHORE: "release", Why.PACKET: "packet"}.get(why, "signal")
    return f"for {nodes.name(tail)}" if tail >= 0 else f"for a {what} that never comes"
