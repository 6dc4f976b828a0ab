"""Processes of torch.distributed, with one batch of sends and receives for each step.

:mod:`forestcoll.runtimes.python_modules.python_module` copies this file into modules.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from forestcoll.runtimes.python_modules.rank_run import (
    Schedule,
    hashed,
    run_schedule,
    wrong_elements,
)

__all__ = ["TorchCommunicator", "main"]


class TorchCommunicator:
    """The processes of a group; all of them if none is given."""

    def __init__(self, group: Any = None) -> None:
        import torch.distributed

        self._dist = torch.distributed
        self._group = group or self._dist.group.WORLD
        self.rank = self._dist.get_rank(self._group)

    def empty(self, given: Any, length: int) -> Any:
        """Return an uninitialised tensor of the same type, on the same device."""
        return given.new_empty(length)

    def exchange(self, sends: list[tuple[int, Any]], receives: list[tuple[int, Any]]) -> None:
        """Post all messages of a step as one batch, which NCCL runs as one group."""
        batch = [self._post(self._dist.irecv, array, peer) for peer, array in receives]
        batch += [self._post(self._dist.isend, array, peer) for peer, array in sends]
        for work in self._dist.batch_isend_irecv(batch):
            work.wait()

    def _post(self, how: Any, array: Any, peer: int) -> Any:
        everywhere = self._dist.get_global_rank(self._group, peer)
        return self._dist.P2POp(how, array, everywhere, self._group)


def main(schedule: Schedule) -> None:
    """Run the schedule between the processes that torchrun started, and check the results.

    The argument is the number of elements that a rank gives. Processes use their GPUs over NCCL,
    or else the CPUs over gloo.
    """
    import torch
    import torch.distributed

    length = int(sys.argv[1]) if len(sys.argv) > 1 else 2**16 * schedule.ranks
    here = int(os.environ.get("LOCAL_RANK", "0"))
    on_gpus = torch.cuda.is_available()
    device = torch.device("cuda", here) if on_gpus else torch.device("cpu")
    torch.distributed.init_process_group("nccl" if on_gpus else "gloo")
    communicator = TorchCommunicator()

    def given(rank: int) -> Any:
        return hashed(torch.arange(length, device=device) + rank * length)

    own = given(communicator.rank)
    result = run_schedule(schedule, own, communicator)
    wrong = wrong_elements(schedule, communicator.rank, result, given)
    torch.distributed.barrier()
    begin = time.perf_counter()
    run_schedule(schedule, own, communicator)
    torch.distributed.barrier()
    took = 1e3 * (time.perf_counter() - begin)
    sys.stdout.write(f"rank {communicator.rank}: {wrong} wrong elements, {took:.3f} ms\n")
    torch.distributed.destroy_process_group()
    if wrong:
        raise SystemExit(1)
