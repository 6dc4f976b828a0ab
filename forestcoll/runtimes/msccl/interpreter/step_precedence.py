"""Precedence edges of the actions of an algorithm.

Problem: an action comes after its predecessor in the threadblock, the send that it takes from, the
    receive that makes room for it, and the step that ends its wait
Input: the actions of all slices, their pairs, the ends of waits
Output: the edges
Cost: one pass
Source: every slice sends as much as it receives; otherwise that is a finding. So a slice can run
    after the previous one has ended, and one slice decides for all
"""

from __future__ import annotations

import numpy as np

from forestcoll.runtimes.interpretation.cells import Ints
from forestcoll.runtimes.interpretation.precedence import Edges, Reason
from forestcoll.runtimes.msccl.interpreter.actions import Actions
from forestcoll.runtimes.msccl.interpreter.fifos import Pairs
from forestcoll.runtimes.msccl.interpreter.flags import ends_of_waits, first_that_tell

__all__ = ["edges_of"]


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
    ends, firsts = ends_of_waits(steps), first_that_tell(steps)
    last, first = actions.last_of_step, actions.first_of_step
    tails, heads = [], []
    for number in range(actions.slices):
        offset = number * actions.each
        later = number + 1 < actions.slices
        after = np.where((firsts >= 0) & later, last[firsts] + offset + actions.each, -1)
        tails.append(np.where(ends >= 0, last[ends] + offset, after))
        heads.append(first[steps.wait_step] + offset)
    return np.concatenate(tails), np.concatenate(heads)
