"""Executor on an existing Dask cluster: started by hand, on Slurm, or in a cloud.

Every Dask worker runs a point as this machine would, in a supervised process of its own. If a
worker is lost, the scheduler gives its unfinished points to another. Rows that it has already sent
stay valid, and each point has exactly one row.
"""

from __future__ import annotations

import functools
import queue
import select
import uuid
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from distributed import Client, Future, KilledWorker, Reschedule, Status, Worker, get_worker

from experiments.config.points import Point
from experiments.config.points import Status as Ending
from experiments.results.rows import Row
from experiments.run.executors import OnStage
from experiments.run.supervisor import Running
from forestcoll.errors import ForestCollError

__all__ = ["DaskExecutor"]

CONNECT_S = 10.0
LOOK_S = 0.5
"""Seconds between two checks whether a point is still wanted."""


@dataclass(frozen=True, slots=True)
class DaskExecutor:
    """Sends points to a cluster."""

    scheduler: str  # its address, such as "tcp://head:8786"

    def run(self, points: Iterable[Point], on_stage: OnStage) -> Generator[Row]:
        """Submit all points at once; see :class:`experiments.run.executors.Executor`."""
        points = list(points)
        topic = f"forestcoll-{uuid.uuid4().hex}"
        news: queue.SimpleQueue[tuple[int, str | Future[Row]]] = queue.SimpleQueue()
        with self._connect() as client:
            client.subscribe_topic(topic, lambda event: news.put(event[1]))
            keys = [(topic, number) for number in range(len(points))]
            run = functools.partial(_run_here, topic)
            futures = client.map(run, points, range(len(points)), key=keys, pure=False)
            for number, future in enumerate(futures):
                future.add_done_callback(lambda done, number=number: news.put((number, done)))
            left = len(points)
            while left:
                number, heard = news.get()
                if isinstance(heard, str):
                    on_stage(points[number], heard)
                else:
                    left -= 1
                    yield self._row(points[number], heard)

    def _connect(self) -> Client:
        try:
            return Client(self.scheduler, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ForestCollError(
                f"no Dask scheduler answers at {self.scheduler}: {error}"
            ) from error

    def _row(self, point: Point, future: Future[Row]) -> Row:
        if future.status == "finished":
            row: Row = future.result()
            return row
        if future.status != "error":
            raise ForestCollError(
                f"lost the Dask scheduler at {self.scheduler}; finished rows are kept: run again"
            )
        error = future.exception()
        if isinstance(error, KilledWorker):
            workers = error.allowed_failures + 1
            reason = f"{workers} Dask workers were lost, one after another, that had this point"
            now = datetime.now(UTC).isoformat(timespec="seconds")
            ending = {"status": Ending.FAILED, "reason": reason, "killed": True, "time": now}
            return Row.of(point, ending)
        raise ForestCollError(
            f"a Dask worker cannot run {point.series} on {point.topology}: "
            f"{type(error).__name__}: {error}; its Python needs this version of forestcoll"
        )


def _run_here(topic: str, point: Point, number: int) -> Row:
    """Run a point on a Dask worker until it ends or is no longer wanted."""
    worker = get_worker()

    def tell(stage: str) -> None:
        worker.log_event(topic, [number, stage])

    tell("starting")
    with Running(point) as running:
        while _is_wanted(worker, (topic, number)):
            if select.select([running], [], [], LOOK_S)[0]:
                row = running.listen(tell)
                if row is not None:
                    return row
    raise Reschedule  # without effect, unless the worker is being shut down


def _is_wanted(worker: Worker, key: tuple[str, int]) -> bool:
    task = worker.state.tasks.get(key)
    working = worker.status in (Status.running, Status.paused, Status.closing_gracefully)
    return working and task is not None and task.state == "executing"
