"""MPI transport (mpi4py), for processes that its launcher has started.

mpi4py is loaded only when a process joins the others, because its import initialises MPI.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from forestcoll.runtimes.execution.rank_plan import RankPlan
from forestcoll.runtimes.execution.transport import Transport, Values

__all__ = ["OverMpi", "joined"]


def joined(meeting: str) -> Transport:
    """Join the processes that the launcher has started; the file is not needed."""
    return OverMpi()


class OverMpi:
    """One process of ``MPI_COMM_WORLD``; arrays are numpy's."""

    def __init__(self) -> None:
        from mpi4py import MPI

        self._world = MPI.COMM_WORLD
        self._wait_for_all = MPI.Request.Waitall
        self.rank: int = self._world.rank
        self.size: int = self._world.size
        name, version = MPI.get_vendor()
        self.library = f"{name} {'.'.join(map(str, version))}"

    def array(self, values: Values) -> Values:
        """Return the values themselves."""
        return values

    def values(self, array: Values) -> Values:
        """Return the array itself."""
        return array

    def exchange(
        self, receives: Sequence[tuple[int, Values]], sends: Sequence[tuple[int, Values]]
    ) -> None:
        """Post all receives and sends, then wait for all; MPI keeps the order of each pair."""
        posted = [self._world.Irecv(array, source=peer) for peer, array in receives]
        posted += [self._world.Isend(array, dest=peer) for peer, array in sends]
        self._wait_for_all(posted)

    def barrier(self) -> None:
        """Wait for all others."""
        self._world.Barrier()

    def collective(self, plan: RankPlan, given: Values) -> Values:
        """Call MPI's own collective for comparison."""
        made = np.zeros(plan.due[self.rank], dtype=given.dtype)
        world = self._world
        match plan.collective:
            case "allgather" if len(set(plan.given)) == 1:
                world.Allgather(given, made)
            case "allgather":
                world.Allgatherv(given, [made, list(plan.given)])
            case "reduce-scatter":
                world.Reduce_scatter(given, made, recvcounts=plan.due)
            case "allreduce":
                world.Allreduce(given, made)
            case "broadcast":
                made[: len(given)] = given
                world.Bcast(made, root=plan.root)
            case "reduce":
                world.Reduce(given, made if self.rank == plan.root else None, root=plan.root)
            case _:
                world.Alltoallv([given, list(plan.sent)], [made, list(plan.received)])
        return made

    def abort(self) -> None:
        """End all processes."""
        self._world.Abort(1)

    def close(self) -> None:
        """Do nothing: MPI ends when Python does."""
