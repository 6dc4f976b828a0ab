"""One call of a collective at one rank, by steps of sends and receives.

Problem: a rank has to know what to send and to receive in each step, and where it lies.
Input:   the transfers of all ranks; this rank's part of the data.
Output:  for each step, arrays to send and arrays to receive into; at last the rank's result.
Cost:    linear in the rank's transfers; memory for what comes in beside the result.
Source:  ours. All ranks do the steps in one order, and a step needs only what came in earlier
         steps. So the first unfinished step can always end, if it is posted as one group.

:mod:`forestcoll.runtimes.python_modules.python_module` copies this file into the modules that it
writes. So it needs nothing but Python. Arrays have one dimension, and may be torch's or numpy's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

__all__ = [
    "RankRun", "Schedule", "Transfer", "hashed", "message_lengths", "read_transfers",
    "run_schedule", "wrong_elements",
]  # fmt: skip


class Transfer(NamedTuple):
    """One message, with the interval of the data that it moves.

    The receiver's action is one of

    - ``place``: receive straight into the result;
    - ``copy``, ``add``: receive beside; at the end, write or add it to the result;
    - ``pass``, ``pass-add``: receive beside, for later transfers only.

    A transfer sends the sender's own part of its interval. To that, the transfers that it needs
    were added (``add``, ``pass-add``), or they replace it (all others).
    """

    number: int
    step: int
    sender: int
    receiver: int
    begin: int
    end: int
    action: str
    needs: tuple[int, ...]


class Schedule(NamedTuple):
    """All transfers of a collective.

    Units are equal parts of the data of nccl-tests: of the gathered data, of a buffer to be
    reduced or broadcast, or of the inputs of all ranks in an all-to-all, one after another.
    """

    collective: str
    ranks: int
    root: int
    units: int
    transfers: dict[int, Transfer]


def read_transfers(table: str) -> dict[int, Transfer]:
    """Read the table of transfers, one a line; lines that begin with ``#`` are comments."""
    found = {}
    for line in table.splitlines():
        words = line.split()
        if words and words[0] != "#":
            number, step, sender, receiver, begin, end = map(int, words[:6])
            needs = tuple(map(int, words[7:]))
            found[number] = Transfer(number, step, sender, receiver, begin, end, words[6], needs)
    return found


class RankRun:
    """The data of one rank during one call."""

    def __init__(
        self, schedule: Schedule, rank: int, given: Any, empty: Callable[[int], Any]
    ) -> None:
        self._schedule, self._rank, self._given, self._empty = schedule, rank, given, empty
        self._slot = len(given) // schedule.ranks
        if schedule.collective in ("reduce-scatter", "all-to-all") and len(given) % schedule.ranks:
            raise ValueError(
                f"{len(given)} elements cannot be divided among {schedule.ranks} ranks"
            )
        self._elements = _elements(schedule, len(given))
        self._came: dict[int, Any] = {}
        self.result = empty(self._result_length())

    def exchanges(self) -> Iterator[tuple[list[tuple[int, Any]], list[tuple[int, Any]]]]:
        """Yield sends and receives of each step, as (peer, array); post them as one group."""
        self._copy_own_part()
        mine = [
            one
            for one in self._schedule.transfers.values()
            if self._rank in (one.sender, one.receiver) and self._length(one)
        ]
        mine.sort(key=lambda one: (one.step, one.number))
        for _, step in groupby(mine, key=lambda one: one.step):
            now = list(step)
            sends = [(t.receiver, self._content(t)) for t in now if t.sender == self._rank]
            receives = [(t.sender, self._room(t)) for t in now if t.receiver == self._rank]
            yield sends, receives
        self._finish(mine)

    def _border(self, unit: int) -> int:
        """The element at which a unit begins, in the data of all ranks."""
        return _border(self._schedule, self._elements, unit)

    def _length(self, transfer: Transfer) -> int:
        return self._border(transfer.end) - self._border(transfer.begin)

    def _result_length(self) -> int:
        match self._schedule.collective:
            case "allgather":
                return self._elements
            case "reduce-scatter":
                return self._slot
            case "reduce":
                return self._elements if self._rank == self._schedule.root else 0
            case _:
                return len(self._given)

    def _has(self, transfer: Transfer) -> bool:
        """Whether this rank has a part of its own in the interval."""
        match self._schedule.collective:
            case "allgather" | "all-to-all":
                share = self._schedule.units // self._schedule.ranks
                return transfer.begin // share == self._rank
            case "broadcast":
                return self._rank == self._schedule.root
            case _:
                return True

    def _own(self, transfer: Transfer) -> Any:
        """Return the own part of an interval."""
        before = 0
        if self._schedule.collective in ("allgather", "all-to-all"):
            before = self._rank * len(self._given)
        begin = self._border(transfer.begin) - before
        return self._given[begin : begin + self._length(transfer)]

    def _in_result(self, transfer: Transfer) -> Any:
        """The place of an interval in the result."""
        begin = self._border(transfer.begin)
        if self._schedule.collective == "reduce-scatter":
            begin -= self._rank * self._slot
        elif self._schedule.collective == "all-to-all":
            # Every sender's slots are in the order of receivers; results are in that of senders.
            sender = begin // len(self._given)
            begin -= sender * len(self._given) + (self._rank - sender) * self._slot
        return self.result[begin : begin + self._length(transfer)]

    def _copy_own_part(self) -> None:
        mine = slice(self._rank * self._slot, (self._rank + 1) * self._slot)
        match self._schedule.collective:
            case "allgather":
                begin = self._rank * len(self._given)
                self.result[begin : begin + len(self._given)] = self._given
            case "reduce-scatter":
                self.result[:] = self._given[mine]
            case "all-to-all":
                self.result[mine] = self._given[mine]
            case "allreduce":
                self.result[:] = self._given
            case _ if self._rank == self._schedule.root:
                self.result[:] = self._given

    def _room(self, transfer: Transfer) -> Any:
        """The array that a message is received into."""
        straight = transfer.action == "place"
        room = self._in_result(transfer) if straight else self._empty(self._length(transfer))
        self._came[transfer.number] = room
        return room

    def _content(self, transfer: Transfer) -> Any:
        """The array that a message is sent from."""
        needs = [self._schedule.transfers[need] for need in transfer.needs]
        if not needs:
            return self._own(transfer)
        last = needs[-1]
        if not last.action.endswith("add"):
            return self._came[last.number]
        content = self._empty(self._length(transfer))
        if self._has(transfer):
            content[:] = self._own(transfer)
        for need in needs:
            self._apply(need, content)
        return content

    def _apply(self, transfer: Transfer, target: Any) -> None:
        if transfer.action.endswith("add"):
            target += self._came[transfer.number]
        else:
            target[:] = self._came[transfer.number]

    def _finish(self, mine: list[Transfer]) -> None:
        """Complete the result, in the order of the transfers' numbers."""
        for one in sorted(mine):
            if one.receiver == self._rank and one.action in ("copy", "add"):
                self._apply(one, self._in_result(one))


