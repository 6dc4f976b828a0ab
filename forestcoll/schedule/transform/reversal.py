"""Reversal: reductions from schedules on the network with every link reversed, and vice versa.

Problem: sum up the data of all GPUs at roots, given a distribution from them.
Input:   a forest, or a step schedule, on the reversed network.
Output:  the same trees on the network itself, with the data running from child to parent; or the
         mirror image of the steps: the last one comes first, receivers send.
Cost:    linear in the links and the hops of the paths; a sort of the transfers.
Source:  ForestColl section 5.7; Zhao et al. (NSDI 2025), sections 4 and 6: a reduce-scatter is an
         allgather, backwards in time, on the network with every link reversed.

A clock is mirrored too, with one exception: bytes leave before they arrive, in either direction of
time. Forwards, a link is busy once the links before it on the path have passed the bytes on;
backwards, once the links behind it have. This shifts the load of each link by the link's latency
and by the slack of the transfer. If the paths of each transfer have one latency, and it ends when
its last byte arrives, all rates on a link shift by the same time. Otherwise rates may overlap, and
data that passes a switch as it comes in may pass too late. A switch that gets data without sending
it would, backwards, send data that it did not get. ``verify`` finds all three faults.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from forestcoll.errors import UnsupportedError
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.factored import FactoredForest, Links
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["reversed_links", "reversed_paths", "reversed_routes", "time_reversed", "transposed"]


F = TypeVar("F", Forest, FactoredForest)


def transposed(forest: F, topology: Topology) -> F:
    """Convert a forest on the reversed network to a reduction on the network itself.

    Parameters
    ----------
    forest : Forest or FactoredForest
        An allgather or broadcast on ``topology.reversed()``. Its routes may still be lazy.

    Returns
    -------
    Forest or FactoredForest
        The same trees; data, routes and links run from child to parent.
    """
    best = forest.optimum
    changes: dict[str, Any] = {
        "topology": topology,
        "routes": Routes.later(lambda: reversed_routes(forest.routes)),
        "optimum": None if best is None else _reversed_claim(best, topology),
        "reduction": True,
    }
    if isinstance(forest, FactoredForest):
        changes["links"] = reversed_links(forest.links)
    else:
        changes["plan"] = None  # offsets of links on their paths differ: times are found anew
    return replace(forest, **changes)


def _reversed_claim(best: Optimum, topology: Topology) -> Optimum:
    """Return the claim and its prices for the reduction: data enters the cuts, not leaves them."""
    prices = best.prices
    if prices is not None:
        prices = replace(prices, topology=topology, reduction=True)
    return replace(best, topology=topology, reduction=True, prices=prices)


def reversed_links(links: Links) -> Links:
    """Reverse every logical link."""
    order = np.lexsort((links.tail, links.head))
    return Links(links.head[order], links.tail[order], links.load[order])


def reversed_routes(routes: Routes) -> Routes:
    """Reverse every logical link and its paths."""
    order = np.lexsort((routes.tail, routes.head))
    paths, first_path = _rows(routes.first_path, order)
    hops, first_hop = _rows(routes.first_hop, paths)
    # Rows keep their order; within a row, indices count from its other end.
    ends = np.repeat(first_hop[:-1] + first_hop[1:] - 1, np.diff(first_hop))
    backwards = hops[ends - np.arange(len(hops))]
    return Routes(
        tail=routes.head[order],
        head=routes.tail[order],
        first_path=first_path,
        multiplicity=routes.multiplicity[paths],
        first_hop=first_hop,
        hop=routes.hop[backwards],
    )


def reversed_paths(routes: Routes) -> npt.NDArray[np.int32]:
    """Return the place of each path among those of :func:`reversed_routes`."""
    paths, _ = _rows(routes.first_path, np.lexsort((routes.tail, routes.head)))
    place = np.empty(len(paths), dtype=np.int32)
    place[paths] = np.arange(len(paths), dtype=np.int32)
    return place


def _rows(
    first: npt.NDArray[np.int64], order: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Reorder compressed rows: return the entries of each, and the new starts of rows."""
    lengths = np.diff(first)[order]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    entries = np.arange(starts[-1]) + np.repeat(first[:-1][order] - starts[:-1], lengths)
    return entries.astype(np.int64), starts


