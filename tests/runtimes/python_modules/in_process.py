"""Written modules, run by threads of this process; and what collectives give, by their names."""

from collections.abc import Sequence
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

_PATIENCE_S = 10


class InProcess:
    """One rank, with a queue for each pair; a group sends all, then receives all."""

    def __init__(self, rank: int, queues: dict[tuple[int, int], SimpleQueue[Any]]) -> None:
        self.rank, self._queues = rank, queues

    def empty(self, given: Any, length: int) -> Any:
        return np.full(length, -7, dtype=given.dtype)

    def exchange(
        self, sends: Sequence[tuple[int, Any]], receives: Sequence[tuple[int, Any]]
    ) -> None:
        for peer, array in sends:
            self._queues[self.rank, peer].put(array.copy())
        for peer, array in receives:
            came = self._queues[peer, self.rank].get(timeout=_PATIENCE_S)
            assert len(came) == len(array)
            array[:] = came


def executed(text: str) -> dict[str, Any]:
    """The names of a written module."""
    names: dict[str, Any] = {"__name__": "written"}
    exec(compile(text, "written", "exec"), names)
    return names


def run_in_threads(module: dict[str, Any], given: Sequence[Any]) -> list[Any]:
    """What every rank gets from ``run``; an error of a rank is raised here."""
    ranks = range(len(given))
    queues = {(a, b): SimpleQueue[Any]() for a in ranks for b in ranks}
    found: list[Any] = [None] * len(given)

    def act(rank: int) -> None:
        try:
            found[rank] = module["run"](given[rank], InProcess(rank, queues))
        except Exception as error:
            found[rank] = error

    threads = [Thread(target=act, args=(rank,)) for rank in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        if isinstance(one, Exception):
            raise one
    return found


def due(collective: str, given: Sequence[Any], root: int) -> list[Any]:
    """What every rank is to get."""
    ranks = len(given)
    total = np.add.reduce(given)
    match collective:
        case "allgather":
            return [np.concatenate(given)] * ranks
        case "reduce-scatter":
            return np.split(total, ranks)
        case "allreduce":
            return [total] * ranks
        case "broadcast":
            return [given[root]] * ranks
        case "reduce":
            return [total if rank == root else total[:0] for rank in range(ranks)]
        case _:
            slots = [np.split(one, ranks) for one in given]
            return [np.concatenate([slots[a][b] for a in range(ranks)]) for b in range(ranks)]


def random_given(ranks: int, length: int, seed: int = 0) -> list[Any]:
    random = np.random.default_rng(seed)
    return list(random.integers(-(2**40), 2**40, (ranks, length)))
