"""Deadlocks of an MSCCL program: cycles of waits, and waits that nothing ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from forestcoll.runtimes.interpretation.cells import Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.interpretation.precedence import Edges, Reason, dead_waits
from forestcoll.runtimes.msccl.interpreter.actions import Actions

__all__ = ["find_deadlocks"]

_SHOWN = 8


def find_deadlocks(actions: Actions, edges: Edges, levels: Ints) -> Iterator[Finding]:
    """Report each cycle of waits, and each wait that nothing ends, once.

    Every deadlocked threadblock stands at one action, which waits for something that never comes,
    or for another deadlocked threadblock.
    """
    heads = _stuck_at(actions, levels)
    for way in dead_waits(
        edges, levels, heads, lambda action: int(actions.block[action % actions.each])
    ):
        yield _finding(actions, edges, way, len(heads))


def _stuck_at(actions: Actions, levels: Ints) -> dict[int, int]:
    """Return the first action that never runs, for each threadblock that has one."""
    left = np.flatnonzero(levels < 0)
    blocks, first = np.unique(actions.block[left % actions.each], return_index=True)
    return dict(zip(blocks.tolist(), left[first].tolist(), strict=True))


def _finding(
    actions: Actions, edges: Edges, way: Sequence[tuple[int, int]], deadlocked: int
) -> Finding:
    steps = [actions.step_of(action) for action, _ in way]
    words = "; ".join(
        f"{actions.steps.name(step)} waits {_reason(actions, edges, action, edge)}"
        for step, (action, edge) in list(zip(steps, way, strict=True))[:_SHOWN]
    )
    words += f"; and {len(way) - _SHOWN} more" if len(way) > _SHOWN else ""
    cycle = "in a cycle, " if edges.tail[way[0][1]] >= 0 else ""
    places = [actions.steps.place(step) for step in steps]
    where = "" if not actions.slice_of(way[0][0]) else " in a later slice"
    message = f"{deadlocked} threadblocks are deadlocked{where}: {cycle}{words}"
    return Finding.at(Kind.DEADLOCK, message, *places)


def _reason(actions: Actions, edges: Edges, action: int, edge: int) -> str:
    tail, reason = int(edges.tail[edge]), edges.reason[edge]
    steps = actions.steps
    block = steps.block[actions.step_of(action)]
    other = steps.name(actions.step_of(tail)) if tail >= 0 else ""
    if reason == Reason.DATA:
        peer, channel = steps.receive[block], steps.channel[block]
        sent = f", {other}" if other else ", which sends no more"
        return f"for data of GPU {peer} over channel {channel}{sent}"
    if reason == Reason.ROOM:
        peer, channel = steps.send[block], steps.channel[block]
        freed = f", {other}" if other else ", which receives no more"
        return f"for room on the way to GPU {peer} over channel {channel}{freed}"
    return f"for {other}" if other else "for a step that sets no flag"
