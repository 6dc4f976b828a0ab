"""Data races: unordered actions at one chunk, at least one of which writes.

Problem: does the result depend on the speeds of threadblocks?
Input:   the reads and writes of each action, and the precedence of actions.
Output:  the pairs of steps that race.
Cost:    for each chunk, only neighbours in the order of the run are tested: a read and the write
         before it, a write and the reads and the write before it. If all of these are ordered, so
         are all other pairs; so if there is a race, one of these pairs races.
Source:  slices hold different bytes, so actions of two slices do not race. A later slice has all
         order that the first has and more, so the first one decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forestcoll.runtimes.interpretation.cells import Bools, Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.interpretation.happens_before import happens_before, neighbours
from forestcoll.runtimes.interpretation.one_run import Units
from forestcoll.runtimes.interpretation.precedence import Edges
from forestcoll.runtimes.msccl.interpreter.actions import Actions
from forestcoll.runtimes.msccl.interpreter.merged_steps import BUFFERS

__all__ = ["find_overlaps", "find_races"]


@dataclass(frozen=True, slots=True)
class _Accesses:
    """Accesses sorted by cell, then in the order of the run; of one action, reads first."""

    cell: Ints
    unit: Ints
    writes: Bools


def find_races(actions: Actions, units: Units, edges: Edges, levels: Ints) -> Iterator[Finding]:
    """Report the races of the first slice, one for each pair of steps.

    Parameters
    ----------
    actions : Actions
        Of the largest call, which has the most transfers.
    edges : Edges
        The precedence that holds at all sizes.
    levels : ndarray (actions,)
    """
    each = actions.each
    accesses = _accesses(units, levels, each)
    one, other = neighbours(accesses.cell, accesses.writes)
    first, second = units.action[accesses.unit[one]], units.action[accesses.unit[other]]
    block = actions.block
    across = np.flatnonzero(block[first] != block[second])
    one, other, first, second = one[across], other[across], first[across], second[across]
    inside = (edges.tail >= 0) & (edges.tail < each) & (edges.head < each)
    inside &= (levels[edges.tail] >= 0) & (levels[edges.head] >= 0)
    _, at, back = np.unique(first * each + second, return_index=True, return_inverse=True)
    ordered = happens_before(
        edges.kept(inside),
        levels[:each],
        block,
        actions.steps.block_gpu[block],
        first[at],
        second[at],
    )
    racing = np.flatnonzero(~ordered[back.reshape(first.shape)])
    for pair in _one_for_each_pair_of_steps(actions, accesses, one[racing], other[racing], units):
        yield _finding(actions, accesses, pair, units)


def _one_for_each_pair_of_steps(
    actions: Actions, accesses: _Accesses, one: Ints, other: Ints, units: Units
) -> Iterator[tuple[int, int]]:
    """Keep, for each pair of steps, the accesses of the first chunk, the earlier step first."""
    step = actions.step[units.action[accesses.unit]]
    swap = step[one] > step[other]
    low, high = np.where(swap, other, one), np.where(swap, one, other)
    order = np.lexsort((accesses.writes[low], accesses.cell[low], step[high], step[low]))
    key = step[low[order]] * actions.steps.block.size + step[high[order]]
    _, at = np.unique(key, return_index=True)
    return zip(low[order[at]].tolist(), high[order[at]].tolist(), strict=True)


def _accesses(units: Units, levels: Ints, each: int) -> _Accesses:
    """Return the reads and writes of the first slice that are executed.

    A copy of a chunk to itself, as in-place calls may have, changes nothing and does not count.
    """
    done = np.flatnonzero((units.action < each) & (levels[units.action] >= 0))
    idle = (units.first[done] == units.target[done]) & (units.second[done] < 0)
    parts = [
        (done[units.first[done] < units.cells], units.first, False),
        (done[units.second[done] >= 0], units.second, False),
        (done[(units.target[done] >= 0) & ~idle], units.target, True),
    ]
    unit = np.concatenate([some for some, _, _ in parts])
    cell = np.concatenate([places[some] for some, places, _ in parts])
    writes = np.concatenate([np.full(some.size, write) for some, _, write in parts])
    order = np.lexsort((writes, units.action[unit], levels[units.action[unit]], cell))
    return _Accesses(cell[order], unit[order], writes[order])


def find_overlaps(actions: Actions, units: Units, levels: Ints) -> Iterator[Finding]:
    """Report steps that write a chunk which another chunk of the same transfer reads."""
    accesses = _accesses(units, levels, actions.each)
    one, other = neighbours(accesses.cell, accesses.writes)
    first, second = units.action[accesses.unit[one]], units.action[accesses.unit[other]]
    within = (first == second) & (accesses.unit[one] != accesses.unit[other])
    for step in np.unique(actions.step[first[within]]):
        message = f"{actions.steps.name(step)}: reads chunks that it writes, shifted"
        yield Finding.at(Kind.RACE, message, actions.steps.place(step))


def _finding(actions: Actions, accesses: _Accesses, pair: tuple[int, int], units: Units) -> Finding:
    steps = [actions.step_of(units.action[accesses.unit[access]]) for access in pair]
    words = " and ".join(
        f"{actions.steps.name(step)} {'writes' if accesses.writes[access] else 'reads'}"
        for step, access in zip(steps, pair, strict=True)
    )
    message = f"{words} {_chunk(actions, accesses, pair[0], units)}, in no order"
    return Finding.at(Kind.RACE, message, *(actions.steps.place(step) for step in steps))


def _chunk(actions: Actions, accesses: _Accesses, access: int, units: Units) -> str:
    """Name the chunk as the step of an access does."""
    unit = accesses.unit[access]
    action = units.action[unit]
    step = actions.step[action]
    steps = actions.steps
    is_target = units.target[unit] == accesses.cell[access]
    buffer, offset = (
        (steps.target[step], steps.target_offset[step])
        if is_target
        else (steps.source[step], steps.source_offset[step])
    )
    nth = unit - np.searchsorted(units.action, action)
    chunk = offset + actions.first_chunk[action] + nth
    return f"chunk {chunk} of {BUFFERS[buffer]}"
