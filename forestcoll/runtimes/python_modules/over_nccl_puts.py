"""Processes of nccl4py that put data into each other's memory, with a signal behind each message.

A put needs no receive at its other end: the receiver waits for its signal. Windows of NCCL have one
size at all ranks, and what is put must lie in one. So every message goes from the sender's part of
its window to the receiver's, and is copied on either side.

:mod:`forestcoll.runtimes.python_modules.python_module` copies this file into modules.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from forestcoll.runtimes.python_modules.over_nccl_groups import NcclCommunicator
from forestcoll.runtimes.python_modules.rank_run import Schedule, message_lengths, run_schedule

__all__ = ["NcclPutCommunicator", "run_with_puts"]


class NcclPutCommunicator(NcclCommunicator):
    """The processes of an ``nccl.core.Communicator``, with a window for all calls."""

    def __init__(self, communicator: Any) -> None:
        super().__init__(communicator)
        self._window: Any = None
        self._memory: Any = None

    def begin(self, schedule: Schedule, given: Any) -> None:
        """Wait until the window of every receiver is free; call it before each run.

        What comes to a rank lies in the order of senders, so all ranks know where.
        """
        many = Counter[tuple[int, int]]()
        for number, length in message_lengths(schedule, len(given)).items():
            transfer = schedule.transfers[number]
            many[transfer.sender, transfer.receiver] += length
        ranks = range(schedule.ranks)
        incoming = [sum(many[a, b] for a in ranks) for b in ranks]
        outgoing = [sum(many[a, b] for b in ranks) for a in ranks]
        self._out = max(incoming)  # where the sender's part of a window begins
        self._hold(given, self._out + max(outgoing))
        self._sent, self._used = Counter[int](), 0
        self._place = Counter[int]()
        for peer in ranks:
            self._sent[peer] = sum(many[a, peer] for a in range(self.rank))
            self._place[peer] = sum(many[a, self.rank] for a in range(peer))
        self._signal_free([peer for peer in ranks if many[peer, self.rank]])
        self._wait(Counter(peer for peer in ranks if many[self.rank, peer]))

    def exchange(self, sends: list[tuple[int, Any]], receives: list[tuple[int, Any]]) -> None:
        """Put all messages of a step as one group, and wait for those of the others."""
        messages = [(peer, self._packed(array)) for peer, array in sends]
        self._nccl.group_start()
        for peer, array in messages:
            place = self._sent[peer]
            self._sent[peer] += len(array)
            self._communicator.put_signal(array, peer, self._window, place, stream=self._stream)
        self._nccl.group_end()
        self._wait(Counter(peer for peer, _ in receives))
        for peer, array in receives:
            place = self._place[peer]
            self._place[peer] += len(array)
            array[:] = self._memory[place : place + len(array)]

    @property
    def _stream(self) -> Any:
        return self._torch.cuda.current_stream().cuda_stream

    def _hold(self, given: Any, length: int) -> None:
        """Register a window of this length and type, unless there is one."""
        if self._window is not None:
            if len(self._memory) >= length and self._memory.dtype == given.dtype:
                return
            self._window.close()
        self._memory = self._nccl.torch.empty(length, dtype=given.dtype, device=given.device)
        flags = self._nccl.WindowFlag.COLL_SYMMETRIC
        self._window = self._communicator.register_window(self._memory, flags)

    def _packed(self, array: Any) -> Any:
        """Copy a message into the window."""
        begin = self._out + self._used
        self._used += len(array)
        place = self._memory[begin : begin + len(array)]
        place[:] = array
        return place

    def _signal_free(self, peers: list[int]) -> None:
        self._nccl.group_start()
        for peer in peers:
            self._communicator.signal(peer, stream=self._stream)
        self._nccl.group_end()

    def _wait(self, signals: Counter[int]) -> None:
        """Wait for so many more signals of each peer; they come in the order of its messages."""
        waits = [self._nccl.WaitSignalDesc(peer, many) for peer, many in sorted(signals.items())]
        if waits:
            self._communicator.wait_signal(waits, stream=self._stream)


def run_with_puts(schedule: Schedule, given: Any, communicator: NcclPutCommunicator) -> Any:
    """Run a schedule at this rank and return its result."""
    communicator.begin(schedule, given)
    return run_schedule(schedule, given, communicator)
