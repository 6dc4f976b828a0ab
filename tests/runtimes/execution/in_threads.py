"""A transport whose processes are threads, for plans without any library."""

from collections.abc import Sequence
from queue import SimpleQueue
from threading import Thread

import numpy as np

from forestcoll.runtimes.execution.one_rank import Process
from forestcoll.runtimes.execution.rank_plan import RankPlan
from forestcoll.runtimes.execution.transport import Values

_PATIENCE_S = 20


class InThreads:
    """One of the ranks. Every pair has a queue, and messages are checked for their length."""

    def __init__(self, rank: int, queues: dict[tuple[int, int], SimpleQueue[Values]]) -> None:
        self.rank, self._queues = rank, queues
        self.size = max(pair[0] for pair in queues) + 1
        self.library = "threads"

    def array(self, values: Values) -> Values:
        return values

    def values(self, array: Values) -> Values:
        return array

    def exchange(
        self, receives: Sequence[tuple[int, Values]], sends: Sequence[tuple[int, Values]]
    ) -> None:
        for peer, array in sends:
            self._queues[self.rank, peer].put(array.copy())
        for peer, array in receives:
            came = self._queues[peer, self.rank].get(timeout=_PATIENCE_S)
            assert len(came) == len(array)
            array[:] = came

    def barrier(self) -> None:
        raise AssertionError("nobody waits here")

    def collective(self, plan: RankPlan, given: Values) -> Values:
        raise AssertionError("threads have no library")

    def abort(self) -> None:
        raise AssertionError("nobody ends here")

    def close(self) -> None:
        raise AssertionError("nobody parts here")


def carried_out(plans: Sequence[RankPlan], given: Sequence[Values]) -> list[Values]:
    """What every rank has at last; an error of a rank is raised here."""
    ranks = range(len(plans))
    queues = {(a, b): SimpleQueue[Values]() for a in ranks for b in ranks}
    found: list[Values | Exception] = [np.zeros(0)] * len(plans)

    def act(rank: int) -> None:
        try:
            process = Process(plans[rank], InThreads(rank, queues), str(given[rank].dtype))
            found[rank] = process.carry_out(given[rank])
        except Exception as error:
            found[rank] = error

    threads = [Thread(target=act, args=(rank,)) for rank in ranks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results = []
    for one in found:
        if isinstance(one, Exception):
            raise one
        results.append(one)
    return results


def due(plans: Sequence[RankPlan], given: Sequence[Values]) -> list[Values]:
    """What the collective is to give to every rank, by its definition."""
    match plans[0].collective:
        case "allgather":
            return [np.concatenate(given)] * len(plans)
        case "broadcast":
            return [given[plans[0].root]] * len(plans)
        case "all-to-all":
            parts = [np.split(g, np.cumsum(p.sent)[:-1]) for p, g in zip(plans, given, strict=True)]
            return [np.concatenate(mine) for mine in zip(*parts, strict=True)]
        case "allreduce":
            return [sum(given)] * len(plans)
        case _:  # what a rank has of the sum: one part each, or all of it at the root
            return np.split(sum(given), np.cumsum(plans[0].due)[:-1])


def random_given(plans: Sequence[RankPlan], seed: int = 0) -> list[Values]:
    random = np.random.default_rng(seed)
    return [random.integers(1, 2**40, plan.given[plan.rank]) for plan in plans]
