"""FIFO matching: the send of each receive, and the later send that it makes room for.

A channel between two GPUs keeps the order of its transfers. So the n-th receive takes the n-th
send, at any speeds of the threadblocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from forestcoll.runtimes.interpretation.cells import Ints
from forestcoll.runtimes.interpretation.findings import Finding, Kind
from forestcoll.runtimes.msccl.interpreter.actions import Actions
from forestcoll.runtimes.msccl.interpreter.merged_steps import MergedSteps

__all__ = ["Pairs", "check_pairs", "pairs_of"]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Matched sends and receives of the actions of all slices.

    Parameters
    ----------
    push : ndarray (actions,)
        The send that a receive takes from; -1 if there is none, or the action is no receive.
    room : ndarray (actions,)
        The receive that makes room for a send; -1 if there is room at the start, or the action is
        no send; -2 if nothing ever makes room.
    room_at_any_size : ndarray (actions,)
        The same with one transfer for every step: the precedence that holds in calls of all sizes.
    pop : ndarray (actions,)
        The receive of a send; -1 for none.
    """

    push: Ints
    room: Ints
    room_at_any_size: Ints
    pop: Ints


def pairs_of(actions: Actions, depth: int) -> Pairs:
    """Match sends and receives, with FIFOs that hold ``depth`` transfers."""
    steps = actions.steps
    send, receive = _ends(steps)
    block = actions.block
    pushes, push_keys = _ranked(actions, actions.pushes, send[block])
    pops, pop_keys = _ranked(actions, actions.pops, receive[block])
    size = actions.each * actions.slices
    push, pop = (np.full(size, -1, dtype=np.int64) for _ in range(2))
    push[pops] = _looked_up(pop_keys, push_keys, pushes)
    pop[pushes] = _looked_up(push_keys, pop_keys, pops)
    room = _room(pushes, push_keys, pops, pop_keys, depth, size)
    push_steps = _by_step(actions, pushes, push_keys)
    pop_steps = _by_step(actions, pops, pop_keys)
    ends = np.flatnonzero(np.diff(pop_steps, append=-1) != 0)
    loose = _room(pushes, push_steps, pops[ends], pop_steps[ends], depth, size)
    return Pairs(push, room, loose, pop)


def _room(pushes: Ints, push_keys: Ints, pops: Ints, pop_keys: Ints, depth: int, size: int) -> Ints:
    """Return the receive that is the FIFO's depth before each send."""
    room = np.full(size, -1, dtype=np.int64)
    late = push_keys % size >= depth
    freed = _looked_up(push_keys[late] - depth, pop_keys, pops)
    # -2, unlike -1: the FIFO is full and no receive empties it, so the send never runs.
    room[pushes[late]] = np.where(freed < 0, -2, freed)
    return room


def _by_step(actions: Actions, found: Ints, keys: Ints) -> Ints:
    """Return keys that count steps instead of transfers."""
    size = actions.each * actions.slices
    starts: Ints = np.cumsum(actions.first_chunk[found % actions.each] == 0)
    fifo = keys // size
    counted: Ints = starts - starts[np.searchsorted(fifo, fifo)]
    return fifo * size + counted


def _ends(steps: MergedSteps) -> tuple[Ints, Ints]:
    """Number the FIFO of each threadblock's sends, and that of its receives."""
    gpus = int(steps.block_gpu.max(initial=0)) + 1
    channels = int(steps.channel.max(initial=0)) + 2
    send = (steps.block_gpu * gpus + np.clip(steps.send, 0, gpus - 1)) * channels
    receive = (np.clip(steps.receive, 0, gpus - 1) * gpus + steps.block_gpu) * channels
    return send + steps.channel + 1, receive + steps.channel + 1


def _ranked(actions: Actions, which: np.ndarray, fifo: Ints) -> tuple[Ints, Ints]:
    """Return actions with ascending keys: the FIFO, and the position in it."""
    of_slice = np.flatnonzero(which)
    offsets = np.arange(actions.slices) * actions.each
    found = (offsets[:, None] + of_slice).ravel()
    fifos = np.tile(fifo[of_slice], actions.slices)
    order = np.argsort(fifos, kind="stable")
    found, fifos = found[order], fifos[order]
    starts = np.searchsorted(fifos, fifos)
    size = actions.each * actions.slices
    return found, fifos * size + np.arange(found.size) - starts


def _looked_up(keys: Ints, among: Ints, values: Ints) -> Ints:
    """Return the value of each key, or -1."""
    if not among.size:
        return np.full(keys.size, -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(among, keys), among.size - 1)
    return np.where(among[places] == keys, values[places], -1)


def check_pairs(actions: Actions, pairs: Pairs) -> Iterator[Finding]:
    """Report unmatched sends and receives of the first slice, and pairs of unequal counts."""
    steps = actions.steps
    for which, partner, peer, does, lacks in (
        (actions.pops, pairs.push, steps.receive, "receives", "send"),
        (actions.pushes, pairs.pop, steps.send, "sends", "receive"),
    ):
        for action in np.flatnonzero(which & ~_within(partner[: actions.each], actions.each)):
            step, block = actions.step[action], actions.block[action]
            message = (
                f"{steps.name(step)}: {does} what GPU {peer[block]} does not {lacks} over channel "
                f"{steps.channel[block]}"
            )
            yield Finding.at(Kind.PAIRING, message, steps.place(step))
    yield from _unlike(actions, pairs)


def _within(found: Ints, each: int) -> np.ndarray:
    return (found >= 0) & (found < each)


def _unlike(actions: Actions, pairs: Pairs) -> Iterator[Finding]:
    push = pairs.push[: actions.each]
    matched = np.flatnonzero(_within(push, actions.each))
    unlike = matched[actions.count[push[matched]] != actions.count[matched]]
    for pop in unlike:
        taken, step = actions.step[push[pop]], actions.step[pop]
        message = (
            f"{actions.steps.name(step)}: takes {actions.count[pop]} of a transfer of "
            f"{actions.count[push[pop]]}, {actions.steps.name(taken)}"
        )
        yield Finding.at(
            Kind.PAIRING, message, actions.steps.place(step), actions.steps.place(taken)
        )
