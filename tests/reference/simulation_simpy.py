"""Simulations by simpy, a library of events, in floating point: a process for each transfer.

Links are stores of one token that transfers take in turn, or servers that all of theirs share.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import simpy

from tests.reference.simulation import Job

__all__ = ["first_come_s", "shared_links_s"]

_Events = Generator[simpy.Event, Any, None]
_Rates = dict[Any, Any]


def first_come_s(jobs: list[Job], rates: _Rates, pieces: int) -> float:
    """Return the seconds where a link carries one piece after the other; of ways of one link."""
    env = simpy.Environment()
    links = {link: simpy.Resource(env) for job in jobs for link in job.links}

    def carry(job: Job) -> _Events:
        (link,) = job.links
        with links[link].request() as turn:
            yield turn
            yield env.timeout(float(job.size / pieces / rates[link]))

    return _finish(env, jobs, pieces, carry)


class _Shared:
    """A link that gives every piece on it a share in proportion to its size."""

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


def shared_links_s(jobs: list[Job], rates: _Rates, pieces: int) -> float:
    """Return the seconds where transfers share their link; of ways of one link."""
    env = simpy.Environment()
    links = {link: _Shared(env, float(rates[link])) for job in jobs for link in job.links}

    def carry(job: Job) -> _Events:
        (link,) = job.links
        yield links[link].put(float(job.size / pieces))

    return _finish(env, jobs, pieces, carry)


def _finish(
    env: simpy.Environment, jobs: list[Job], pieces: int, carry: Callable[[Job], _Events]
) -> float:
    arrived = [[env.event() for _ in range(pieces)] for _ in jobs]
    last = [0.0]

    def transfer(number: int, job: Job) -> _Events:
        for piece in range(pieces):
            yield simpy.AllOf(env, [arrived[need][piece] for need in job.needs])
            yield env.timeout(float(job.latency))
            yield from carry(job)
            arrived[number][piece].succeed()
            last[0] = max(last[0], env.now)

    for number, job in enumerate(jobs):
        env.process(transfer(number, job))
    env.run()
    assert all(event.triggered for row in arrived for event in row)
    return last[0]
