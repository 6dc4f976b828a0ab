"""Start of each rail of NCCL's trees: the GPUs with a NIC in every box.

Problem: choose R GPUs a box, one a rail. Each must reach other boxes and be reachable; the GPUs of
         a rail have the same number where possible.
Output:  for each rail the place of its first GPU in each box; several such choices to try.
Source:  the machine with the fewest NICs limits the channels of NCCL (see ``nic_attachment``).
"""

from __future__ import annotations

from collections.abc import Sequence

from baselines.networks.nic_attachment import NicAttachment
from forestcoll.errors import UnsupportedError

__all__ = ["Starts", "rails_of"]

Starts = tuple[tuple[int, ...], ...]
"""By rail and box, the place in the box of the GPU at which the rail begins."""


def rails_of(
    boxes: Sequence[Sequence[int]], attachments: Sequence[NicAttachment], rails: int | None
) -> list[Starts]:
    """Return the choices to try, the usual one first.

    Parameters
    ----------
    boxes : sequence of sequences of int
        GPUs by box.
    attachments : sequence of NicAttachment
        NIC attachment of each box; irrelevant for a single box.
    rails : int, optional
        R. The default is one per GPU of the largest box; where some GPU lacks a NIC, the number
        that all boxes have at the same places, or at any places.

    Raises
    ------
    UnsupportedError
        If no GPU of a box both reaches other boxes and is reachable from them.
    """
    usual = max(map(len, boxes)) if rails is None else rails
    alone = len(boxes) == 1
    plain: list[Starts] = []
    if alone or all(found.is_open for found in attachments):
        plain.append(_at_all_gpus(boxes, usual))
    if alone or all(found.is_whole for found in attachments):
        return plain
    return plain + _at_own_nics(boxes, attachments, usual, only=rails is not None)


def _at_all_gpus(boxes: Sequence[Sequence[int]], rails: int) -> Starts:
    """Start the rails at consecutive GPUs, with or without a NIC."""
    return tuple(tuple(_place(len(box), rail, rails) for box in boxes) for rail in range(rails))


def _at_own_nics(
    boxes: Sequence[Sequence[int]], attachments: Sequence[NicAttachment], usual: int, *, only: bool
) -> list[Starts]:
    """Start rails at GPUs with their own NIC: as many as usual or, unless ``only``, as exist."""
    places = [
        [box.index(gpu) for gpu in found.own] for box, found in zip(boxes, attachments, strict=True)
    ]
    if not all(places):
        raise UnsupportedError(
            "unsupported: a tree has to enter and leave each box at some GPU, and there is a box "
            "with none that does both"
        )
    common = sorted(set(places[0]).intersection(*places))
    others = [[place for place in row if place not in common] or row for row in places]
    counts = {usual} if only else {usual, len(common), min(map(len, places))} - {0}
    return [
        tuple(_row(common, others, rail, count) for rail in range(count))
        for count in sorted(counts)
    ]


def _place(size: int, rail: int, rails: int) -> int:
    """The GPU at which a rail begins; few rails are spread out."""
    return (rail if rails >= size else rail * size // rails) % size


def _row(
    common: Sequence[int], others: Sequence[Sequence[int]], rail: int, rails: int
) -> tuple[int, ...]:
    """The start of a rail: at places common to all boxes while there are any, then at others."""
    if common and rail < len(common):
        return (common[_place(len(common), rail, rails)],) * len(others)
    more = rail - len(common)
    return tuple(row[_place(len(row), more, rails - len(common))] for row in others)
