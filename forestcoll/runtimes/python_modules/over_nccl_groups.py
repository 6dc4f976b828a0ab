"""Processes of nccl4py (``nccl.core``), with one group of sends and receives for each step.

:mod:`forestcoll.runtimes.python_modules.python_module` copies this file into modules.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from forestcoll.runtimes.python_modules.rank_run import (
    Schedule,
    hashed,
    run_schedule,
    wrong_elements,
)

__all__ = ["NcclCommunicator", "main"]


class NcclCommunicator:
    """The processes of an ``nccl.core.Communicator``; arrays are torch's.

    All messages and additions are in torch's current stream, so that they follow each other.
    """

    def __init__(self, communicator: Any) -> None:
        import nccl.core
        import torch

        self._nccl, self._torch, self._communicator = nccl.core, torch, communicator
        self.rank = communicator.rank

    def empty(self, given: Any, length: int) -> Any:
        """Return an uninitialised tensor of the same type, on the same device."""
        return given.new_empty(length)

    def exchange(self, sends: list[tuple[int, Any]], receives: list[tuple[int, Any]]) -> None:
        """Queue all messages of a step as one group."""
        stream = self._torch.cuda.current_stream().cuda_stream
        self._nccl.group_start()
        for peer, array in sends:
            self._communicator.send(array, peer, stream=stream)
        for peer, array in receives:
            self._communicator.recv(array, peer, stream=stream)
        self._nccl.group_end()


def main(
    schedule: Schedule,
    run: Callable[[Schedule, Any, Any], Any] = run_schedule,
    communicator_of: Callable[[Any], Any] = NcclCommunicator,
) -> None:
    """Run the schedule between the processes that torchrun started, and check the results.

    The argument of the program is the number of elements that a rank gives. torch.distributed
    (gloo) only brings the processes together.
    """
    import nccl.core
    import torch
    import torch.distributed

    length = int(sys.argv[1]) if len(sys.argv) > 1 else 2**16 * schedule.ranks
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    meeting = [nccl.core.get_unique_id() if rank == 0 else None]
    torch.distributed.broadcast_object_list(meeting, src=0)
    joined = nccl.core.Communicator.init(schedule.ranks, rank, meeting[0])

    def given(of: int) -> Any:
        return hashed(torch.arange(length, device="cuda") + of * length)

    result = run(schedule, given(rank), communicator_of(joined))
    wrong = wrong_elements(schedule, rank, result, given)
    sys.stdout.write(f"rank {rank}: {wrong} wrong elements\n")
    joined.destroy()
    torch.distributed.destroy_process_group()
    if wrong:
        raise SystemExit(1)
