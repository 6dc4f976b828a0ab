"""Pieces between GPUs through switches that multicast or reduce.

Problem: a runtime has operations for multicasts and reductions between GPUs, but knows no switches.
Input:   pieces that begin or end at GPUs or switches.
Output:  pieces between GPUs; the sets of them that leave as one multicast or arrive as one sum.
Cost:    for each piece from a switch, the pieces that lead to it.
Source:  ours. A piece that switches forward alone, through any number of them, is an ordinary one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.transfer_pieces import Piece
from forestcoll.topology.model import Topology

__all__ = ["Alike", "Ways", "through_switches"]


@dataclass(frozen=True, slots=True)
class Ways:
    """Pieces from GPU to GPU.

    Parameters
    ----------
    copies, sums : mapping
        A number that pieces share if they leave one GPU, or arrive at one GPU, together.
    """

    pieces: list[Piece]
    copies: Mapping[int, int] = field(default_factory=dict)
    sums: Mapping[int, int] = field(default_factory=dict)


def through_switches(pieces: Sequence[Piece], topology: Topology) -> Ways:
    """Route pieces through switches.

    Raises UnsupportedError if a switch reduces parts that it then sends as a copy, or joins GPUs of
    several boxes.
    """
    gpus = topology.num_compute
    if all(max(piece.tail, piece.head) < gpus for piece in pieces):
        return Ways(list(pieces))
    found: list[Piece] = []
    became = defaultdict[int, list[int]](list)
    copies, sums = dict[int, int](), dict[int, int]()
    for number, piece in enumerate(pieces):
        if piece.head >= gpus:
            continue
        leaves = _leaves(pieces, number, gpus)
        _check(piece, [pieces[leaf] for leaf in leaves])
        for leaf in leaves:
            start = pieces[leaf]
            needs = sorted(one for need in start.needs for one in became[need])
            became[number].append(len(found))
            if leaf != number:
                (sums if piece.adds else copies)[len(found)] = number if piece.adds else leaf
            found.append(replace(piece, tail=start.tail, needs=tuple(needs)))
    ways = Ways(found, _shared(copies), _shared(sums))
    _check_boxes(ways, topology)
    return ways


def _leaves(pieces: Sequence[Piece], number: int, gpus: int) -> list[int]:
    """Return the pieces from GPUs that one consists of; itself if it starts at a GPU."""
    if pieces[number].tail < gpus:
        return [number]
    return [leaf for need in pieces[number].needs for leaf in _leaves(pieces, need, gpus)]


def _check(piece: Piece, leaves: Sequence[Piece]) -> None:
    if any(leaf.adds != piece.adds for leaf in leaves):
        raise UnsupportedError(
            f"unsupported: a switch reduces what is sent to rank {piece.head} as a copy; take a "
            f"schedule in which a GPU has the sum before it is copied"
        )


def _shared(labels: Mapping[int, int]) -> dict[int, int]:
    """Keep the numbers that several pieces share."""
    many = Counter(labels.values())
    return {piece: label for piece, label in labels.items() if many[label] > 1}


def _check_boxes(ways: Ways, topology: Topology) -> None:
    """Reject switch operations across boxes: NVLink switches reach one box only."""
    box = [topology.nodes[position].box for position in topology.compute]
    for labels in (ways.copies, ways.sums):
        together = defaultdict[int, set[int]](set)
        for number, label in labels.items():
            piece = ways.pieces[number]
            together[label] |= {piece.tail, piece.head}
        for ranks in together.values():
            if len({box[rank] for rank in ranks} - {None}) > 1:
                first, last = min(ranks), max(ranks)
                raise UnsupportedError(
                    f"unsupported: a switch multicasts or reduces between ranks {first} and {last}"
                    ", which are in two boxes; switch channels of MSCCL++ are of one, so mark no "
                    "switch between boxes multicast"
                )


@dataclass(frozen=True, slots=True)
class Alike:
    """The pieces of a place that switches multicast, by label, and those that they reduce."""

    copies: dict[int, list[int]]
    sums: dict[int, list[int]]
    fused: set[int]

    @classmethod
    def of(cls, ways: Ways, numbers: Sequence[int]) -> Alike:
        """Sort pieces by their labels.

        Raises UnsupportedError if a switch reduces a sum that it does not multicast to all GPUs
        that contribute.
        """
        copies, sums = (_by_label(numbers, labels) for labels in (ways.copies, ways.sums))
        fused = set[int]()
        for members in copies.values():
            needs = ways.pieces[members[0]].needs
            if sorted(needs) in sums.values():
                fused |= set(needs)
        for members in sums.values():
            if not fused.issuperset(members):
                first = ways.pieces[members[0]]
                raise UnsupportedError(
                    f"unsupported: a switch reduces chunk {first.chunk} for rank {first.head} "
                    f"alone, and MSCCL++ reduces in a switch only what it then writes to all of "
                    f"the same GPUs; take a schedule without multicast"
                )
        return cls(copies, sums, fused)

    def is_fused(self, adds: Sequence[int], gpus: Sequence[int], pieces: Sequence[Piece]) -> bool:
        """Whether a multicast carries the sum that the switch forms of all these GPUs."""
        if not self.fused.intersection(adds):
            return False
        parts = [(pieces[one].tail, pieces[one].needs) for one in adds]
        if sorted(parts) == [(one, ()) for one in sorted(gpus[1:])]:
            return True
        raise UnsupportedError(
            f"unsupported: a switch reduces parts of {len(adds) + 1} GPUs and multicasts the sum "
            f"to {len(gpus)}, or what it reduces are sums; MSCCL++ reduces in a switch what all "
            f"GPUs have at first, for all of them; take a schedule without multicast"
        )


def _by_label(numbers: Sequence[int], labels: Mapping[int, int]) -> dict[int, list[int]]:
    found = defaultdict[int, list[int]](list)
    for number in numbers:
        if number in labels:
            found[labels[number]].append(number)
    return dict(found)
