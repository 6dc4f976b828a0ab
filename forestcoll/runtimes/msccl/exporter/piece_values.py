"""Value numbering of pieces: equal names are equal sums.

Problem: a buffer can supply a transfer only if it holds exactly the sum that the transfer sends.
Input:   pieces in their order.
Output:  the name of each piece's value, by the rule of programs: its sender's own part, with the
         dependencies applied.
Cost:    for each piece, a sort of its dependencies.
Source:  ours. A name consists of a base and the set of its summands; a copy has the name of its
         original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forestcoll.errors import ExportError
from forestcoll.runtimes.data_layout import Layout
from forestcoll.runtimes.transfer_pieces import Piece

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
        """Name the initial value of a chunk at a GPU."""
        return NOTHING if self.layout.own(gpu, chunk) is None else -1 - gpu

    def applied(self, value: int, piece: int) -> int:
        """Name the value after a piece is received."""
        brought = self.brought[piece]
        if not self.pieces[piece].adds or value == NOTHING:
            return brought
        base, added = self._sums.get(value, (value, ()))
        parts = base, tuple(sorted((*added, brought)))
        name = self._names.setdefault(parts, len(self._names) + 1)
        self._sums[name] = parts
        return name


def values_of(pieces: Sequence[Piece], layout: Layout) -> Values:
    """Name the values that pieces carry.

    Raises
    ------
    ExportError
        If a GPU sends data that it does not have.
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
