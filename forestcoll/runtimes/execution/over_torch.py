"""torch.distributed transport: NCCL between GPUs, gloo between CPUs.

The messages of a round form one batch of sends and receives, which NCCL executes as one group.
torch is an optional dependency, loaded only when a process joins the others.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from forestcoll.runtimes.execution.rank_plan import RankPlan
from forestcoll.runtimes.execution.transport import Transport, Values

__all__ = ["OverTorch", "joined"]


def joined(meeting: str) -> Transport:
    """Join the other processes, by a file, or as torchrun says if it has started them."""
    return OverTorch("env://" if "MASTER_ADDR" in os.environ else f"file://{meeting}")


class OverTorch:
    """One process of the default group; arrays are tensors, of a GPU if there is one for each."""

    def __init__(self, meeting: str) -> None:
        import torch

        self._torch, self._dist = torch, torch.distributed
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        here = int(os.environ.get("LOCAL_WORLD_SIZE", self.size))
        on_gpus = torch.cuda.device_count() >= here and self._dist.is_nccl_available()
        backend, kind = ("nccl", "cuda") if on_gpus else ("gloo", "cpu")
        self._device = torch.device(kind, int(os.environ.get("LOCAL_RANK", self.rank)) * on_gpus)
        if on_gpus:
            torch.cuda.set_device(self._device)
        self.library = f"torch {torch.__version__} ({backend})"
        self._dist.init_process_group(
            backend, init_method=meeting, rank=self.rank, world_size=self.size
        )
        torch.set_num_threads(1)

    def array(self, values: Values) -> Any:
        """Copy values to this rank's device."""
        return self._torch.from_numpy(values).to(self._device)

    def values(self, array: Any) -> Values:
        """Copy a tensor to the host."""
        values: Values = array.cpu().numpy()
        return values

    def exchange(
        self, receives: Sequence[tuple[int, Any]], sends: Sequence[tuple[int, Any]]
    ) -> None:
        """Send and receive as one batch."""
        batch = [self._dist.P2POp(self._dist.irecv, array, peer) for peer, array in receives]
        batch += [self._dist.P2POp(self._dist.isend, array, peer) for peer, array in sends]
        for work in self._dist.batch_isend_irecv(batch) if batch else ():
            work.wait()
        self._synchronize()

    def barrier(self) -> None:
        """Wait for all others."""
        self._dist.barrier()
        self._synchronize()

    def collective(self, plan: RankPlan, given: Any) -> Any:
        """Call torch's own collective for comparison."""
        made = self._torch.zeros(plan.due[self.rank], dtype=given.dtype, device=self._device)
        match plan.collective:
            case "allgather":
                made = self._gathered(given, plan.given)
            case "reduce-scatter":
                made = self._scattered(given, plan.due)
            case "allreduce":
                made[:] = given
                self._dist.all_reduce(made)
            case "broadcast":
                made[: len(given)] = given
                self._dist.broadcast(made, src=plan.root)
            case "reduce":
                total = given.clone()
                self._dist.reduce(total, dst=plan.root)
                made = total[: len(made)]
            case _:
                self._dist.all_to_all_single(made, given, list(plan.received), list(plan.sent))
        self._synchronize()
        return made

    def abort(self) -> None:
        """End this process immediately; its launcher ends the others."""
        os._exit(1)

    def close(self) -> None:
        """Leave the group."""
        self._dist.destroy_process_group()

    def _gathered(self, given: Any, lengths: tuple[int, ...]) -> Any:
        """Gather parts of different sizes, padded to equal size."""
        most = max(lengths)
        padded = self._torch.zeros(most, dtype=given.dtype, device=self._device)
        padded[: len(given)] = given
        parts = [self._torch.zeros_like(padded) for _ in lengths]
        self._dist.all_gather(parts, padded)
        return self._torch.cat([part[:length] for part, length in zip(parts, lengths, strict=True)])

    def _scattered(self, given: Any, lengths: tuple[int, ...]) -> Any:
        """Scatter sums of parts of different sizes, padded to equal size."""
        made = self._torch.zeros(max(lengths), dtype=given.dtype, device=self._device)
        parts = []
        for part in self._torch.split(given, list(lengths)):
            padded = self._torch.zeros_like(made)
            padded[: len(part)] = part
            parts.append(padded)
        self._dist.reduce_scatter(made, parts)
        return made[: lengths[self.rank]]

    def _synchronize(self) -> None:
        if self._device.type == "cuda":
            self._torch.cuda.synchronize(self._device)
