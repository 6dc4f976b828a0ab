"""A stand-in of nccl4py whose ranks are threads, with the semantics of NCCL's user guide.

What is put between two ranks arrives in order, each with its signal, but at any time. A wait takes
so many signals of a peer. Windows are registered by all ranks together. Arrays are numpy's.
"""

import random
import sys
from collections import Counter, deque
from collections.abc import Sequence
from threading import Barrier, Condition, Thread
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

_PATIENCE_S = 10


class Tensor(np.ndarray):
    """An array that makes arrays like itself, as torch's do."""

    def new_empty(self, length: int) -> "Tensor":
        return tensor(np.full(length, -7, dtype=self.dtype))


def tensor(array: Any) -> Tensor:
    return np.asarray(array).view(Tensor)


class WaitSignalDesc(NamedTuple):
    peer: int
    op_count: int = 1


class Fabric:
    """The memory and the signals of all ranks, and what is on its way between them."""

    def __init__(self, ranks: int, seed: int) -> None:
        self.ranks, self.chance = ranks, random.Random(seed)
        self.windows: list[dict[int, Any]] = [{} for _ in range(ranks)]
        self.signals = Counter[tuple[int, int]]()
        self.moving: dict[tuple[int, int], deque[Any]] = {}
        self.changed, self.together = Condition(), Barrier(ranks)
        self.over = False

    def send(self, sender: int, receiver: int, *message: Any) -> None:
        with self.changed:
            self.moving.setdefault((sender, receiver), deque()).append(message)
            self.changed.notify_all()

    def deliver(self) -> None:
        """Let one message after another arrive, from any pair of ranks."""
        while True:
            with self.changed:
                ready = [pair for pair, row in self.moving.items() if row]
                if not ready:
                    if self.over:
                        return
                    self.changed.wait(0.1)
                    continue
                pair = self.chance.choice(ready)
                message = self.moving[pair].popleft()
                if message:
                    window, place, content = message
                    self.windows[pair[1]][window][place : place + len(content)] = content
                self.signals[pair] += 1
                self.changed.notify_all()


class Communicator:
    """One rank's ``nccl.core.Communicator``."""

    def __init__(self, fabric: Fabric, rank: int) -> None:
        self.fabric, self.rank, self.registered = fabric, rank, 0

    def register_window(self, buffer: Any, flags: Any) -> Any:
        assert flags == "symmetric"
        self.fabric.together.wait(_PATIENCE_S)
        number = self.registered
        self.registered += 1
        self.fabric.windows[self.rank][number] = buffer
        self.fabric.together.wait(_PATIENCE_S)
        lengths = {len(one[number]) for one in self.fabric.windows}
        assert len(lengths) == 1
        return SimpleNamespace(number=number, close=lambda: None)

    def put_signal(
        self,
        local_buffer: Any,
        peer: int,
        peer_window: Any,
        peer_window_offset: int,
        *,
        stream: int,
    ) -> None:
        own = self.fabric.windows[self.rank][peer_window.number]
        assert np.shares_memory(own, local_buffer)
        assert stream == 77
        content = local_buffer.copy()
        self.fabric.send(self.rank, peer, peer_window.number, peer_window_offset, content)

    def signal(self, peer: int, *, stream: int) -> None:
        assert stream == 77
        self.fabric.send(self.rank, peer)

    def wait_signal(self, descs: Sequence[WaitSignalDesc], *, stream: int) -> None:
        assert stream == 77
        fabric = self.fabric
        with fabric.changed:
            for peer, many in descs:
                pair = peer, self.rank
                came = fabric.changed.wait_for(lambda p=pair, m=many: fabric.signals[p] >= m, 2)
                if not came:
                    raise TimeoutError(f"rank {self.rank} waits for rank {peer}")
                fabric.signals[pair] -= many


def stand_in() -> Any:
    """Put the stand-in in the place of nccl.core and torch."""
    core, package, torch = ModuleType("nccl.core"), ModuleType("nccl"), ModuleType("torch")
    names = {
        "group_start": lambda: None,
        "group_end": lambda: None,
        "WaitSignalDesc": WaitSignalDesc,
        "WindowFlag": SimpleNamespace(COLL_SYMMETRIC="symmetric"),
        "torch": SimpleNamespace(
            empty=lambda length, dtype, device: tensor(np.full(length, -9, dtype=dtype))
        ),
    }
    vars(core).update(names)
    package.core = core  # type: ignore[attr-defined]
    stream = SimpleNamespace(cuda_stream=77)
    torch.cuda = SimpleNamespace(current_stream=lambda: stream)  # type: ignore[attr-defined]
    return patch.dict(sys.modules, {"nccl": package, "nccl.core": core, "torch": torch})


def run_with_signals(
    module: dict[str, Any], calls: Sequence[Sequence[Any]], seed: int = 0
) -> list[list[Any]]:
    """The results of each call at each rank, one call after another in the same processes.

    An error of a rank is raised here.
    """
    ranks = len(calls[0])
    fabric = Fabric(ranks, seed)
    found: list[Any] = [None] * ranks

    def act(rank: int) -> None:
        try:
            communicator = module["NcclPutCommunicator"](Communicator(fabric, rank))
            found[rank] = [module["run"](tensor(given[rank]), communicator) for given in calls]
        except Exception as error:
            found[rank] = error
            fabric.together.abort()

    with stand_in():
        proxy = Thread(target=fabric.deliver)
        proxy.start()
        threads = [Thread(target=act, args=(rank,)) for rank in range(ranks)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with fabric.changed:
            fabric.over = True
            fabric.changed.notify_all()
        proxy.join()
    for one in found:
        if isinstance(one, Exception):
            raise one
    return [[found[rank][call] for rank in range(ranks)] for call in range(len(calls))]
