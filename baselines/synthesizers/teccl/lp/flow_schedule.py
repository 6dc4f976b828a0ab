"""Exact conversion of a flow in epochs into a clocked schedule.

Problem: cut every pair's data into whole units, one interval of them for each way, and make the
         clock as much slower as rounding asks for.
Input:   a network in epochs, chunks, the ways of a flow.
Output:  a step schedule whose ends are GPUs and switches; the factor of its clock.
Cost:    linear in the transfers of all ways, after sorting.
Source:  largest remainders, as :mod:`lp.alltoall.path_schedule` has them; otherwise none.

What is sent in epoch k on an arc that is busy for b epochs leaves at an even rate over these. So at
any moment its rate is 1 / (b tau) of what a window holds, and within the link's bandwidth where
the window is within its capacity. A pair's data is a chunk of ``PARTS`` units for each chunk that
it had; each way's interval is off by less than one unit. By how much the fullest window is then too
full is computed in whole numbers, and all times are made longer by it: a factor near 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from baselines.synthesizers.teccl.conversion import Move, clocked
from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.lp.flow_paths import Way
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule

__all__ = ["PARTS", "moves_of", "schedule_of", "stretch"]

PARTS = 720_720
"""The least common multiple of 1 to 16."""


def schedule_of(
    network: EpochNetwork,
    demand: Demand,
    found: Iterable[tuple[int, int, dict[Way, float]]],
    size_bytes: int,
) -> StepSchedule:
    """Deal the data out to the ways of :func:`flow_paths.ways` and put it on the clock."""
    chunks, moves = moves_of(network, demand, found)
    slower = stretch(network, chunks, moves, size_bytes)
    return clocked(network, chunks, moves, "all-to-all", size_bytes, slower)


def moves_of(
    network: EpochNetwork, demand: Demand, found: Iterable[tuple[int, int, dict[Way, float]]]
) -> tuple[Chunks, list[Move]]:
    """Give each way an interval of its pair's units; neighbours that move alike move together."""
    from lp.alltoall.path_schedule import largest_remainders

    pairs: list[tuple[int, int]] = []
    size: list[int] = []
    moves: list[Move] = []
    for source, target, shares in found:
        ordered = sorted(shares)
        whole = PARTS * round(sum(shares.values()))
        units = largest_remainders([shares[way] for way in ordered], whole)
        moves += _moves(network, len(pairs), zip(ordered, units, strict=True))
        pairs.append((source, target))
        size.append(whole)
    root, target = np.array(pairs, dtype=np.int32).T
    cut = Chunks(np.array(size, dtype=np.int64), PARTS * demand.chunks.whole, root, target)
    return cut, moves


def _moves(network: EpochNetwork, chunk: int, dealt: Iterable[tuple[Way, int]]) -> list[Move]:
    """Return the moves of one pair's data."""
    parts: dict[tuple[int, int, Fraction], list[list[int]]] = defaultdict(list)
    first = 0
    for way, units in dealt:
        late, before = Fraction(0), Fraction(0)
        for i, epoch in way if units else ():
            late = late + before if network.arcs[i].offset < 1 else Fraction(0)
            before = network.arcs[i].dropped_us
            intervals = parts[i, epoch, late]
            if intervals and intervals[-1][1] == first:
                intervals[-1][1] = first + units
            else:
                intervals.append([first, first + units])
        first += units
    return [
        Move(chunk, i, epoch, late, low, high - low)
        for (i, epoch, late), intervals in parts.items()
        for low, high in intervals
    ]


def stretch(
    network: EpochNetwork, chunks: Chunks, moves: Sequence[Move], size_bytes: int
) -> Fraction:
    """Return by how much slower a clock has to go for the fullest window; 1 if it need not."""
    load: dict[tuple[int, int], int] = defaultdict(int)
    for move in moves:
        assert move.amount is not None
        for epoch in range(move.epoch, move.epoch + network.arcs[move.arc].busy):
            load[move.arc, epoch] += move.amount
    fullest: dict[int, int] = {}
    for (i, _), units in load.items():
        fullest[i] = max(units, fullest.get(i, 0))
    unit_kb = Fraction(size_bytes, 1000 * chunks.whole)
    ends, most = network.topology.ends, Fraction(1)
    for i, units in fullest.items():
        arc = network.arcs[i]
        link = network.topology.link_between[ends[arc.tail], ends[arc.head]]
        room = arc.busy * network.epoch_us * link.bandwidth_gb_s
        most = max(most, units * unit_kb / room)
    return most
