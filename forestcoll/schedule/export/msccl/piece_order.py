"""One order of all pieces, in which what passes through a GPU follows at once.

Problem: threadblocks do one thing after another and wait for each other; no order of theirs may
         end in a cycle.
Input:   pieces, each after what it needs.
Output:  chains: in each, every piece is sent on from where the one before it has come to. All
         chains, piece by piece, are one order in which each still comes after what it needs.
Cost:    the pieces that meet at a GPU, for each of them.
Source:  ours. Threadblocks that do their parts of this order in this order cannot deadlock: of
         all transfers not yet done, the first can go on. Both its ends have done all before it, so
         has whomever it waits for, and its queue is empty, whatever its depth. (A step that passes
         on holds both transfers, next to each other in the order; it does so chunk by chunk, see
         :mod:`forestcoll.schedule.export.msccl.threadblock_actions`.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from forestcoll.schedule.export.msccl.transfer_pieces import Piece

__all__ = ["chained"]

_Place = tuple[int, int, int]
"""A GPU and the place of a piece."""


def chained(pieces: Sequence[Piece]) -> list[list[int]]:
    """Order pieces, by number, in chains."""
    sequence = _Sequence(pieces)
    return [sequence.chain(piece) for piece in range(len(pieces)) if not sequence.done[piece]]


class _Sequence:
    """What has been put in order so far."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self.done = [False] * len(pieces)
        self.open_needs = [len(piece.needs) for piece in pieces]
        self.needed_by = defaultdict[int, list[int]](list)
        self.leaving = defaultdict[_Place, list[int]](list)
        self.coming = defaultdict[_Place, list[int]](list)
        for number, piece in enumerate(pieces):
            self.leaving[(piece.tail, *piece.place)].append(number)
            self.coming[(piece.head, *piece.place)].append(number)
            for need in piece.needs:
                self.needed_by[need].append(number)
        self.hops = [1] * len(pieces)
        for number in reversed(range(len(pieces))):
            after = (self.hops[one] for one in self.needed_by[number])
            self.hops[number] += max(after, default=0)

    def chain(self, piece: int) -> list[int]:
        """Put a piece in order, and those that can pass it on at once, one after another."""
        chain = [piece]
        self._do(piece)
        while (following := self._following(chain[-1])) is not None:
            chain.append(following)
            self._do(following)
        return chain

    def _do(self, piece: int) -> None:
        self.done[piece] = True
        for one in self.needed_by[piece]:
            self.open_needs[one] -= 1

    def _following(self, piece: int) -> int | None:
        """Return the one that waits for this piece only and goes furthest."""
        ready = [
            one
            for one in self.needed_by[piece]
            if not self.done[one] and not self.open_needs[one] and self._may_come_early(one)
        ]
        return min(ready, key=lambda one: (-self.hops[one], one), default=None)

    def _may_come_early(self, piece: int) -> bool:
        """Whether nothing at its head has to happen before it comes in."""
        there = (self.pieces[piece].head, *self.pieces[piece].place)
        for one in self._open_before(piece, self.leaving[there]):
            if piece not in self.pieces[one].needs:
                return False
        for one in self._open_before(piece, self.coming[there]):
            if not (self.pieces[one].adds and self.pieces[piece].adds):
                return False
        return True

    def _open_before(self, piece: int, others: Iterable[int]) -> Iterable[int]:
        return (one for one in others if one < piece and not self.done[one])
