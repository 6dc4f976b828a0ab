"""Check of a written module: all ranks in one process, step by step.

Problem: does the file give every rank the result of its collective?
Input:   the text of a module.
Output:  nothing, or the first wrong rank.
Cost:    each transfer once, with a few elements a unit.
Source:  ours. Messages between two ranks match in order, as in a group of NCCL. Each sender's data
         are taken when its step begins, so nobody sees what arrives in the same step.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from forestcoll.errors import VerificationError

__all__ = ["check_module", "run_in_lockstep"]

_Exchange = tuple[list[tuple[int, Any]], list[tuple[int, Any]]]
_LEAST_ELEMENTS = 3
_MOST_ELEMENTS = 2**24
"""Of all ranks; so 128 MB."""


def check_module(text: str) -> str:
    """Run a module's schedule between arrays of this process.

    Parameters
    ----------
    text : str
        Of a module that :func:`python_module` wrote. It is executed.

    Returns
    -------
    str
        What was executed, in words.

    Raises
    ------
    VerificationError
        If a rank has a wrong result, or a message has no partner of its length.
    """
    module: dict[str, Any] = {"__name__": "written_module"}
    exec(compile(text, "written module", "exec"), module)
    schedule = module["SCHEDULE"]
    # Units that do not divide evenly are the common case.
    length = schedule.ranks * (schedule.units // schedule.ranks + _LEAST_ELEMENTS)
    length = min(length, _MOST_ELEMENTS // schedule.ranks**2 * schedule.ranks)
    numbers = module["hashed"](np.arange(schedule.ranks * length, dtype=np.int64))
    given = numbers.reshape(schedule.ranks, length)
    calls = [
        module["RankRun"](schedule, rank, given[rank].copy(), _empty)
        for rank in range(schedule.ranks)
    ]
    run_in_lockstep([call.exchanges() for call in calls])
    for rank, call in enumerate(calls):
        wrong = module["wrong_elements"](schedule, rank, call.result, given.__getitem__)
        if wrong:
            raise VerificationError(
                f"carried out, the module is wrong: rank {rank} has {wrong} wrong elements of "
                f"{len(call.result)}"
            )
    return f"{schedule.ranks} ranks in one process, {length} elements each"


def run_in_lockstep(ranks: Sequence[Iterator[_Exchange]]) -> None:
    """Exchange the messages of all ranks, step by step.

    Ranks without messages in a step go on to their next. A receive whose message is still to come
    waits, and so does its rank.
    """
    sent = defaultdict[tuple[int, int], deque[Any]](deque)
    waiting: list[list[tuple[int, Any]]] = [[] for _ in ranks]
    active = set(range(len(ranks)))
    while active:
        before = len(active), sum(map(len, waiting)), sum(map(len, sent.values()))
        moved = False
        for rank in sorted(active):
            waiting[rank] = [one for one in waiting[rank] if not _received(sent, rank, *one)]
            if waiting[rank]:
                continue
            moved = True
            step = next(ranks[rank], None)
            if step is None:
                active.discard(rank)
                continue
            sends, waiting[rank] = step[0], list(step[1])
            for peer, array in sends:
                sent[rank, peer].append(array.copy())
        after = len(active), sum(map(len, waiting)), sum(map(len, sent.values()))
        if not moved and before == after:
            rank = min(active)
            raise VerificationError(
                f"rank {rank} waits for a message of rank {waiting[rank][0][0]} that never comes"
            )
    for (sender, receiver), left in sent.items():
        if left:
            raise VerificationError(
                f"rank {sender} sends to rank {receiver} what it does not receive"
            )


def _received(sent: dict[tuple[int, int], deque[Any]], rank: int, peer: int, array: Any) -> bool:
    messages = sent[peer, rank]
    if not messages:
        return False
    if len(messages[0]) != len(array):
        raise VerificationError(
            f"rank {rank} receives {len(array)} elements of rank {peer}, which sends "
            f"{len(messages[0])}"
        )
    array[:] = messages.popleft()
    return True


def _empty(length: int) -> Any:
    return np.full(length, -1, dtype=np.int64)
