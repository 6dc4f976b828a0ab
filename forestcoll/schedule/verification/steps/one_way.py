"""Proof of sums in step schedules, where every contribution has a single path to its sum.

Part of :func:`forestcoll.schedule.verify`. The condition, for every unit of a chunk: each GPU but
one sends its sum once, and only after everything that is added to it has come in. Then time
increases along the path of each contribution, and all paths end at the one GPU that sends nothing.
Each contribution is counted there exactly once. The condition holds for trees of sums however
chunks are cut, and its check takes time and memory that grow with the transfers. It is sufficient,
not necessary: a GPU may send twice what is used once. So
:mod:`forestcoll.schedule.verification.steps.contributions` decides the schedules that fail here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints, first
from forestcoll.schedule.verification.naming import end_name, gpu_name
from forestcoll.schedule.verification.steps.copies import Held
from forestcoll.schedule.verification.steps.pieces import LATEST, Pieces, extreme
from forestcoll.schedule.verification.steps.transfers import Rows, keeping_ends, send_name, too_few

__all__ = ["held_sums", "problem_of_sums"]

_Times = npt.NDArray[np.int64]


def problem_of_sums(rows: Rows, sums: Ints) -> str | None:
    """Return why some transfers do not bring every sum together; None if they do.

    In an allreduce each unit may be summed up at a GPU of its own; in a reduction it is the root.
    Other checks cover switches that pass sums on at once.
    """
    keeps = keeping_ends(rows.schedule.topology)
    out, into = sums[keeps[rows.tail[sums]]], sums[keeps[rows.head[sums]]]
    sent = Pieces.of(rows.at_tail(out), rows.first[out], rows.end[out], rows.span)
    if (sent.depth > 1).any():
        twice = np.concatenate([[0], np.cumsum(sent.depth > 1)])
        send = int(out[np.argmax(twice[sent.high] > twice[sent.low])])
        name = end_name(rows.schedule, int(rows.tail[send]))
        return f"{send_name(rows.schedule, send)}: {name} sends its sum twice"
    if (problem := _problem_of_places(rows, out, sent)) is not None:
        return problem
    return _problem_of_order(rows, out, into, sent)


def _problem_of_places(rows: Rows, out: Ints, sent: Pieces) -> str | None:
    """Of every unit all GPUs send their sum but one: the root, or in an allreduce any."""
    chunks, schedule = np.arange(len(rows.size), dtype=np.int64), rows.schedule
    if schedule.collective == "allreduce":
        gpus = out[rows.tail[out] < rows.gpus]
        senders = Pieces.of(rows.chunk[gpus], rows.first[gpus], rows.end[gpus], rows.span)
        low, high = senders.met(chunks, np.zeros_like(chunks), rows.size)
        for kind in ("least", "most"):
            found = extreme(senders.depth, low, high, kind) if len(gpus) else np.zeros_like(chunks)
            if (wrong := first(found != rows.gpus - 1)) is not None:
                return (
                    f"chunk {wrong}: {found[wrong]} of {rows.gpus} GPUs send their sum on; it must "
                    f"be all but one"
                )
        return None
    if (short := too_few(rows, rows.at_tail(out), rows.gpus - 1)) is not None:
        return f"chunk {short}: not all GPUs send their part, so its sum lacks contributions"
    chunk, gpu = np.repeat(chunks, rows.gpus), np.tile(np.arange(rows.gpus), len(chunks))
    root = schedule.chunks.root.astype(np.int64)
    low, high = sent.met(chunk * rows.ends + gpu, np.zeros_like(chunk), rows.size[chunk])
    silent = ~sent.covered(low, high)
    if (at := first(silent & (gpu != root[chunk]))) is not None:
        return (
            f"chunk {chunk[at]}: the sum at {gpu_name(schedule, int(root[chunk[at]]))} lacks the "
            f"contribution of {gpu_name(schedule, int(gpu[at]))}"
        )
    if (at := first(rows.tail[out] == root[rows.chunk[out]])) is not None:
        return f"{send_name(schedule, int(out[at]))}: the root sends its sum on"
    return None


def _problem_of_order(rows: Rows, out: Ints, into: Ints, sent: Pieces) -> str | None:
    """Nothing is added to a sum after it is sent; switches send on what comes in, and only that."""
    departs = sent.spread(rows.start[out], "least", LATEST)
    low, high = sent.met(rows.at_head(into), rows.first[into], rows.end[into])
    late = extreme(departs, low, high, "least") < rows.finish[into]
    if (at := first(late)) is not None:
        send = int(into[at])
        name = end_name(rows.schedule, int(rows.head[send]))
        return f"{send_name(rows.schedule, send)}: {name} sends its sum before this is added to it"
    lost = (rows.head[into] >= rows.gpus) & ~sent.covered(low, high)
    if (at := first(lost)) is not None:
        send = int(into[at])
        name = end_name(rows.schedule, int(rows.head[send]))
        return f"{send_name(rows.schedule, send)}: {name} does not send it on"
    switched = out[rows.tail[out] >= rows.gpus]
    come = Pieces.of(rows.at_head(into), rows.first[into], rows.end[into], rows.span)
    low, high = come.met(rows.at_tail(switched), rows.first[switched], rows.end[switched])
    if (at := first(~come.covered(low, high))) is not None:
        send = int(switched[at])
        return f"{send_name(rows.schedule, send)}: nothing has come in for it to add up"
    return None


def held_sums(rows: Rows, sums: Ints) -> Held:
    """Return where complete sums are, and since when, once they were proved.

    The units that a GPU does not send on are complete with it when all that is added has come in.
    """
    out = sums[rows.tail[sums] < rows.gpus]
    into = sums[rows.head[sums] < rows.gpus]
    cell, low, high = _gaps(rows, out)
    added = Pieces.of(rows.at_head(into), rows.first[into], rows.end[into], rows.span)
    since = added.spread(rows.finish[into], "most", 0)
    from_, to = added.met(cell, low, high)
    many = to - from_
    which = np.repeat(np.arange(len(cell)), many)
    segment = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many) + from_[which]
    base = cell[which] * rows.span
    begins = np.maximum(added.start[segment] - base, low[which])
    stops = np.append(added.start[1:], LATEST)[segment]
    return Held(
        chunk=cell[which] // rows.ends,
        at=cell[which] % rows.ends,
        first=begins,
        end=np.minimum(stops - base, high[which]),
        since=since[segment],
    )


def _gaps(rows: Rows, out: Ints) -> tuple[_Times, _Times, _Times]:
    """Return what of the chunks GPUs do not send on: cells, and from where to where."""
    chunk = np.repeat(np.arange(len(rows.size), dtype=np.int64), rows.gpus)
    gpu = np.tile(np.arange(rows.gpus, dtype=np.int64), len(rows.size))
    every = chunk * rows.ends + gpu
    nothing = np.zeros_like(every)
    # What each cell sends, between two markers of no length at its ends.
    cell = np.concatenate([every, rows.at_tail(out), every])
    low = np.concatenate([nothing, rows.first[out], rows.size[chunk]])
    high = np.concatenate([nothing, rows.end[out], rows.size[chunk]])
    order = np.lexsort((high, low, cell))
    cell, low, high = cell[order], low[order], high[order]
    here = np.flatnonzero((cell[1:] == cell[:-1]) & (low[1:] > high[:-1]))
    return cell[here], high[here], low[here + 1]
