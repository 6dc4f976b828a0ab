"""What pieces bring, by name: equal names are equal sums.

Problem: a buffer holds what a transfer is to send only if the same has come together there.
Input:   pieces in their order.
Output:  of each piece the name of what it brings, by the rule of programs: its sender's own part,
         to which what it needs is applied.
Cost:    for each piece, its needs sorted.
Source:  ours. A name is that of a base and of what was added to it, in any order; a copy bears the
         name of what it copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forestcoll.errors import ExportError
from forestcoll.schedule.export.msccl.data_layout import Layout
from forestcoll.schedule.export.msccl.transfer_pieces import Piece

__all__ = ["NOTHING", "Values", "values_of"]

NOTHING = 0
"""What a GPU has of a chunk of which it has no part."""


@dataclass(slots=True)
class Values:
    """Names of sums.

    Attributes
    ----------
    brought : list of int
        By piece.
    """

    layout: Layout
    pieces: Sequence[Piece]
    brought: list[int] = field(default_factory=list)
    _names: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict)
    _sums: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)

    def own(self, gpu: int, chunk: int) -> int:
        """Name what a GPU has of a chunk at first."""
        return NOTHING if self.layout.own(gpu, chunk) is None else -1 - gpu

    def applied(self, value: int, piece: int) -> int:
        """Name what becomes of a value when a piece comes in."""
        brought = self.brought[piece]
        if not self.pieces[piece].adds or value == NOTHING:
            return brought
        base, added = self._sums.get(value, (value, ()))
        parts = base, tuple(sorted((*added, brought)))
        name = self._names.setdefault(parts, len(self._names) + 1)
        self._sums[name] = parts
        return name


def values_of(pieces: Sequence[Piece], layout: Layout) -> Values:
    """Name what pieces bring.

    Raises
    ------
    ExportError
        If a GPU sends what it does not have.
    """
    values = Values(layout, pieces)
    for piece in pieces:
        value = values.own(piece.tail, piece.chunk)
        for need in piece.needs:
            value = values.applied(value, need)
        if value == NOTHING:
            raise ExportError(
                f"rank {piece.tail} sends what it does not have, of chunk {piece.chunk}; verify "
                f"the schedule first"
            )
        values.brought.append(value)
    return values
