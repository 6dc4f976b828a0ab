"""Simulations as their definition says, in exact fractions, transfer by transfer: for small ones.

Nothing is shared with the simulator: no classes, no lanes, no ticks. Rates are found by filling all
transfers evenly until a link is full, at every moment at which anything changes.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from forestcoll.schedule.program import Program
from forestcoll.topology import Topology

_Resource = tuple[object, ...]


@dataclass(frozen=True)
class Job:
    """A transfer: bytes, what it flows over with bytes a second, latency, what it waits for."""

    size: Fraction
    links: tuple[_Resource, ...]
    adder: _Resource | None
    latency: Fraction
    senders: int
    needs: tuple[int, ...]
    step: int
    together: tuple[int, ...]


def jobs_of(
    program: Program, size_bytes: int, alpha_us: Fraction, gamma_s_per_gb: Fraction
) -> tuple[list[Job], dict[_Resource, Fraction]]:
    """Return the transfers of a program, and the rates of links and adders."""
    topology = program.topology
    rates: dict[_Resource, Fraction] = {
        (link.tail, link.head): link.bandwidth_gb_s * 10**9 for link in topology.links
    }
    rates |= {("shared", one.name): one.bandwidth_gb_s * 10**9 for one in topology.shared}
    jobs = []
    messages = program.message.tolist()
    for t in range(program.num_transfers):
        nodes = program.paths.nodes(int(program.path[t]))
        links = list(pairwise(nodes))
        senders = sum(not topology.nodes[node].is_switch for node in nodes[:-1])
        latency = senders * alpha_us + sum(topology.link_between[link].latency_us for link in links)
        adder = None
        if gamma_s_per_gb and program.reduce[t] and program.head[t] < topology.num_compute:
            adder = ("adder", int(program.head[t]))
            rates[adder] = 10**9 / gamma_s_per_gb
        same = [u for u, message in enumerate(messages) if message == messages[t] != -1]
        jobs.append(
            Job(
                size=program.size(t) * size_bytes,
                links=(*links, *_groups(topology, links)),
                adder=adder,
                latency=Fraction(latency) / 10**6,
                senders=senders,
                needs=tuple(program.dependencies(t).tolist()),
                step=int(program.step[t]),
                together=tuple(same or [t]),
            )
        )
    return jobs, rates


def _groups(topology: Topology, links: list[tuple[int, int]]) -> list[_Resource]:
    """The shared capacities that the links of a path load, once for each link."""
    return [("shared", one.name) for one in topology.shared for link in links if link in one.links]


@dataclass(frozen=True)
class Costs:
    """A window, seconds of every pipeline chunk and of the first one, by hop; priorities."""

    window: int = 1
    chunk: Fraction = Fraction(0)
    message: Fraction = Fraction(0)
    priorities: bool = False


_Key = tuple[int, bool, int]
"""A job, whether it is adding, and its pipeline chunk."""


class _Run:
    def __init__(
        self,
        jobs: list[Job],
        rates: dict[_Resource, Fraction],
        pipeline_chunks: int,
        lockstep: bool,
        costs: Costs,
    ) -> None:
        self.jobs, self.rates, self.costs = jobs, rates, costs
        self.pipeline_chunks, self.lockstep = pipeline_chunks, lockstep
        self.done = [0] * len(jobs)  # pipeline chunks that have arrived
        self.begun = [0] * len(jobs)
        self.sent = [0] * len(jobs)  # pipeline chunks that have left their sender, or are leaving
        self.now = Fraction(0)
        self.waiting: dict[
            tuple[int, int], Fraction
        ] = {}  # (job, chunk): until its latency is over
        self.ready: set[tuple[int, int]] = set()  # those after it
        self.paying: dict[int, Fraction] = {}  # until the cost of a job's chunk is paid
        self.left: dict[_Key, Fraction] = {}  # bytes
        self.behind = [1] * len(jobs)  # transfers in the longest chain from each one on
        for j in reversed(range(len(jobs))):
            for need in jobs[j].needs:
                self.behind[need] = max(self.behind[need], self.behind[j] + 1)

    def may_start(self, job: int) -> bool:
        pipeline_chunk = self.begun[job]
        if pipeline_chunk == self.pipeline_chunks:
            return False
        if self.done[job] <= pipeline_chunk - self.costs.window:
            return False
        if self.lockstep:
            before = self.jobs[job].step + pipeline_chunk
            if any(self.done[j] < min(self.pipeline_chunks, before - one.step)
                   for j, one in enumerate(self.jobs)):  # fmt: skip
                return False
        return all(self.done[need] > pipeline_chunk for need in self.jobs[job].needs)

    def start(self) -> None:
        while ready := [j for j in range(len(self.jobs)) if self.may_start(j)]:
            together = [j for j in ready if all(one in ready for one in self.jobs[j].together)]
            if not together:
                return
            for job in together:
                self.waiting[job, self.begun[job]] = self.now + self.jobs[job].latency
                self.begun[job] += 1

    def flow(self) -> None:
        for key in [key for key, until in self.waiting.items() if until == self.now]:
            del self.waiting[key]
            self.ready.add(key)
        flowing = {job for job, adding, _ in self.left if not adding}
        for job, chunk in sorted(self.ready):
            if chunk == self.sent[job] and job not in flowing and job not in self.paying:
                self.ready.remove((job, chunk))
                cost = self.costs.chunk + (self.costs.message if chunk == 0 else 0)
                self.paying[job] = self.now + cost * self.jobs[job].senders
                self.sent[job] += 1
        for job in [job for job, until in self.paying.items() if until == self.now]:
            del self.paying[job]
            size = self.jobs[job].size / self.pipeline_chunks
            self.left[job, False, self.sent[job] - 1] = size

    def end(self) -> None:
        for job, adding, chunk in [key for key, left in self.left.items() if left == 0]:
            del self.left[job, adding, chunk]
            if not adding and self.jobs[job].adder is not None:
                self.left[job, True, chunk] = self.jobs[job].size / self.pipeline_chunks
            else:
                self.done[job] += 1

    def over(self, key: _Key) -> tuple[_Resource, ...]:
        job, adding, _ = key
        adder = self.jobs[job].adder
        return (adder,) if adding and adder is not None else self.jobs[job].links

    def rank(self, key: _Key) -> int:
        return 2 * self.behind[key[0]] - 3 * key[2] if self.costs.priorities else 0

    def speeds(self) -> dict[_Key, Fraction]:
        """Bytes a second of everything that flows: max-min fair, in proportion to sizes."""
        free, found = dict(self.rates), dict[_Key, Fraction]()
        for rank in sorted({self.rank(key) for key in self.left}, reverse=True):
            self.fill({key for key in self.left if self.rank(key) == rank}, free, found)
        return found

    def fill(
        self, open_: set[_Key], free: dict[_Resource, Fraction], found: dict[_Key, Fraction]
    ) -> None:
        while open_:
            weight: dict[_Resource, Fraction] = {}
            for key in open_:
                for link in self.over(key):
                    weight[link] = weight.get(link, Fraction(0)) + self.jobs[key[0]].size
            level = min(free[link] / weight[link] for link in weight)
            full = {link for link in weight if free[link] / weight[link] == level}
            for key in [key for key in open_ if full & set(self.over(key))]:
                open_.remove(key)
                found[key] = level * self.jobs[key[0]].size
                for link in self.over(key):
                    free[link] -= found[key]

    def finish(self) -> Fraction:
        while True:
            self.start()
            self.flow()
            if not self.waiting and not self.left and not self.paying:
                assert self.done == [self.pipeline_chunks] * len(self.jobs), "a circle of needs"
                return self.now
            speeds = self.speeds()
            untils = [*self.waiting.values(), *self.paying.values()]
            moments = [until - self.now for until in untils]
            moments += [left / speeds[key] for key, left in self.left.items() if speeds[key]]
            passed = min(moments)
            self.now += passed
            self.left = {key: left - passed * speeds[key] for key, left in self.left.items()}
            self.end()


def fair_finish_s(
    program: Program,
    size_bytes: int,
    *,
    alpha_us: Fraction = Fraction(10),
    gamma_s_per_gb: Fraction = Fraction(0),
    pipeline_chunks: int = 1,
    lockstep: bool = False,
    costs: Costs | None = None,
) -> Fraction:
    """Return the exact seconds that a program takes."""
    jobs, rates = jobs_of(program, size_bytes, alpha_us, gamma_s_per_gb)
    return _Run(jobs, rates, pipeline_chunks, lockstep, costs or Costs()).finish()