_MIRRORED = {
    "allgather": "reduce-scatter",
    "broadcast": "reduce",
    "reduce-scatter": "allgather",
    "reduce": "broadcast",
    "all-to-all": "all-to-all",
}


def time_reversed(schedule: StepSchedule, topology: Topology) -> StepSchedule:
    """Convert a schedule on the reversed network to its mirror image on the network.

    An allgather becomes a reduce-scatter, a broadcast a reduce, and vice versa; copies become
    additions. In an all-to-all, chunks go from their targets to their roots.

    Parameters
    ----------
    schedule : StepSchedule
        A schedule on ``topology.reversed()``.

    Raises
    ------
    UnsupportedError
        If a GPU gets a copy of data that it has: backwards, it would be counted twice. If a GPU
        sends a sum twice, or the root sends one: backwards, it would be distributed twice. For an
        allreduce, which is both.
    """
    if schedule.collective not in _MIRRORED:
        raise UnsupportedError(
            f"unsupported: an {schedule.collective} is not to be turned round in time; turn its "
            f"phases round and put them in turn"
        )
    _check_once(schedule)
    collective = _MIRRORED[schedule.collective]
    sends, chunks, clock = schedule.sends, schedule.chunks, schedule.clock
    step = np.int32(schedule.num_steps - 1) - sends.step
    if clock is not None:
        clock = _backwards(clock)
        step = np.unique(clock.start, return_inverse=True)[1].astype(np.int32)
    first = schedule.intervals.first
    order = np.lexsort((first, sends.tail, sends.head, sends.chunk, step))
    rows = sends.taken(order)
    path = rows.path
    if path is not None:
        path = np.append(reversed_paths(schedule.routes), np.int32(-1))[path].astype(np.int32)
    if collective == "all-to-all":
        chunks = Chunks(chunks.size, chunks.whole, chunks.target, chunks.root)
    adds = np.full(len(order), collective in ("reduce-scatter", "reduce"))
    return StepSchedule(
        topology=topology,
        method=schedule.method,
        collective=collective,
        chunks=chunks,
        sends=Sends(step[order], rows.chunk, rows.head, rows.tail, adds, rows.interval, path),
        routes=reversed_routes(schedule.routes),
        clock=None if clock is None else clock.taken(order),
        weights=schedule.weights,
    )


def _check_once(schedule: StepSchedule) -> None:
    """Check that every GPU gets a unit at most once, and the root does not get it.

    Sums and the chunks of an all-to-all are copied backwards: every GPU must send them at most
    once, and the GPU where they end must not send them.
    """
    sends, interval, nodes = schedule.sends, schedule.intervals, len(schedule.topology.nodes)
    aimed = schedule.collective == "all-to-all"
    at, what = (sends.tail, "sends") if schedule.reduction or aimed else (sends.head, "gets")
    last = schedule.chunks.target if aimed else schedule.chunks.root
    gpus = np.flatnonzero(at < schedule.topology.num_compute)
    cell = sends.chunk[gpus].astype(np.int64) * nodes + at[gpus]
    first = interval.first[gpus]
    order = np.lexsort((first, cell))
    cell, first, end = cell[order], first[order], (first + interval.amount[gpus])[order]
    again = bool(((cell[1:] == cell[:-1]) & (first[1:] < end[:-1])).any())
    if again or (last[sends.chunk[gpus]] == at[gpus]).any():
        fault = "what it has" if what == "gets" else "what it has sent, or what stays with it"
        raise UnsupportedError(
            f"unsupported: a GPU {what} {fault}; backwards it would be counted, or come, twice"
        )


def _backwards(clock: Clock) -> Clock:
    """Mirror the times; bytes leave for as long as before."""
    finish = clock.end.max(initial=0)
    start = finish - clock.end
    left = None if clock.left is None else start + (clock.left - clock.start)
    return replace(clock, start=start, end=finish - clock.start, left=left)
