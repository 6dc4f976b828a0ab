"""Proof of sums in step schedules, by tracking every contribution at every rank.

Part of :func:`forestcoll.schedule.verify`. A rank holds a set of contributions to every unit of a
chunk, as bits. A transfer takes its sender's set when it starts. Added sets must be disjoint from
the receiver's set, so that nothing is counted twice. The check is exact for all transfers and
sums; it processes a block of units at a time to bound its memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints, first
from forestcoll.schedule.verification.naming import fail, gpu_name
from forestcoll.schedule.verification.steps.pieces import Pieces
from forestcoll.schedule.verification.steps.transfers import Rows, send_name, too_few

__all__ = ["check_contributions"]

_BLOCK_BYTES = 2**26  # bytes of contributions and moves processed together
_MOVE_BYTES = 100  # memory of a transfer of an atom besides its bits

_Bits = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Moves:
    """Effects of some transfers on some atoms: units that all transfers treat alike.

    Parameters
    ----------
    send : int64 array
        The transfer.
    atom : int64 array
        Counted from the first of the block.
    """

    send: npt.NDArray[np.int64]
    atom: npt.NDArray[np.int64]


def check_contributions(rows: Rows) -> None:
    """Check that every contribution reaches the place of its sum exactly once.

    All ends are GPUs.
    """
    _check_senders(rows)
    chunks, gpus = np.arange(len(rows.size), dtype=np.int64), rows.gpus
    marks = np.concatenate([rows.chunk, chunks])
    pieces = Pieces.of(
        marks,
        np.concatenate([rows.first, np.zeros_like(chunks)]),
        np.concatenate([rows.end, rows.size]),
        rows.span,
    )
    of_chunk = pieces.start // rows.span  # of the segments between chunks nobody asks
    low, high = pieces.low[: len(rows.chunk)], pieces.high[: len(rows.chunk)]
    atoms = np.flatnonzero(pieces.depth)
    bits = (gpus + 7) // 8
    held = np.cumsum(gpus * bits + pieces.depth[atoms] * (bits + _MOVE_BYTES))
    begin = 0
    while begin < len(atoms):
        before = int(held[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(held, before + _BLOCK_BYTES, side="right")))
        some = atoms[begin:end]
        start, stop = int(some[0]), int(some[-1]) + 1
        here = np.flatnonzero((low < stop) & (high > start))
        from_ = np.maximum(low[here], start)
        count = np.minimum(high[here], stop) - from_
        atom = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        moves = _Moves(np.repeat(here, count), atom + np.repeat(from_ - start, count))
        _check_block(rows, moves, some - start, of_chunk[some], stop - start)
        begin = end


def _check_senders(rows: Rows) -> None:
    """Every GPU sends something of every chunk, but the root; of what does not, no sum knows."""
    free = rows.schedule.collective == "allreduce"
    cells = rows.at_tail(np.arange(len(rows.chunk)))
    if rows.gpus == 1 or (chunk := too_few(rows, cells, rows.gpus - (not free))) is None:
        return
    senders = cells[cells // rows.ends == chunk] % rows.ends
    root = -1 if free else int(rows.schedule.chunks.root[chunk])
    silent = np.setdiff1d(np.arange(rows.gpus), np.append(senders, root))
    if len(silent):
        missing = int(silent[0])
        at = root if root >= 0 else int(missing == 0)
        fail(
            f"chunk {chunk}: the sum at {gpu_name(rows.schedule, at)} lacks the contribution of "
            f"{gpu_name(rows.schedule, missing)}"
        )


def _check_block(rows: Rows, moves: _Moves, atoms: Ints, chunk: Ints, size: int) -> None:
    """Follow the contributions to some atoms, ``part[atom, rank]`` a set of ranks as bits."""
    own: _Bits = np.packbits(np.eye(rows.gpus, dtype=np.bool_), axis=1)
    part = np.tile(own, (size, 1, 1))
    coming = np.zeros((len(moves.send), own.shape[1]), dtype=np.uint8)
    start, finish = rows.start[moves.send], rows.finish[moves.send]
    leaves, comes = np.argsort(start, kind="stable"), np.argsort(finish, kind="stable")
    times = np.unique(np.concatenate([start, finish]))
    left = np.append(np.searchsorted(start[leaves], times), len(start)).tolist()
    come = np.append(np.searchsorted(finish[comes], times), len(finish)).tolist()
    for now in range(len(times)):
        there = comes[come[now] : come[now + 1]]
        _arrive(rows, moves.send[there], moves.atom[there], coming[there], part)
        goes = leaves[left[now] : left[now + 1]]
        coming[goes] = part[moves.atom[goes], rows.tail[moves.send[goes]]]
    _check_complete(rows, part[atoms], chunk)


def _check_complete(rows: Rows, part: _Bits, chunk: Ints) -> None:
    schedule, gpus = rows.schedule, rows.gpus
    complete = (part == np.packbits(np.ones(gpus, dtype=np.bool_))).all(axis=2)
    if schedule.collective != "allreduce":
        due = np.ones_like(complete)
        due[np.arange(len(chunk)), schedule.chunks.root[chunk]] = False
        complete |= due
    if (at := first(~complete)) is not None:
        atom, rank = divmod(at, gpus)
        lacks = ~np.unpackbits(part[atom, rank], count=gpus).astype(np.bool_)
        fail(
            f"chunk {chunk[atom]}: the sum at {gpu_name(schedule, rank)} lacks the contribution of "
            f"{gpu_name(schedule, int(lacks.argmax()))}"
        )


def _arrive(rows: Rows, sends: Ints, atom: Ints, coming: _Bits, part: _Bits) -> None:
    """Apply all arrivals of one moment; their order must not matter."""
    schedule, head = rows.schedule, rows.head[sends]
    reduce = schedule.sends.reduce[sends]
    cell = atom * part.shape[1] + head
    order = np.lexsort((reduce, cell))  # what replaces comes first
    fresh = np.diff(cell[order], prepend=-1) > 0
    start = np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))
    turn = np.arange(len(order)) - start
    if (at := first((turn > 0) & ~reduce[order[start]])) is not None:
        name = send_name(schedule, int(sends[order[at]]))
        fail(f"{name}: another transfer that arrives with it replaces the same chunk there")
    for now in range(int(turn.max(initial=-1)) + 1):
        at = order[turn == now]
        where, adds = (atom[at], head[at]), reduce[at]
        twice = (part[where] & coming[at]).any(axis=1) & adds
        if (wrong := first(twice)) is not None:
            both = part[where][wrong] & coming[at[wrong]]
            rank = int(np.unpackbits(both, count=part.shape[1]).argmax())
            fail(
                f"{send_name(schedule, int(sends[at[wrong]]))}: the contribution of "
                f"{gpu_name(schedule, rank)} is counted twice"
            )
        part[where] = coming[at] | np.where(adds[:, None], part[where], 0).astype(np.uint8)