def _elements(schedule: Schedule, given: int) -> int:
    """The elements of the data of all ranks, if each gives so many."""
    joined = schedule.collective in ("allgather", "all-to-all")
    return given * (schedule.ranks if joined else 1)


def _border(schedule: Schedule, elements: int, unit: int) -> int:
    return unit * elements // schedule.units


def message_lengths(schedule: Schedule, given: int) -> dict[int, int]:
    """Return the elements of each transfer by its number, if each rank gives so many."""
    whole = _elements(schedule, given)
    return {
        number: _border(schedule, whole, one.end) - _border(schedule, whole, one.begin)
        for number, one in schedule.transfers.items()
    }


def run_schedule(schedule: Schedule, given: Any, communicator: Any) -> Any:
    """Run a schedule at this rank and return its result.

    The communicator has a ``rank``; ``empty(given, length)`` makes an array like the given one;
    ``exchange(sends, receives)`` posts a step, pairs of a peer and an array, as one group. Messages
    between two ranks arrive in the order in which they are sent.
    """
    call = RankRun(
        schedule, communicator.rank, given, lambda length: communicator.empty(given, length)
    )
    for sends, receives in call.exchanges():
        communicator.exchange(sends, receives)
    return call.result


def hashed(numbers: Any) -> Any:
    """Return a number for each whole number, unlike those near it."""
    return (numbers + 1) * 2654435761 % 2147483648


def wrong_elements(schedule: Schedule, rank: int, result: Any, given: Callable[[int], Any]) -> int:
    """Count elements of a rank's result that the collective's definition does not give.

    ``given(rank)`` is what that rank gave.
    """
    wrong = at = 0
    for part in _parts_due(schedule, rank, len(result), given):
        wrong += int((result[at : at + len(part)] != part).sum())
        at += len(part)
    return wrong + len(result) - at


def _parts_due(
    schedule: Schedule, rank: int, length: int, given: Callable[[int], Any]
) -> Iterator[Any]:
    """Yield what a rank's result of a length should be, by the collective's definition."""
    ranks = range(schedule.ranks)
    match schedule.collective:
        case "allgather":
            yield from map(given, ranks)
        case "broadcast":
            yield given(schedule.root)
        case "all-to-all":
            slot = length // schedule.ranks
            yield from (given(one)[rank * slot : (rank + 1) * slot] for one in ranks)
        case _:
            begin = rank * length if schedule.collective == "reduce-scatter" else 0
            yield sum(map(given, ranks))[begin : begin + length]
