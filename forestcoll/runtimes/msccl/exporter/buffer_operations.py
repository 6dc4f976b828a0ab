"""Buffer operations of each piece: where it is sent from and where it is stored.

Problem: a piece carries its sender's part and its dependencies; the buffer may by then hold more.
Input:   chains of pieces in their order.
Output:  sends, receives and local copies, chain by chain, in a correct order.
Cost:    linear in the pieces, unless several versions of them are alive; a sort of dependencies.
Source:  ours. Equal sums have equal names: a base and the set of its summands; a copy has the name
         of its original. A receive makes a new version. The exporter writes it to the place of the
         result, or to scratch if none is due. It takes another place while an older version there
         is still to be sent. So no version is lost, and none is added late.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from forestcoll.errors import ExportError, UnsupportedError
from forestcoll.runtimes.data_layout import Layout
from forestcoll.runtimes.transfer_pieces import Piece

__all__ = ["NOTHING", "Operation", "Place", "Values", "Version", "operations_of", "values_of"]


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

    Raises ExportError if a GPU sends data that it does not have.
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


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Storage of a piece: "i", "o", or "s0", "s1", ... for the layers of scratch."""

    buffer: str
    chunk: int
    first: int


@dataclass(slots=True, eq=False)
class Version:
    """The value of a piece that a GPU holds at some time.

    Attributes
    ----------
    reads : int
        How often it is read.
    due : bool
        Whether it is a result.
    """

    value: int
    place: Place
    reads: int = 0
    due: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a GPU.

    Parameters
    ----------
    kind : str
        "s", "r", "rrc" or "cpy", as in :class:`forestcoll.runtimes.msccl.algorithm.Instruction`.
    piece : int
        The piece that is sent or received; in a copy the last one received, or -1 for none.
    """

    gpu: int
    kind: str
    piece: int
    size: int
    source: Version | None
    target: Version | None


@dataclass(slots=True)
class _Held:
    """The versions that a GPU has of a piece."""

    versions: dict[Place, Version] = field(default_factory=dict)
    latest: Version | None = None
    last: int = -1
    left: int = 0


def operations_of(
    pieces: Sequence[Piece], chains: Sequence[Sequence[int]], values: Values, layout: Layout
) -> list[list[Operation]]:
    """Return the operations of each chain.

    Raises UnsupportedError if a GPU sends a sum that never forms in its buffers.
    """
    buffers = _Buffers(pieces, values, layout)
    return [[each for piece in chain for each in buffers.carry(piece)] for chain in chains]


class _Buffers:
    """Versions that all GPUs hold while pieces are sent and received."""

    def __init__(self, pieces: Sequence[Piece], values: Values, layout: Layout) -> None:
        self.pieces, self.values, self.layout = pieces, values, layout
        self.to_send = Counter[tuple[int, int, int, int]]()
        self.held = defaultdict[tuple[int, int, int], _Held](_Held)
        for number, piece in enumerate(pieces):
            self.to_send[(piece.tail, *piece.place, values.brought[number])] += 1
            for gpu in (piece.tail, piece.head):
                held = self.held[gpu, *piece.place]
                held.left += 1
                own = layout.own(gpu, piece.chunk)
                if own is not None and held.latest is None:
                    place = Place("i", *piece.place)
                    held.latest = Version(values.own(gpu, piece.chunk), place)
                    held.versions[place] = held.latest

    def carry(self, number: int) -> list[Operation]:
        piece = self.pieces[number]
        done = [self._send(number, piece), self._receive(number, piece)]
        for gpu in (piece.tail, piece.head):
            done += self._settled(gpu, piece)
        return done

    def _send(self, number: int, piece: Piece) -> Operation:
        value = self.values.brought[number]
        held = self.held[piece.tail, *piece.place]
        found = [one for one in held.versions.values() if one.value == value]
        if not found:
            raise UnsupportedError(
                f"unsupported: rank {piece.tail} sends rank {piece.head} a sum of chunk "
                f"{piece.chunk} that is none of those which come together there one by one"
            )
        source = held.latest if held.latest in found else found[0]
        source.reads += 1
        self.to_send[(piece.tail, *piece.place, value)] -= 1
        return Operation(piece.tail, "s", number, piece.size, source, None)

    def _receive(self, number: int, piece: Piece) -> Operation:
        held = self.held[piece.head, *piece.place]
        before = held.latest
        value = self.values.applied(NOTHING if before is None else before.value, number)
        place = self._room(piece, held, value)
        version = Version(value, place)
        self._write(piece.head, held, version)
        held.latest, held.last = version, number
        if before is None or not piece.adds:
            return Operation(piece.head, "r", number, piece.size, None, version)
        before.reads += 1
        return Operation(piece.head, "rrc", number, piece.size, before, version)

    def _room(self, piece: Piece, held: _Held, value: int) -> Place:
        """Return the first place without a version that is still to be sent."""
        level = 0
        if self.layout.result(piece.head, piece.chunk) is not None:
            place = Place("o", *piece.place)
        else:
            place, level = Place("s0", *piece.place), 1
        while not self._free(piece.head, held, place, value):
            place, level = Place(f"s{level}", *piece.place), level + 1
        return place

    def _free(self, gpu: int, held: _Held, place: Place, value: int) -> bool:
        there = [held.versions.get(one) for one in self._same(gpu, place)]
        # An aliased place counts, too: a result in place would overwrite the GPU's own part.
        return all(
            one is None
            or one.value == value
            or not self.to_send[(gpu, place.chunk, place.first, one.value)]
            for one in there
        )

    def _same(self, gpu: int, place: Place) -> list[Place]:
        """The places that may alias this one."""
        own = self.layout.own(gpu, place.chunk) is not None
        if place.buffer == "o" and own and self.layout.aliased:
            return [place, Place("i", place.chunk, place.first)]
        return [place]

    def _write(self, gpu: int, held: _Held, version: Version) -> None:
        for place in self._same(gpu, version.place):
            held.versions.pop(place, None)
        held.versions[version.place] = version

    def _settled(self, gpu: int, piece: Piece) -> list[Operation]:
        """After the last operation at a GPU, copy the result to its place."""
        held = self.held[gpu, *piece.place]
        held.left -= 1
        if held.left or held.latest is None or self.layout.result(gpu, piece.chunk) is None:
            return []
        held.latest.due = True
        due = Place("o", *piece.place)
        if held.latest.place == due or (held.latest.place.buffer == "i" and held.last < 0):
            return []
        held.latest.reads += 1
        return [
            Operation(gpu, "cpy", held.last, piece.size, held.latest, Version(0, due, due=True))
        ]
