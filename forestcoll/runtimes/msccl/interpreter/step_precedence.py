"""Precedence edges of the actions of an algorithm, and the flags that end their waits.

Problem: an action comes after its predecessor in the threadblock, the send that it takes from, the
         receive that makes room for it, and the step that ends its wait.
Input:   the actions of all slices and their pairs.
Output:  the edges.
Cost:    one pass.
Source:  a threadblock's flag only grows. A wait for a step without a signal ends with the next step
         that signals, if the program has one; the last slice decides, as no later slice follows.
         Every slice sends as much as it receives; otherwise that is a finding. So a slice can run
         after the previous one has ended, and one slice decides for all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from forestcoll.runtimes.interpretation.cells import Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.interpretation.precedence import Edges, Reason
from forestcoll.runtimes.msccl.interpreter.actions import Actions
from forestcoll.runtimes.msccl.interpreter.fifos import Pairs
from forestcoll.runtimes.msccl.interpreter.merged_steps import MergedSteps

__all__ = ["check_waits", "edges_of", "ends_of_waits", "first_that_set_flag"]


def ends_of_waits(steps: MergedSteps) -> Ints:
    """Return the step that ends each wait in the same slice, or -1."""
    setters, keys, width = _flag_setters(steps)
    if not setters.size:
        return np.full(steps.wait_step.size, -1, dtype=np.int64)
    counters = np.clip(steps.wait_counter, -1, width - 2)
    found = np.searchsorted(keys, steps.wait_block * width + counters + 1)
    ends = setters[np.minimum(found, setters.size - 1)]
    fits = (found < setters.size) & (steps.block[ends] == steps.wait_block)
    return np.where(fits, ends, -1)


def first_that_set_flag(steps: MergedSteps) -> Ints:
    """Return the first signalling step of the threadblock of each wait, or -1."""
    setters, keys, width = _flag_setters(steps)
    if not setters.size:
        return np.full(steps.wait_step.size, -1, dtype=np.int64)
    found = np.minimum(np.searchsorted(keys, steps.wait_block * width), setters.size - 1)
    first = setters[found]
    return np.where(steps.block[first] == steps.wait_block, first, -1)


def _flag_setters(steps: MergedSteps) -> tuple[Ints, Ints, int]:
    """Return the signalling steps, their ascending keys, and the keys of a threadblock."""
    setters = np.flatnonzero(steps.sets_flag)
    width = int(steps.counter.max(initial=0)) + 3
    return setters, steps.block[setters] * width + steps.counter[setters] + 1, width


def check_waits(steps: MergedSteps) -> Iterator[Finding]:
    """Report waits that nothing ends, or that another step than the named one ends."""
    ends = ends_of_waits(steps)
    exact = steps.counter[ends] == steps.wait_counter
    width = int(steps.counter.max(initial=0)) + 2
    keys = steps.block * width + steps.counter
    for wait in np.flatnonzero((ends < 0) | ~exact):
        step, counter = steps.wait_step[wait], steps.wait_counter[wait]
        place = steps.place(step)
        if steps.wait_block[wait] < 0:
            yield Finding.at(
                Kind.DEPENDENCY, f"{place}: waits for a threadblock that its GPU has not", place
            )
            continue
        other = f"step {counter} of threadblock {steps.block_number[steps.wait_block[wait]]}"
        key = steps.wait_block[wait] * width + counter if 0 <= counter < width else -1
        low, high = np.searchsorted(keys, (key, key + 1))
        places = [steps.place(one) for one in range(low, high)]
        lines = "".join(f" (line {one.line})" for one in places if one.line)
        silent = "has hasdep=0" if places else "is not there"
        if ends[wait] < 0:
            message = (
                f"{place}: waits for {other}{lines}, which {silent}, and no later step sets a flag"
            )
            yield Finding.at(Kind.DEPENDENCY, message, place, *places)
        else:
            message = f"{place}: waits for {other}{lines}, which {silent}; {steps.name(ends[wait])}"
            yield Finding.at(
                Kind.NOTE, f"{message} ends the wait", place, *places, steps.place(ends[wait])
            )


def edges_of(actions: Actions, pairs: Pairs) -> Edges:
    """Return all precedence edges."""
    parts = [
        (*_program(actions), Reason.PROGRAM),
        (*_data(actions, pairs), Reason.DATA),
        (*_room(pairs), Reason.ROOM),
        (*_flags(actions), Reason.FLAG),
    ]
    tail = np.concatenate([tails for tails, _, _ in parts])
    head = np.concatenate([heads for _, heads, _ in parts])
    reason = np.concatenate([np.full(t.size, r, dtype=np.int64) for t, _, r in parts])
    order = np.argsort(head, kind="stable")
    return Edges(tail[order], head[order], reason[order])


def _program(actions: Actions) -> tuple[Ints, Ints]:
    """Edges of the program order; a slice's first action follows the previous slice's last."""
    block = actions.block
    same = np.flatnonzero(block[1:] == block[:-1])
    offsets = np.arange(actions.slices)[:, None] * actions.each
    starts = np.flatnonzero(np.r_[True, block[1:] != block[:-1]]) if block.size else block
    ends = np.flatnonzero(np.r_[block[1:] != block[:-1], True]) if block.size else block
    tails = np.concatenate([(offsets + same).ravel(), (offsets[:-1] + ends).ravel()])
    heads = np.concatenate([(offsets + same + 1).ravel(), (offsets[1:] + starts).ravel()])
    return tails, heads


def _data(actions: Actions, pairs: Pairs) -> tuple[Ints, Ints]:
    heads = np.flatnonzero(np.tile(actions.pops, actions.slices))
    return pairs.push[heads], heads


def _room(pairs: Pairs) -> tuple[Ints, Ints]:
    heads = np.flatnonzero(pairs.room != -1)
    return np.maximum(pairs.room[heads], -1), heads


def _flags(actions: Actions) -> tuple[Ints, Ints]:
    steps = actions.steps
    ends, firsts = ends_of_waits(steps), first_that_set_flag(steps)
    last, first = actions.last_of_step, actions.first_of_step
    tails, heads = [], []
    for number in range(actions.slices):
        offset = number * actions.each
        later = number + 1 < actions.slices
        after = np.where((firsts >= 0) & later, last[firsts] + offset + actions.each, -1)
        tails.append(np.where(ends >= 0, last[ends] + offset, after))
        heads.append(first[steps.wait_step] + offset)
    return np.concatenate(tails), np.concatenate(heads)
