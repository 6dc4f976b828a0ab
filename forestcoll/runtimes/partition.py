"""Partition of data into whole elements, as a program cuts it into units.

Problem: the chunks of a program are fractions of the data; the data has whole elements.
Input:   a program; the number of elements.
Output:  the first and last element of each interval of each chunk.
Cost:    a sort of the chunks, then one product an interval.
Source:  ours. Chunks are ordered by root, then by target. The border after u of ``whole`` units is
         at element floor(u elements / whole). So intervals that touch in units touch in elements,
         on every rank.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from forestcoll.schedule.program import Program

__all__ = ["Partition"]


class Partition:
    """Positions of a program's intervals in data of a given number of elements.

    Parameters
    ----------
    elements : int
        Number of elements, as :class:`forestcoll.schedule.sends.Chunks` defines it.

    Examples
    --------
    >>> import forestcoll
    >>> program = forestcoll.compile_program(forestcoll.generate("ring:nodes=3"))
    >>> cut = Partition(program, elements=10)
    >>> [cut.length(chunk) for chunk in cut.order]
    [3, 3, 4]
    """

    def __init__(self, program: Program, elements: int) -> None:
        chunks = program.chunks
        order = np.lexsort((chunks.target, chunks.root)).tolist()
        before = accumulate((int(chunks.size[chunk]) for chunk in order), initial=0)
        self.order: list[int] = order
        """The chunks, as they lie one behind the other."""
        self._before = dict(zip(order, before, strict=False))
        self._size = chunks.size.tolist()
        self._elements, self._whole = elements, chunks.whole
        self._program = program

    def span(self, chunk: int, first: int, amount: int) -> tuple[int, int]:
        """Return the elements of ``amount`` units from ``first`` on, relative to the chunk."""
        start = self._border(chunk, 0)
        return self._border(chunk, first) - start, self._border(chunk, first + amount) - start

    def lengths(self) -> list[int]:
        """Return the elements of each transfer of the program."""
        program = self._program
        columns = (program.chunk, program.first, program.amount)
        spans = (self.span(*row) for row in zip(*(c.tolist() for c in columns), strict=True))
        return [end - begin for begin, end in spans]

    def length(self, chunk: int) -> int:
        """Return the elements of a chunk."""
        return self.span(chunk, 0, self._size[chunk])[1]

    def _border(self, chunk: int, unit: int) -> int:
        # Round positions in the whole data, not lengths: then touching intervals share a border.
        return int((self._before[chunk] + unit) * self._elements // self._whole)
