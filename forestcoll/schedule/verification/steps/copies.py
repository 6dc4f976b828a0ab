"""Proof of copies in step schedules: senders have the data, receivers get it exactly once.

Part of :func:`forestcoll.schedule.verify`. Each receiver may cut its chunks differently, so time
and memory grow with the transfers, not with chunks times GPUs times units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints, first
from forestcoll.schedule.verification.naming import end_name, fail, gpu_name
from forestcoll.schedule.verification.steps.pieces import LATEST, Pieces, extreme
from forestcoll.schedule.verification.steps.switches import check_multicast_switches
from forestcoll.schedule.verification.steps.transfers import Rows, keeping_ends, send_name, too_few

__all__ = ["Held", "check_copies", "held_at_roots"]

_Times = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Held:
    """Intervals of chunks that ends have without a copy, and the times since when.

    Parameters
    ----------
    chunk, at, first, end, since : int64 arrays
    """

    chunk: _Times
    at: _Times
    first: _Times
    end: _Times
    since: _Times


def held_at_roots(rows: Rows) -> Held:
    """Return the initial data: every root has its chunk from the beginning."""
    chunks = np.arange(len(rows.size), dtype=np.int64)
    nothing = np.zeros(len(chunks), dtype=np.int64)
    root = rows.schedule.chunks.root.astype(np.int64)
    return Held(chunks, root, nothing, rows.size, nothing)


def check_copies(rows: Rows, copies: Ints, held: Held) -> None:
    """Prove of some transfers that their senders have what they send, and all is delivered.

    Parameters
    ----------
    rows : Rows
    copies : int array
        Which transfers are copies.
    held : Held
        Where what is copied comes from.
    """
    keeps = keeping_ends(rows.schedule.topology)
    into, out = copies[keeps[rows.head[copies]]], copies[keeps[rows.tail[copies]]]
    pieces = Pieces.of(
        np.concatenate([rows.at_head(into), held.chunk * rows.ends + held.at]),
        np.concatenate([rows.first[into], held.first]),
        np.concatenate([rows.end[into], held.end]),
        rows.span,
    )
    _check_once(rows, into, pieces)
    since = pieces.spread(np.concatenate([rows.finish[into], held.since]), "most", LATEST)
    low, high = pieces.met(rows.at_tail(out), rows.first[out], rows.end[out])
    there = extreme(since, low, high, "most") <= rows.start[out]
    if (at := first(~there)) is not None:
        _fail_unsendable(rows, int(out[at]))
    check_multicast_switches(
        rows, copies[~keeps[rows.tail[copies]]], copies[~keeps[rows.head[copies]]]
    )
    _check_due(rows, pieces, np.concatenate([rows.at_head(into), held.chunk * rows.ends + held.at]))


def _check_once(rows: Rows, into: Ints, pieces: Pieces) -> None:
    """Check that no storing end gets data twice, or data that it has."""
    twice = pieces.depth > 1
    if not twice.any():
        return
    many = np.concatenate([[0], np.cumsum(twice)])
    low, high = pieces.low[: len(into)], pieces.high[: len(into)]
    again = np.flatnonzero(many[high] > many[low])
    later = again[np.argmax(rows.finish[into[again]])]
    send = int(into[later])
    fail(
        f"{send_name(rows.schedule, send)}: {end_name(rows.schedule, int(rows.head[send]))} has "
        f"that already or gets it twice"
    )


def _fail_unsendable(rows: Rows, send: int) -> None:
    when = "when the step begins" if rows.schedule.clock is None else "by then"
    fail(f"{send_name(rows.schedule, send)}: the sender does not have the chunk {when}")


def _check_due(rows: Rows, pieces: Pieces, cells: Ints) -> None:
    """Check that every chunk reaches all GPUs or its target; ``cells`` are the places reached."""
    chunks = rows.schedule.chunks
    which = np.arange(len(rows.size), dtype=np.int64)
    demand = rows.schedule.demand
    everywhere = rows.schedule.collective != "all-to-all"
    if everywhere and (chunk := too_few(rows, cells, rows.gpus)) is not None:
        there = cells[cells // rows.ends == chunk] % rows.ends
        missing = int(np.setdiff1d(np.arange(rows.gpus), there)[0])
        fail(f"chunk {chunk} never gets to {gpu_name(rows.schedule, missing)}")
    at, gpu = which, chunks.target.astype(np.int64)
    if everywhere:
        at, gpu = np.repeat(which, rows.gpus), np.tile(np.arange(rows.gpus), len(which))
    if demand is not None:
        at, gpu = np.repeat(which, np.diff(demand.first_target)), demand.target.astype(np.int64)
    low, high = pieces.met(at * rows.ends + gpu, np.zeros_like(at), rows.size[at])
    if (lacking := first(~pieces.covered(low, high))) is not None:
        some = "" if rows.schedule.sends.interval is None else ", or not all of it"
        name = gpu_name(rows.schedule, int(gpu[lacking]))
        fail(f"chunk {at[lacking]} never gets to {name}{some}")
