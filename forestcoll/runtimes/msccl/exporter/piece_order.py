"""Deadlock-free order of all pieces, with chains of pieces that GPUs forward.

Problem: threadblocks work in sequence and wait for each other; their waits must not form a cycle.
Input:   pieces, each after its dependencies.
Output:  chains: each piece starts at the GPU where the previous one ended. All chains together are
         one order, in which each piece still comes after its dependencies.
Cost:    for each piece, the pieces that meet at its GPU.
Source:  ours. Threadblocks that follow this order cannot deadlock: the first transfer that is not
         done can always proceed. Both its ends and all threadblocks that it waits for have done
         everything before it, and its queue is empty, whatever its depth. (A forwarding step holds
         two transfers that are adjacent in the order; it works chunk by chunk, see
         :mod:`forestcoll.runtimes.msccl.exporter.threadblock_actions`.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from forestcoll.runtimes.transfer_pieces import Piece

__all__ = ["chained"]

_Place = tuple[int, int, int]
"""A GPU and the place of a piece."""


def chained(pieces: Sequence[Piece]) -> list[list[int]]:
    """Return the order of pieces, by number, as chains."""
    sequence = _Sequence(pieces)
    return [sequence.chain(piece) for piece in range(len(pieces)) if not sequence.done[piece]]


class _Sequence:
    """The chains so far."""

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
        """Append a piece, then repeatedly a piece that can forward it immediately."""
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
        """Return the piece that depends on this one only and leads furthest."""
        ready = [
            one
            for one in self.needed_by[piece]
            if not self.done[one] and not self.open_needs[one] and self._may_come_early(one)
        ]
        return min(ready, key=lambda one: (-self.hops[one], one), default=None)

    def _may_come_early(self, piece: int) -> bool:
        """Whether nothing at its receiver must happen before it arrives."""
        there = (self.pieces[piece].head, *self.pieces[piece].place)
        for one in self._open_before(piece, self.leaving[there]):
            if piece not in self.pieces[one].needs:
                return False
        for one in self._open_before(piece, self.coming[there]):
            # Sums commute, so two of them may swap; a copy would overwrite a sum, or be added to.
            if not (self.pieces[one].adds and self.pieces[piece].adds):
                return False
        return True

    def _open_before(self, piece: int, others: Iterable[int]) -> Iterable[int]:
        return (one for one in others if one < piece and not self.done[one])
