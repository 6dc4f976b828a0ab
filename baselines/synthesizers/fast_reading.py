"""Two-phase all-to-all of any amounts, a reading of FAST's public description.

Problem: an all-to-all in which every NIC of a box sends as much, and one box sends to one other at
         a time, so that no receiver is overrun; any demand.
Input:   a topology whose GPUs are all in boxes; amounts.
Output:  a step schedule: balance in the boxes, a step for each matching of boxes, redistribution.
Cost:    that of the Birkhoff-von Neumann decomposition over boxes; a few cuts of each pair's data.
Source:  Lei et al., "FAST: An Efficient Scheduler for All-to-All GPU Communication" (arXiv
         2505.09764). Written from its public description alone; no code of the authors was read.

What a box has for another is first divided over its GPUs with NICs, equally to a byte: each keeps
its own as far as that goes, and passes the excess on in the box (step 0). The amounts between boxes
are decomposed into matchings (:mod:`forestcoll.all_to_all.birkhoff`). In each, GPU i of a box sends
to GPU i of one other box. That GPU passes on in the next step what it got for others, while the
next matching is under way. What stays in a box goes with the first matching.

Choices of ours: which bytes a GPU passes on (the last ones, by target); largest matchings first; a
box with fewer NICs than another divides over what it has. With ``alpha_us`` fewer matchings may
take longer each, which the paper does not describe. Left out: bytes chosen by the target's number,
which would spare some redistribution; boxes of different bandwidth, which a matching takes for
equal; the execution, which has no synchronous steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from baselines.building.composing import routed
from baselines.building.demanded_chunks import unicast_chunks
from baselines.interface.method import Method
from baselines.interface.parameters import exact_parameter
from baselines.interface.supported import check_supported
from baselines.networks.box_nics import BoxNics
from baselines.networks.switch_paths import check_size
from forestcoll.all_to_all.birkhoff import Matching, birkhoff, few_matchings
from forestcoll.all_to_all.line_cuts import cut_both, divided
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.demand import Demand
from forestcoll.schedule.sends import Chunks, Intervals, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]

METHOD = "fast-reading"

UNITS = 720_720
"""Units of an equal part: the least common multiple of 1 to 16, so that NICs divide it."""

_BYTES_PER_US = 1000
"""Of a GB/s."""

Ints = npt.NDArray[np.int64]

_AnyInts = npt.NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, slots=True)
class _Parts:
    """Parts of chunks between boxes: their bytes, and who sends and receives them over NICs.

    Parameters
    ----------
    chunk, first, amount : int64 arrays
        The chunk, the first of its units and their number.
    tile : int64 array
        The pair of boxes, by its place among those with data.
    out, into : int64 arrays
        The number of the NIC at both ends among those of its box; -1 if not yet chosen.
    """

    chunk: Ints
    first: Ints
    amount: Ints
    tile: Ints
    out: Ints
    into: Ints

    def cut(self, part: Ints, amount: Ints) -> _Parts:
        """Cut parts into smaller ones, which come in the order of the parts."""
        before = np.cumsum(amount) - amount
        new = np.flatnonzero(np.diff(part, prepend=-1))
        offset = before - np.repeat(before[new], np.diff(np.append(new, len(part))))
        made = self.taken(part)
        return replace(made, first=made.first + offset, amount=amount)

    def taken(self, which: Ints) -> _Parts:
        """Return some parts, in the order given."""
        return _Parts(*(getattr(self, name)[which] for name in self.__slots__))


_Row = tuple[Ints | int, _Parts, _AnyInts, _AnyInts]
"""Transfers: the step of each or of all, what they carry, senders and receivers."""


def generate(
    topology: Topology,
    collective: str = "all-to-all",
    *,
    alpha_us: int | Fraction | str = 0,
    demand: Demand | str | None = None,
) -> StepSchedule:
    """Balance in the boxes, exchange by matchings of boxes, redistribute.

    Parameters
    ----------
    collective : str
        "all-to-all".
    alpha_us : number
        What each matching costs, in microseconds; above 0 there are fewer matchings where that
        saves time. For a demand.
    demand : Demand or str, optional
        Who has how much for whom, also as text
        (:func:`forestcoll.problem.demand_files.demand_in`); all parts are equal if not given.

    Raises
    ------
    UnsupportedError
        If there are GPUs outside boxes, a box is cut off, or a chunk is for several GPUs.
    InvalidParameterError
        If the demand is none of this network, or the latency negative or without a demand.
    """
    check_supported(METHOD, collective, ("all-to-all",))
    check_size(topology)
    given, chunks = unicast_chunks(METHOD, topology, demand, UNITS)
    alpha = exact_parameter("alpha_us", alpha_us)
    if alpha < 0 or (alpha and given is None):
        raise InvalidParameterError(
            f"alpha_us is {alpha_us}; it must be 0 or more, and 0 without a demand, as equal parts "
            f"have no bytes"
        )
    nics = BoxNics.of(topology)
    sends = _transfers(nics, chunks, alpha * nics.bandwidth_gb_s * _BYTES_PER_US)
    return replace(routed(topology, METHOD, "all-to-all", chunks, sends), demand=given)


def _transfers(nics: BoxNics, chunks: Chunks, alpha: Fraction) -> Sends:
    here, there = nics.box[chunks.root], nics.box[chunks.target]
    boxes = len(nics.outs)
    between = np.zeros((boxes, boxes), dtype=np.int64)
    np.add.at(between, (here, there), chunks.size)
    matchings = few_matchings(between, alpha) if alpha else birkhoff(between)
    far = np.flatnonzero(here != there)
    far = far[np.argsort(here[far] * boxes + there[far], kind="stable")]
    pairs, tile = np.unique(here[far] * boxes + there[far], return_inverse=True)
    tiles = [divmod(int(pair), boxes) for pair in pairs]
    nowhere = np.full(len(far), -1, dtype=np.int64)
    start = _Parts(far, np.zeros_like(far), chunks.size[far], tile.reshape(-1), nowhere, nowhere)
    balanced = _over_nics(start, nics, chunks, tiles)
    parts, stage = _in_stages(balanced, tiles, matchings)
    out, into = _ends(nics, parts, tiles)
    near = np.flatnonzero(here == there)
    whole = np.zeros_like(near)
    rows: list[_Row] = [
        (0, balanced, chunks.root[balanced.chunk], _ends(nics, balanced, tiles)[0]),
        (1, _Parts(near, whole, chunks.size[near], whole, whole, whole), chunks.root[near],
         chunks.target[near]),
        (1 + stage, parts, out, into),
        (2 + stage, parts, into, chunks.target[parts.chunk]),
    ]  # fmt: skip
    return _sends(rows)


def _sends(rows: Sequence[_Row]) -> Sends:
    """Put all transfers together; steps in which nothing moves are left out."""
    columns = [
        (np.broadcast_to(step, tail.shape), parts.chunk, parts.first, parts.amount, tail, head)
        for step, parts, tail, head in rows
    ]
    step, chunk, first, amount, tail, head = map(np.concatenate, zip(*columns, strict=True))
    moves = np.flatnonzero(tail != head)
    _, numbered = np.unique(step[moves], return_inverse=True)
    interval = Intervals(first[moves], amount[moves])
    return Sends.sorted(
        numbered.reshape(-1), chunk[moves], tail[moves], head[moves], interval=interval
    )


def _over_nics(
    parts: _Parts, nics: BoxNics, chunks: Chunks, tiles: Sequence[tuple[int, int]]
) -> _Parts:
    """Divide what each box has for each other over the NICs of both, equally."""
    numbers = _numbers(nics.outs, len(nics.box))
    lanes = [len(nics.outs[here]) for here, _ in tiles]
    parts = _divided(parts, "out", numbers[chunks.root[parts.chunk]], lanes)
    lanes = [len(nics.ins[there]) for _, there in tiles]
    return _divided(parts, "into", parts.out, lanes)


def _divided(parts: _Parts, side: str, own: Ints, lanes: Sequence[int]) -> _Parts:
    """Choose the NIC on one side; as far as it goes the one with the given number."""
    count = np.array(lanes, dtype=np.int64)
    begin = np.cumsum(count) - count
    total = np.zeros(len(count), dtype=np.int64)
    np.add.at(total, parts.tile, parts.amount)
    of_tile = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(of_tile)) - begin[of_tile]
    room = total[of_tile] // count[of_tile] + (number < total[of_tile] % count[of_tile])
    has = (own >= 0) & (own < count[parts.tile])
    place = np.where(has, begin[parts.tile] + own, -1)
    part, port, amount = divided(parts.amount, parts.tile, place, room, of_tile)
    made = parts.cut(part, amount)
    return replace(made, **{side: number[port]})


def _in_stages(
    parts: _Parts, tiles: Sequence[tuple[int, int]], matchings: Sequence[Matching]
) -> tuple[_Parts, Ints]:
    """Cut what every NIC sends to every other into the stages of its boxes, in proportion."""
    ends: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(lambda: [(-1, 0)])
    for number, matching in enumerate(matchings):
        for here, there, amount in matching.sent:
            ends[here, there].append((number, ends[here, there][-1][1] + amount))
    order = np.lexsort((parts.into, parts.out, parts.tile))
    parts = parts.taken(order)
    lines = np.stack([parts.tile, parts.out, parts.into], axis=1)
    new = np.flatnonzero((np.diff(lines, axis=0, prepend=-1) != 0).any(axis=1))
    lengths = np.add.reduceat(parts.amount, new).tolist() if len(new) else []
    stages, room = [], []
    for tile, length in zip(parts.tile[new].tolist(), lengths, strict=True):
        cuts = ends[tiles[tile]]
        total = cuts[-1][1]
        for (_, before), (number, after) in pairwise(cuts):
            stages.append(number)
            room.append(after * length // total - before * length // total)
    part, piece, amounts = cut_both(parts.amount, np.array(room, dtype=np.int64))
    return parts.cut(part, amounts), np.array(stages, dtype=np.int64)[piece]


def _ends(nics: BoxNics, parts: _Parts, tiles: Sequence[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Return the ranks of the NICs at both ends."""
    boxes = np.array(tiles, dtype=np.int64).reshape(-1, 2)
    sides = []
    for side, number, column in ((nics.outs, parts.out, 0), (nics.ins, parts.into, 1)):
        table = np.full((len(side), max(map(len, side))), -1, dtype=np.int64)
        for row, ranks in zip(table, side, strict=True):
            row[: len(ranks)] = ranks
        sides.append(table[boxes[parts.tile, column], number])
    return sides[0], sides[1]


def _numbers(side: Sequence[npt.NDArray[np.int32]], gpus: int) -> Ints:
    """Return the number of each rank's NIC in its box; -1 without one."""
    found = np.full(gpus, -1, dtype=np.int64)
    for ranks in side:
        found[ranks] = np.arange(len(ranks))
    return found


METHODS = (
    Method(
        name=METHOD,
        summary="balance over the NICs of a box, match boxes, redistribute",
        source="a reading of the public description of FAST (Lei et al., arXiv 2505.09764)",
        generate=generate,
        collectives=("all-to-all",),
        notes="from the description alone; which bytes move, and the order of matchings, are ours",
    ),
)
