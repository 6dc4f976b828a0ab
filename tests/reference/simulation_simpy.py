"""Simulations by simpy, a library of events, in floating point: a process for each transfer.

Links are stores of one token that transfers take in turn, or servers that all of theirs share.
"""

from collections.abc import Callable, Generator
from typing import Any

import simpy

from tests.reference.simulation import Job

_Events = Generator[simpy.Event, Any, None]
_Rates = dict[Any, Any]


def first_come_s(jobs: list[Job], rates: _Rates, pipeline_chunks: int) -> float:
    """Return the seconds if each link carries one pipeline chunk at a time; paths have one link."""
    env = simpy.Environment()
    links = {link: simpy.Resource(env) for job in jobs for link in job.links}

    def carry(job: Job) -> _Events:
        (link,) = job.links
        with links[link].request() as turn:
            yield turn
            yield env.timeout(float(job.size / pipeline_chunks / rates[link]))

    return _finish(env, jobs, pipeline_chunks, carry)


class _Shared:
    """A link that gives every pipeline chunk on it a share in proportion to its size."""

    def __init__(self, env: simpy.Environment, rate: float) -> None:
        self.env, self.rate = env, rate
        self.left: dict[simpy.Event, list[float]] = {}  # bytes left, weight
        self.since = 0.0
        self.changed = env.event()
        env.process(self.serve())

    def put(self, size: float) -> simpy.Event:
        self.catch_up()
        arrived = self.env.event()
        self.left[arrived] = [size, size]
        self.wake()
        return arrived

    def wake(self) -> None:
        self.changed.succeed()
        self.changed = self.env.event()

    def catch_up(self) -> None:
        passed, self.since = self.env.now - self.since, self.env.now
        total = sum(weight for _, weight in self.left.values())
        for entry in self.left.values():
            entry[0] -= passed * self.rate * entry[1] / total

    def serve(self) -> _Events:
        while True:
            self.catch_up()
            for event in [e for e, (left, size) in self.left.items() if left <= 1e-9 * size]:
                del self.left[event]
                event.succeed()
            if not self.left:
                yield self.changed
                continue
            total = sum(weight for _, weight in self.left.values())
            first = min(left / weight for left, weight in self.left.values()) * total / self.rate
            yield simpy.AnyOf(self.env, [self.env.timeout(first), self.changed])


def shared_links_s(jobs: list[Job], rates: _Rates, pipeline_chunks: int) -> float:
    """Return the seconds where transfers share their link; of ways of one link."""
    env = simpy.Environment()
    links = {link: _Shared(env, float(rates[link])) for job in jobs for link in job.links}

    def carry(job: Job) -> _Events:
        (link,) = job.links
        yield links[link].put(float(job.size / pipeline_chunks))

    return _finish(env, jobs, pipeline_chunks, carry)


def _finish(
    env: simpy.Environment, jobs: list[Job], pipeline_chunks: int, carry: Callable[[Job], _Events]
) -> float:
    arrived = [[env.event() for _ in range(pipeline_chunks)] for _ in jobs]
    last = [0.0]

    def transfer(number: int, job: Job) -> _Events:
        for pipeline_chunk in range(pipeline_chunks):
            yield simpy.AllOf(env, [arrived[need][pipeline_chunk] for need in job.needs])
            yield env.timeout(float(job.latency))
            yield from carry(job)
            arrived[number][pipeline_chunk].succeed()
            last[0] = max(last[0], env.now)

    for number, job in enumerate(jobs):
        env.process(transfer(number, job))
    env.run()
    assert all(event.triggered for row in arrived for event in row)
    return last[0]
