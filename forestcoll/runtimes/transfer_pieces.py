"""Pieces: transfers of a program, split until any two are equal or disjoint.

Problem: transfers of one chunk may overlap in part, and their paths mean nothing to a runtime that
         routes by itself.
Input:   a program.
Output:  pieces in an order in which each comes after its dependencies. Two pieces of one chunk
         cover the same place or disjoint places.
Cost:    for each transfer and each dependency, the pieces that they have in common.
Source:  ours. Transfers that differ in their paths alone are joined, if their dependencies are too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from forestcoll.schedule.program import Program

__all__ = ["Piece", "in_units", "pieces_of"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a transfer, from GPU to GPU.

    Parameters
    ----------
    step : int
        Larger than the steps of its dependencies.
    chunk, first, size : int
        In units of the program, or in chunks of the runtime, of one instance.
    needs : tuple of int
        Numbers of pieces, in order, all of the same place and smaller than its own.
    """

    step: int
    chunk: int
    first: int
    size: int
    tail: int
    head: int
    adds: bool
    needs: tuple[int, ...]

    @property
    def place(self) -> tuple[int, int]:
        """The chunk and the first unit of the piece."""
        return self.chunk, self.first


@dataclass(frozen=True, slots=True)
class _Transfers:
    """The transfer columns of a program, as lists."""

    step: list[int]
    chunk: list[int]
    first: list[int]
    end: list[int]
    tail: list[int]
    head: list[int]
    adds: list[bool]
    needs: list[list[int]]


_Key = tuple[int, int]
"""A transfer, and where in its chunk a piece of it begins."""


def pieces_of(program: Program) -> list[Piece]:
    """Cut the transfers of a program into pieces, in its units."""
    transfers = _columns(program)
    of_chunk = defaultdict[int, list[int]](list)
    for number, chunk in enumerate(transfers.chunk):
        of_chunk[chunk].append(number)
    needs, end = dict[_Key, list[_Key]](), dict[_Key, int]()
    for members in of_chunk.values():
        found = _cut(transfers, members, _joined(transfers, members))
        if found is None:
            found = _cut(transfers, members, {number: number for number in members})
        if found is None:
            raise AssertionError("a transfer does not fit the cuts at its own borders")
        needs |= found[0]
        end |= found[1]
    return _numbered(transfers, needs, end)


def _columns(program: Program) -> _Transfers:
    first, amount = program.first.tolist(), program.amount.tolist()
    need, first_need = program.need.tolist(), program.first_need.tolist()
    needs = [need[low:high] for low, high in pairwise(first_need)]
    step = program.step.tolist()
    for transfer, needed in enumerate(needs):  # already so in compiled programs
        step[transfer] = max([step[transfer], *(step[one] + 1 for one in needed)])
    return _Transfers(
        step=step,
        chunk=program.chunk.tolist(),
        first=first,
        end=[low + many for low, many in zip(first, amount, strict=True)],
        tail=program.tail.tolist(),
        head=program.head.tolist(),
        adds=program.reduce.tolist(),
        needs=needs,
    )


def _joined(transfers: _Transfers, members: list[int]) -> dict[int, int]:
    """Join adjacent transfers that differ in their paths alone."""
    lead: dict[int, int] = {}
    ends: dict[tuple[int, int, int, bool, int], int] = {}
    for one in sorted(members, key=lambda number: (transfers.first[number], number)):
        of = (transfers.step[one], transfers.tail[one], transfers.head[one], transfers.adds[one])
        lead[one] = ends.pop((*of, transfers.first[one]), one)
        ends[(*of, transfers.end[one])] = lead[one]
    return lead


def _cut(
    transfers: _Transfers, members: list[int], lead: dict[int, int]
) -> tuple[dict[_Key, list[_Key]], dict[_Key, int]] | None:
    """Return the dependencies and ends of pieces; None where parts of one depend differently."""
    low, high = dict[int, int](), dict[int, int]()
    for one in members:
        low[lead[one]] = min(low.get(lead[one], transfers.first[one]), transfers.first[one])
        high[lead[one]] = max(high.get(lead[one], 0), transfers.end[one])
    cuts = sorted({*low.values(), *high.values()})
    needs, end = dict[_Key, list[_Key]](), dict[_Key, int]()
    for one in members:
        place = bisect_right(cuts, transfers.first[one]) - 1
        while place < len(cuts) - 1 and cuts[place] < transfers.end[one]:
            found = _needed(transfers, lead, one, cuts[place], cuts[place + 1])
            key = lead[one], cuts[place]
            if found is None or needs.setdefault(key, found) != found:
                return None
            end[key] = cuts[place + 1]
            place += 1
    return needs, end


def _needed(
    transfers: _Transfers, lead: dict[int, int], one: int, low: int, high: int
) -> list[_Key] | None:
    """Return the pieces that one depends on; None if it needs only parts of them."""
    low_part, high_part = max(low, transfers.first[one]), min(high, transfers.end[one])
    common: dict[int, int] = {}
    for need in transfers.needs[one]:
        share = min(high_part, transfers.end[need]) - max(low_part, transfers.first[need])
        if share > 0:
            common[lead[need]] = common.get(lead[need], 0) + share
    if any(share != high_part - low_part for share in common.values()):
        return None
    return [(need, low) for need in sorted(common)]


def _numbered(
    transfers: _Transfers, needs: dict[_Key, list[_Key]], end: dict[_Key, int]
) -> list[Piece]:
    def order(key: _Key) -> tuple[int, ...]:
        one, first = key
        ends = transfers.tail[one], transfers.head[one]
        return transfers.step[one], *ends, transfers.chunk[one], first

    keys = sorted(needs, key=order)
    number = {key: place for place, key in enumerate(keys)}
    return [
        Piece(
            step=transfers.step[one],
            chunk=transfers.chunk[one],
            first=first,
            size=end[one, first] - first,
            tail=transfers.tail[one],
            head=transfers.head[one],
            adds=transfers.adds[one],
            needs=tuple(sorted(number[need] for need in needs[one, first])),
        )
        for one, first in keys
    ]


def in_units(pieces: Sequence[Piece], unit: int) -> list[Piece]:
    """Convert pieces to a larger unit."""
    return [replace(piece, first=piece.first // unit, size=piece.size // unit) for piece in pieces]
