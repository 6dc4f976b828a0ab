"""Data cut into whole elements, as a program cuts it into units.

Problem: the chunks of a program are fractions of the data, and data are so many elements.
Input:   a program; the number of elements.
Output:  where each interval of each chunk begins and ends.
Cost:    a sort of the chunks, then one product an interval.
Source:  ours. The chunks lie one behind the other, by root, then by target; the border that u of
         ``whole`` units lie before is at element floor(u elements / whole). So intervals that touch
         in units touch in elements, whoever computes it.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from forestcoll.schedule.program import Program

__all__ = ["Partition"]


class Partition:
    """Where the intervals of a program's chunks lie in data of so many elements.

    Parameters
    ----------
    program : Program
    elements : int
        Of the data, as :class:`forestcoll.schedule.sends.Chunks` defines it.

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

    def span(self, chunk: int, first: int, amount: int) -> tuple[int, int]:
        """Return where ``amount`` units from ``first`` on lie: elements from the chunk's own on."""
        start = self._border(chunk, 0)
        return self._border(chunk, first) - start, self._border(chunk, first + amount) - start

    def length(self, chunk: int) -> int:
        """Return the elements of a chunk."""
        return self.span(chunk, 0, self._size[chunk])[1]

    def _border(self, chunk: int, unit: int) -> int:
        return int((self._before[chunk] + unit) * self._elements // self._whole)
