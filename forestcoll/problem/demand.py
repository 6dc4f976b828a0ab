"""Demands: which GPU needs which chunk of data, of any size.

Problem: state any exchange of data without sums: an all-to-all with any amounts, one chunk for
         several GPUs, several process groups at once.
Input:   a matrix of bytes, or chunks with their sources, sizes and targets.
Output:  a frozen demand, checked.
Cost:    linear in the chunks and their targets.
Source:  TE-CCL (SIGCOMM 2024), section 3: D[source, chunk, destination]. Here chunks differ in
         size.

Named collectives are special cases; :mod:`forestcoll.problem.named_demands` makes them. Reductions
are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidParameterError
from forestcoll.topology.numbers import in_short

__all__ = ["MOST_BYTES", "MOST_CHUNKS", "Demand", "DemandedChunk"]

MOST_BYTES = 10**14
"""Largest number of bytes in all; sums of bytes and shares of links then fit 64 bits."""

MOST_CHUNKS = 2**24
"""Largest number of chunks: one for each pair of 4096 GPUs."""

Ints = npt.NDArray[np.int64]


class DemandedChunk(NamedTuple):
    """One chunk: its source, its size in bytes, and the ranks that need it."""

    source: int
    size: int
    targets: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Demand:
    """Chunks of data, each with a source and the GPUs that need it.

    GPUs appear by rank. Chunks are in the order of (source, first target), those alike in the order
    given.

    Parameters
    ----------
    name : str
        Such as "all-to-all" or the name of a file; for messages and tables.
    gpus : int
        Number of GPUs of the network.
    source : int64 array of length C
        The rank that has each chunk at first.
    size : int64 array of length C
        Bytes, from 1 up.
    first_target : int64 array of length C + 1
        Chunk c is for ``target[first_target[c]:first_target[c + 1]]``.
    target : int64 array
        Ranks; those of a chunk ascend, without its source.
    """

    name: str
    gpus: int
    source: Ints = field(repr=False)
    size: Ints = field(repr=False)
    first_target: Ints = field(repr=False)
    target: Ints = field(repr=False)

    @classmethod
    def of_matrix(cls, amounts: npt.ArrayLike, name: str = "demand") -> Demand:
        """Return the demand in which rank s has ``amounts[s, t]`` bytes for rank t.

        Parameters
        ----------
        amounts : whole numbers of shape (N, N)
            From 0 up. The diagonal does not count: a GPU has its own data.

        Raises
        ------
        InvalidParameterError
            If the amounts have another shape, are negative or no whole numbers, are all 0, or too
            many in all.

        Examples
        --------
        >>> made = Demand.of_matrix([[0, 5, 0], [0, 0, 2], [1, 1, 0]])
        >>> made.bytes, made.num_chunks, made.chunk(1)
        (9, 4, DemandedChunk(source=1, size=2, targets=(2,)))
        """
        matrix = _whole(amounts, name)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InvalidParameterError(
                f"{name}: the amounts have shape {matrix.shape}; give as many rows as columns, one "
                f"for each GPU"
            )
        np.fill_diagonal(matrix, 0)
        source, target = np.nonzero(matrix)
        first = np.arange(len(source) + 1, dtype=np.int64)
        return cls._checked(
            name, len(matrix), source.astype(np.int64), matrix[source, target], first,
            target.astype(np.int64),
        )  # fmt: skip

    @classmethod
    def of_chunks(
        cls, gpus: int, chunks: Iterable[tuple[int, int, Sequence[int]]], name: str = "demand"
    ) -> Demand:
        """Return the demand of chunks: (source, bytes, targets) each.

        A chunk's source is left out of its targets; a chunk that nobody else needs is left out.

        Raises
        ------
        InvalidParameterError
            As :meth:`of_matrix`, or if a rank does not exist.
        """
        rows = []
        for source, size, targets in chunks:
            ranks = sorted({*targets} - {source})
            outside = next((rank for rank in (source, *ranks) if not 0 <= rank < gpus), None)
            if outside is not None:
                raise InvalidParameterError(
                    f"{name}: names rank {in_short(outside)}; ranks are 0 to {gpus - 1}"
                )
            if ranks and size:
                rows.append((source, size, ranks))
        if len(rows) > MOST_CHUNKS:
            raise InvalidParameterError(f"{name}: has more than {MOST_CHUNKS} chunks")
        rows.sort(key=lambda row: (row[0], row[2][0]))
        counts = [len(ranks) for _, _, ranks in rows]
        return cls._checked(
            name,
            gpus,
            np.array([source for source, _, _ in rows], dtype=np.int64),
            _whole([size for _, size, _ in rows], name),
            np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64),
            np.array([rank for _, _, ranks in rows for rank in ranks], dtype=np.int64),
        )

    @classmethod
    def _checked(
        cls, name: str, gpus: int, source: Ints, size: Ints, first_target: Ints, target: Ints
    ) -> Demand:
        if gpus < 2:
            raise InvalidParameterError(
                f"{name}: {gpus} GPU has no other GPU to send to; give two or more"
            )
        if not len(size):
            raise InvalidParameterError(f"{name}: the demand is empty; give an amount above 0")
        if int(size.min()) < 0:
            raise InvalidParameterError(
                f"{name}: an amount is {int(size.min())} bytes; amounts are from 0 up"
            )
        total = sum(size.tolist())
        if total > MOST_BYTES:
            raise InvalidParameterError(
                f"{name}: {in_short(total)} bytes in all; at most {MOST_BYTES:.0e} are possible"
            )
        return cls(name, gpus, source, size, first_target, target)

    @property
    def num_chunks(self) -> int:
        """Number of chunks, C."""
        return len(self.size)

    @cached_property
    def bytes(self) -> int:
        """Bytes of all chunks together, each counted once."""
        return int(self.size.sum())

    @property
    def is_unicast(self) -> bool:
        """Whether every chunk is for one GPU."""
        return len(self.target) == len(self.size)

    @cached_property
    def matrix(self) -> Ints:
        """The bytes that each rank of a row has for each rank of a column, shape (N, N).

        A chunk counts for each of its targets.
        """
        amounts = np.zeros((self.gpus, self.gpus), dtype=np.int64)
        chunk = np.repeat(np.arange(self.num_chunks), np.diff(self.first_target))
        np.add.at(amounts, (self.source[chunk], self.target), self.size[chunk])
        return amounts

    @property
    def is_uniform(self) -> bool:
        """Whether every GPU has as much for every other, each part for one GPU: an all-to-all."""
        off = self.matrix[~np.eye(self.gpus, dtype=np.bool_)]
        return self.is_unicast and bool((off == off[0]).all())

    def rounded_up(self, unit: int) -> Demand:
        """Return the demand with every size rounded up to a multiple of some bytes.

        Runtimes cut data into equal chunks, which must divide all sizes.

        Raises InvalidParameterError if the unit is not positive, or the sizes become too large.

        Examples
        --------
        >>> Demand.of_matrix([[0, 5], [8, 0]]).rounded_up(4).size.tolist()
        [8, 8]
        """
        if unit < 1:
            raise InvalidParameterError(f"{self.name}: the unit is {unit}; it must be positive")
        size = -(-self.size // unit) * unit
        columns = (self.source, size, self.first_target, self.target)
        return Demand._checked(self.name, self.gpus, *columns)

    def chunk(self, number: int) -> DemandedChunk:
        """Return a chunk by its number."""
        targets = self.target[self.first_target[number] : self.first_target[number + 1]]
        return DemandedChunk(
            int(self.source[number]), int(self.size[number]), tuple(targets.tolist())
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Demand):
            return NotImplemented
        return self.gpus == other.gpus and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("source", "size", "first_target", "target")
        )

    def __hash__(self) -> int:
        return hash((self.gpus, self.num_chunks, self.bytes))


def _whole(amounts: npt.ArrayLike, name: str) -> Ints:
    """Return amounts as whole numbers of 64 bits."""
    try:
        given: npt.NDArray[Any] = np.asarray(amounts)
    except ValueError:
        raise InvalidParameterError(
            f"{name}: the amounts are no table; give a row for each GPU, all of equal length"
        ) from None
    if given.dtype.kind == "O" and all(type(one) is int for one in given.flat):
        huge = max((abs(one) for one in given.flat), default=0)
        raise InvalidParameterError(
            f"{name}: an amount is {in_short(huge)}; at most {MOST_BYTES:.0e} bytes are possible"
        )
    if given.dtype.kind not in "iuf":
        raise InvalidParameterError(f"{name}: an amount is not a number; give whole bytes")
    if not np.isfinite(given).all() or (given != np.floor(given)).any():
        raise InvalidParameterError(f"{name}: an amount is not a whole number of bytes; round it")
    if given.size and abs(given).max() > MOST_BYTES:
        raise InvalidParameterError(
            f"{name}: an amount is {in_short(int(abs(given).max()))}; at most {MOST_BYTES:.0e} "
            f"bytes are possible"
        )
    return np.array(given, dtype=np.int64)
